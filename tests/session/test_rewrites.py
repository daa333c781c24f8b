"""Rewrites: by an agent that can, else by a prompt in a session that no chat shows."""

from collections.abc import Callable
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest
from tests.session.rig import PATIENCE, FakeAgent, Rig, Value

from eca_nvim.agents.base import AgentExit
from eca_nvim.chat.text.rewritten import MOST_ANSWER
from eca_nvim.chat.vocabulary import events, ops, requests
from eca_nvim.chat.vocabulary.call_details import FileChange, Location, ToolCall, ToolKind
from eca_nvim.chat.vocabulary.events import NoticeReceived, Role, TextReceived
from eca_nvim.chat.vocabulary.login import LoginNeeded
from eca_nvim.chat.vocabulary.options import MODE, ChatOption, OptionOffer, OptionsChanged
from eca_nvim.chat.vocabulary.previews import (
    AnswerReplaced,
    ListInstructions,
    Rewrite,
    SetPreview,
    StopPreview,
)
from eca_nvim.chat.vocabulary.states import TurnEnd
from eca_nvim.chat.vocabulary.turn_events import TurnEnded
from eca_nvim.session.previews import rewrites
from eca_nvim.session.previews.rewrites import EMPTY, LONG, SAME, prompt_of
from eca_nvim.store import Store

pytestmark = pytest.mark.anyio

OLD = ("local x = 1", "return x")
WANTED = Rewrite("r1", "make it 42", "/ws/mod.lua", OLD, 2, "lua", ("-- above",), ("-- below",))
DONE = TurnEnded()
CHOICES = (requests.ALLOW, requests.REJECT)


def said(text: str) -> TextReceived:
    return TextReceived(Role.ASSISTANT, text)


def shown(rig: Rig, preview: str = "r1") -> list[tuple[str, Value]]:
    """Return what a preview has shown: its states, with the new lines or the fault."""
    found = [it for it in rig.view.of(SetPreview) if it.id == preview]
    return [(it.state.value, it.fault or [hunk["lines"] for hunk in it.hunks]) for it in found]


async def end(rig: Rig, preview: str = "r1") -> tuple[str, Value]:
    """Wait until a preview is over; returns what it shows then."""
    await rig.view.until(lambda: shown(rig, preview) and shown(rig, preview)[-1][0] != "streaming")
    return shown(rig, preview)[-1]


async def begin(rig: Rig, wanted: Rewrite = WANTED, *, rewrites: bool = True) -> FakeAgent:
    """Ask for a rewrite, and wait until the agent has it, or a prompt for it."""
    rig.do(wanted)
    if len(rig.agents) < 1:
        agent = await rig.starting()
        agent.rewrites = rewrites
        agent.ready()
    what = "rewrite" if rewrites else "prompt"

    await until(lambda: any(it[:2] == (what, wanted.id) for it in rig.agent.told))
    return rig.agent


async def until(condition: Callable[[], object]) -> None:
    """Wait for what nothing in the view tells."""
    with anyio.fail_after(PATIENCE):
        while not condition():
            await anyio.lowlevel.checkpoint()


def nothing_is_shown(rig: Rig) -> bool:
    """Return whether no chat came of a rewrite."""
    return not [it for it in rig.view.ops if isinstance(it, ops.OpenBlock | ops.Emit)]


async def test_an_answer_is_shown_while_it_comes_and_replaced_by_the_whole(rig: Rig) -> None:
    agent = await begin(rig)
    agent.say("r1", said("```lua\nlocal x = 42\nre"))
    await rig.view.until(lambda: ("streaming", [["local x = 42"]]) in shown(rig))
    agent.say("r1", said("turn x\n```"), AnswerReplaced("local x = 43\nreturn x"), DONE)
    assert await end(rig) == ("ready", [["local x = 43"]])
    agent.say("r1", said("late"), DONE)
    await rig.done()
    assert shown(rig)[-1][0] == "ready"
    assert nothing_is_shown(rig)


@pytest.mark.parametrize(
    ("told", "fault"),
    [
        ([DONE], EMPTY),
        ([said("```\n\n```"), DONE], EMPTY),
        ([said("\n".join(OLD)), DONE], SAME),
        ([said("x" * (MOST_ANSWER + 1)), DONE], LONG),
        ([said("half"), TurnEnded(TurnEnd.FAILED, "no\nkey")], "no key"),
        ([said("half"), TurnEnded(TurnEnd.LIMIT)], "the agent has reached a limit"),
    ],
)
async def test_a_failure_says_why(rig: Rig, told: list[events.ChatEvent], fault: str) -> None:
    agent = await begin(rig)
    agent.say("r1", *told)
    assert await end(rig) == ("failed", fault)


