"""Questions in place: one conversation in a session that no chat shows."""

from pathlib import Path

import anyio
import pytest
from msgspec.structs import replace
from tests.session.rig import FakeAgent, Rig
from tests.session.test_rewrites import DONE, said, until

from eca_nvim.agents.base import AgentExit
from eca_nvim.chat.text.rewritten import MOST_ANSWER
from eca_nvim.chat.vocabulary import events, intents, ops
from eca_nvim.chat.vocabulary.call_details import Location, ToolCall, ToolKind
from eca_nvim.chat.vocabulary.events import ChatEvent
from eca_nvim.chat.vocabulary.previews import (
    AskInPlace,
    ContinueInChat,
    ShowAnswer,
    ShowChangedMeanwhile,
    StopAnswer,
)
from eca_nvim.chat.vocabulary.states import TurnEnd
from eca_nvim.chat.vocabulary.turn_events import TurnEnded
from eca_nvim.session.previews.questions import LONG, STOPPED, prompt_of
from eca_nvim.session.previews.rewrites import EMPTY

pytestmark = pytest.mark.anyio

ASKED = AskInPlace("aside-1", "why?", "/ws/mod.lua", ("return x",), 2, "lua", ("-- above",))
CALL = ToolCall("c", kind=ToolKind.READ, locations=(Location("/ws/a.lua"),))


def shown(rig: Rig, place: str = "aside-1") -> tuple[str, str, str]:
    """Return the last state of an answer, all its text, and why it failed."""
    found = [it for it in rig.view.of(ShowAnswer) if it.id == place]
    text = "".join(it.text for it in found)
    return (found[-1].state.value, text, found[-1].fault) if found else ("", "", "")


async def end(rig: Rig, place: str = "aside-1") -> tuple[str, str, str]:
    """Wait until an answer is over."""
    await rig.view.until(lambda: shown(rig, place)[0] in ("ready", "failed"))
    return shown(rig, place)


async def begin(rig: Rig, wanted: AskInPlace = ASKED) -> FakeAgent:
    """Ask, and wait until the agent has the prompt."""
    count = len([it for it in rig.agents for _ in it.prompts])
    rig.do(wanted)
    if not rig.agents or rig.agent.has_ended:
        (await rig.starting(len(rig.agents) + 1)).ready()
    await until(lambda: len([it for it in rig.agents for _ in it.prompts]) > count)
    return rig.agent


def nothing_is_shown(rig: Rig) -> bool:
    """Return whether no chat came of a question."""
    return not [it for it in rig.view.ops if isinstance(it, ops.OpenBlock | ops.Emit)]


async def test_an_answer_streams_and_a_question_below_it_keeps_the_thread(rig: Rig) -> None:
    agent = await begin(rig, replace(ASKED, modified=True))
    text = agent.prompts[0].text
    for part in ("line 2 of /ws/mod.lua: why?", "return x", "-- above", "unsaved changes"):
        assert part in text
    agent.say("aside-1", said("I look."), events.ToolPreparing(CALL))
    await rig.view.until(lambda: rig.view.of(ShowAnswer)[-1:] and rig.view.of(ShowAnswer)[-1].doing)
    agent.say("aside-1", said("It\x1b[3"), said("1m is"))
    await rig.view.until(lambda: "is" in shown(rig)[1])
    agent.say("aside-1", said(" x."), DONE)
    assert await end(rig) == ("ready", "I look.\n\nIt is x.", "")
    agent.say("aside-1", said("late"), DONE)
    rig.view.ops.clear()
    await begin(
        rig, AskInPlace("aside-1", "and y?", contexts=({"type": "web", "url": "https://x.org"},))
    )
    assert agent.prompts[1].text == "and y?"
    assert len(agent.prompts[1].contexts) == 1
    agent.say("aside-1", said("y"), DONE)
    assert await end(rig) == ("ready", "y", "")
    assert agent.chats == [("open", "aside-1")]
    rig.do(StopAnswer("aside-1", closes=True))
    await until(lambda: ("forget", "aside-1") in agent.chats)
    assert nothing_is_shown(rig)


@pytest.mark.parametrize(
    ("told", "text", "fault"),
    [
        ([DONE], "", EMPTY),
        ([said(" \n"), DONE], " \n", EMPTY),
        ([said("half"), TurnEnded(TurnEnd.FAILED, "no\nkey")], "half", "no key"),
    ],
)
async def test_a_failure_says_why(rig: Rig, told: list[ChatEvent], text: str, fault: str) -> None:
    agent = await begin(rig)
    agent.say("aside-1", *told)
    assert await end(rig) == ("failed", text, fault)