async def test_several_interleave_and_one_that_was_stopped_shows_nothing_more(rig: Rig) -> None:
    agent = await begin(rig)
    other = Rewrite("r2", "x", "", ("a",), 1)
    await begin(rig, other)
    agent.say("r1", said("local x = 2\n"))
    agent.say("r2", said("b"))
    rig.do(StopPreview("r1"), StopPreview("unknown"))
    agent.say("r1", said("return x"))
    agent.say("r2", DONE)
    assert await end(rig, "r2") == ("ready", [["b"]])
    agent.say("r1", DONE)
    await rig.done()
    assert "ready" not in [state for state, _ in shown(rig)]
    assert ("stop", "r1") not in agent.told, "a rewrite of ECA cannot be stopped"


async def test_an_answer_that_is_far_too_long_ends_at_once(rig: Rig) -> None:
    agent = await begin(rig)
    agent.say("r1", said("x\n" * 3000))
    agent.say("r1", said("x" * MOST_ANSWER))
    assert await end(rig) == ("failed", LONG)
    agent.say("r1", DONE)
    await rig.done()
    assert shown(rig)[-1] == ("failed", LONG)
    assert len(shown(rig)) == 1, "so many lines are not compared while they come"


async def test_unsaved_lines_around_it_are_noted(rig: Rig) -> None:
    modified = Rewrite("r1", "x", "/ws/a", ("a",), 1, modified=True)
    agent = await begin(rig, modified)
    agent.say("r1", said("b"), DONE)
    await end(rig)
    assert rig.view.of(SetPreview)[-1].unseen


async def test_the_end_of_the_server_ends_it(rig: Rig) -> None:
    agent = await begin(rig)
    agent.end(AgentExit("it crashed", 1))
    assert await end(rig) == ("failed", "the server has ended")


async def test_contexts_that_are_named_are_sent_by_a_prompt(rig: Rig) -> None:
    web = {"type": "web", "url": "https://x.org", "token": "@https://x.org"}
    wanted = Rewrite("r1", "as @https://x.org says", "/ws/a", ("a",), 1, contexts=(web,))
    rig.do(wanted)
    agent = await rig.starting()
    agent.rewrites = True
    agent.ready()
    await until(lambda: agent.prompts)
    assert len(agent.prompts[0].contexts) == 1
    assert not [it for it in agent.told if it[0] == "rewrite"]