async def test_an_answer_that_never_ends_is_cut(rig: Rig) -> None:
    agent = await begin(rig)
    agent.say("aside-1", said("x" * (MOST_ANSWER + 1)))
    state, text, fault = await end(rig)
    assert (state, len(text), fault) == ("failed", MOST_ANSWER, LONG)
    await until(lambda: ("stop", "aside-1") in agent.told)


async def test_several_interleave_and_what_came_before_a_stop_stays(rig: Rig) -> None:
    agent = await begin(rig)
    await begin(rig, replace(ASKED, id="aside-2"))
    agent.say("aside-1", said("one"))
    agent.say("aside-2", said("two"))
    rig.do(StopAnswer("aside-1"), StopAnswer("unknown"))
    assert await end(rig) == ("failed", "one", STOPPED)
    agent.say("aside-1", said(" more"))
    agent.say("aside-2", DONE)
    assert await end(rig, "aside-2") == ("ready", "two", "")
    rig.do(AskInPlace("aside-1", "again"))
    await until(lambda: ("stop", "aside-1") in agent.told)
    assert len(agent.prompts) == 2, "the agent has not stopped yet"
    agent.say("aside-1", TurnEnded(TurnEnd.STOPPED))
    await until(lambda: len(agent.prompts) == 3)
    agent.say("aside-1", said("!"), DONE)
    await rig.view.until(lambda: shown(rig)[0] == "ready")
    assert shown(rig)[1] == "one!"


async def test_a_server_that_has_ended_gets_what_was_said(rig: Rig) -> None:
    agent = await begin(rig)
    agent.say("aside-1", said("It is x."), DONE)
    await end(rig)
    agent.has_ended = True
    agent.end(AgentExit("it crashed", 1))
    await rig.view.until(lambda: any(it.state == "failed" for it in rig.view.of(ops.SetServer)))
    again = await begin(rig, AskInPlace("aside-1", "and y?"))
    assert again is not agent
    [prompt] = again.prompts
    assert "and y?" in prompt.text
    assert "return x" in prompt.text
    assert prompt.recap == "User: why?\n\nAssistant: It is x."


async def test_it_goes_on_in_a_chat_with_what_was_said(rig: Rig) -> None:
    agent = await begin(rig)
    agent.say("aside-1", said("I look."), events.ToolPreparing(CALL), events.ToolRunning(CALL))
    agent.say("aside-1", events.ToolFinished(CALL), said("It is x."), DONE)
    await end(rig)
    rig.do(ContinueInChat("aside-1", "chat"), ContinueInChat("aside-1", "other"))
    rig.do(intents.OpenChat("chat"), intents.SendPrompt("chat", "more"))
    await until(lambda: len(agent.prompts) == 2)
    for part in ("why?", "I look.", "It is x."):
        assert part in rig.view.text()
    prompt = agent.prompts[1]
    assert (prompt.chat_id, prompt.text) == ("chat", "more")
    assert prompt.recap is not None
    for part in ("line 2 of /ws/mod.lua", "return x", "why?", "It is x."):
        assert part in prompt.recap
    await until(lambda: ("forget", "aside-1") in agent.chats)
    assert "other" not in rig.session._chats.table
    assert rig.session._chats.table["chat"].title == "why?"


async def test_what_is_closed_at_once_asks_nothing(rig: Rig) -> None:
    rig.do(ASKED, StopAnswer("aside-1", closes=True))
    await begin(rig, replace(ASKED, id="aside-2"))
    assert [it.chat_id for it in rig.agent.prompts] == ["aside-2"]
    assert not rig.view.of(ShowAnswer)


def test_lines_of_no_file_have_no_unsaved_changes() -> None:
    text = prompt_of(AskInPlace("aside-1", "why?", lines=("a", "b"), first=1, modified=True))
    assert "lines 1 to 2 of a text that is in no file" in text
    assert "unsaved" not in text


async def test_files_that_change_all_the_same_are_named(tmp_path: Path) -> None:
    workspace = tmp_path / "ws"
    await anyio.run_process(["git", "init", "-q", str(workspace)])
    (workspace / "a.txt").write_text("one")
    rig = Rig(folders=(str(workspace),), saved_in=str(tmp_path / "state"))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(rig.session.run)
        agent = await begin(rig)
        checkpoints = rig.session._checkpoints
        await until(lambda: checkpoints._begun)
        (workspace / "a.txt").write_text("two")
        agent.say("aside-1", said("So."), DONE)
        await rig.view.until(lambda: rig.view.of(ShowChangedMeanwhile))
        await begin(rig, AskInPlace("aside-1", "again"))
        agent.say("aside-1", said("So."), DONE)
        await until(lambda: len(checkpoints.known or ()) == 4)
        tasks.cancel_scope.cancel()
    rig.session.kill()
    [told] = rig.view.of(ShowChangedMeanwhile)
    assert (told.paths, told.more) == ([str(workspace / "a.txt")], 0)