async def test_the_end_of_the_server_while_contexts_are_read_ends_it(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def read(_: Value) -> tuple[tuple[()], tuple[()]]:
        rig.agent.end(AgentExit("it crashed", 1))
        process = rig.session._servers.get().process
        await until(lambda: process.agent is not rig.agent)
        return (), ()

    monkeypatch.setattr(rewrites, "read_late", read)
    rig.do(WANTED)
    (await rig.starting()).ready()
    assert await end(rig) == ("failed", "the server has ended")


# --- an agent that must be prompted ---------------------------------------------------------------


async def test_another_agent_is_prompted_in_a_session_of_its_own(rig: Rig) -> None:
    agent = await begin(rig, rewrites=False)
    assert ("open", "r1") in agent.chats
    [text] = [it[2] for it in agent.told if it[0] == "prompt"]
    assert isinstance(text, str)
    for part in (WANTED.instruction, "/ws/mod.lua", "lines 2 to 3", *OLD, "-- above", "-- below"):
        assert part in text
    agent.say("r1", said("I look at it."), events.ToolPreparing(ToolCall("c")))
    agent.say("r1", said("```lua\nlocal x = 7\nreturn x\n```"), DONE)
    assert await end(rig) == ("ready", [["local x = 7"]])
    await until(lambda: ("forget", "r1") in agent.chats)
    assert nothing_is_shown(rig)


async def test_it_is_set_to_a_mode_that_changes_nothing(rig: Rig) -> None:
    offers = (OptionOffer("yolo", "All"), OptionOffer("read-only", "Read"))
    mode = ChatOption("mode", "Mode", category=MODE, value="yolo", offers=offers)
    rig.do(WANTED)
    agent = await rig.starting()
    agent.emit = lambda _: None  # its own options are not those of this test
    rig_emit = rig.session._servers.get().incoming.receive
    agent.ready()
    await until(lambda: ("open", "r1") in agent.chats)
    rig_emit([events.Addressed("r1", OptionsChanged((mode,)))])
    await until(lambda: ("set", "r1", "mode", "read-only") in agent.told)
    assert not [it for it in agent.told if it[0] == "prompt"]
    rig_emit([events.Addressed("r1", OptionsChanged((mode,), is_answer=True))])
    await until(lambda: [it for it in agent.told if it[0] == "prompt"])


READ = ToolCall("read", kind=ToolKind.READ, locations=(Location("/ws/a.lua"),))
CALLS = {
    "read": (READ, "allow"),
    "search": (ToolCall("search", kind=ToolKind.SEARCH), "allow"),
    "edit": (ToolCall("edit", kind=ToolKind.EDIT), "reject"),
    "shell": (ToolCall("shell", kind=ToolKind.EXECUTE, command="ls"), "reject"),
    "unknown": (ToolCall("unknown"), "reject"),
    "outside": (
        ToolCall("outside", kind=ToolKind.READ, locations=(Location("/etc/passwd"),)),
        "reject",
    ),
    "secret": (ToolCall("secret", kind=ToolKind.READ, locations=(Location("/ws/.env"),)), "reject"),
    "nameless": (ToolCall("nameless", kind=ToolKind.READ), "reject"),
    "lies": (
        ToolCall("lies", kind=ToolKind.READ, changes=(FileChange("/ws/a", "", 1, 0),)),
        "reject",
    ),
}


async def test_reads_in_the_workspace_are_allowed_and_nothing_else(tmp_path: Path) -> None:
    rig = Rig(folders=("/ws", str(tmp_path)))
    (tmp_path / "link").symlink_to("/etc")
    link = ToolCall("link", kind=ToolKind.READ, locations=(Location(f"{tmp_path}/link/passwd"),))
    calls = [*CALLS.values(), (link, "reject")]
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(rig.session.run)
        agent = await begin(rig, rewrites=False)
        for call, _ in calls:
            agent.say("r1", events.ToolRequested(call, needs_approval=True, choices=CHOICES))
        agent.say("sub", events.ToolRequested(READ, needs_approval=True), parent="r1")
        agent.say("r1", events.ToolRequested(READ))
        agent.say("r1", events.QuestionAsked("q", "Sure?"))
        told = [it for it in agent.told if it[0] in ("decide", "answer")]
        expected = [("decide", "r1", call.id, choice) for call, choice in calls]
        assert told == [*expected, ("decide", "sub", "read", "allow"), ("answer", "q", None)]
        tasks.cancel_scope.cancel()
    rig.session.kill()


async def test_a_stopped_prompt_is_stopped_at_the_agent(rig: Rig) -> None:
    agent = await begin(rig, rewrites=False)
    rig.do(StopPreview("r1"))
    await until(lambda: ("stop", "r1") in agent.told)
    agent.say("r1", said("late"), TurnEnded(TurnEnd.STOPPED))
    await until(lambda: ("forget", "r1") in agent.chats)
    agent.say("r1", said("later"))
    assert nothing_is_shown(rig)


@pytest.mark.parametrize("is_login", [True, False])
async def test_a_session_that_is_not_opened_says_why(rig: Rig, is_login: bool) -> None:
    rig.do(WANTED)
    agent = await rig.starting()
    emit = agent.emit
    agent.emit = lambda _: None
    agent.ready()
    await until(lambda: ("open", "r1") in agent.chats)
    refused = events.Addressed("r1", NoticeReceived("log in first", is_error=True))
    emit([LoginNeeded("r1", "log in first") if is_login else refused])
    assert await end(rig) == ("failed", "log in first")
    assert not [it for it in agent.told if it[0] == "prompt"]


def test_a_fence_of_the_prompt_is_in_none_of_its_lines() -> None:
    wanted = Rewrite("r1", "x", "", ("````", "a"), 1)
    text = prompt_of(wanted)
    assert "\n`````\n````\na\n`````\n" in text
    assert "a text that is in no file" in text


async def test_what_was_never_asked_for_makes_no_chat(rig: Rig) -> None:
    agent = await rig.ready("a")
    agent.say("aside-9", said("hello"), DONE)
    agent.say("a", said("bye"))
    await rig.view.until(lambda: "bye" in rig.view.text())
    assert "hello" not in rig.view.text()


async def test_instructions_are_kept_for_the_next_neovim(tmp_path: Path) -> None:
    store = Store(tmp_path / "state", "/project")
    for number, (new, expected) in enumerate(
        [("louder", ["louder"]), ("shorter", ["shorter", "louder"])], start=1
    ):
        rig = Rig(store)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(rig.session.run)
            assert await rig.ask(ListInstructions(number, "two\nlines")) == expected[1:]
            assert await rig.ask(ListInstructions(10 + number, new)) == expected
            assert await rig.ask(ListInstructions(20 + number, new)) == expected
            tasks.cancel_scope.cancel()
        rig.session.kill()
