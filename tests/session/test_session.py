"""The user's intents and the agent's events, and their effects."""

import time
from pathlib import Path

import anyio
import pytest
from tests.session.rig import PATIENCE, Rig
from tests.support.announced import announced
from tests.support.calls import eca_call
from tests.support.messages import kinds

from eca_nvim.agents.base import NO_FURTHER_FOLDERS, AgentExit
from eca_nvim.agents.eca.contents import ALWAYS_ID
from eca_nvim.agents.eca.prompts import Selection
from eca_nvim.chat.vocabulary import call_details, events, intents
from eca_nvim.chat.vocabulary.agent_events import MessageShown, WorkChanged
from eca_nvim.chat.vocabulary.bases import AgentEvent
from eca_nvim.chat.vocabulary.call_details import FileChange, ToolCall
from eca_nvim.chat.vocabulary.contexts import WebContext
from eca_nvim.chat.vocabulary.events import (
    Addressed,
    ChatCleared,
    ChatDeleted,
    Role,
    TextReceived,
    ToolRequested,
)
from eca_nvim.chat.vocabulary.ops import (
    Answer,
    BlockKind,
    ClearChat,
    Emit,
    Notify,
    OpenBlock,
    SetPending,
    SetStatus,
    SetWork,
    ShowDiff,
)
from eca_nvim.chat.vocabulary.query_intents import ChangeFolder, ListChats, RequestTranscript
from eca_nvim.chat.vocabulary.requests import ALLOW, REJECT, Choice, ChoiceKind
from eca_nvim.chat.vocabulary.turn_events import TurnBegan, TurnEnded
from eca_nvim.session import chats

pytestmark = pytest.mark.anyio

CHANGE = FileChange("/w/a.txt", "@@ -1,1 +1,1 @@\n-old\n+new", 1, 1)


def call(
    call_id: str = "c1", carries: call_details.Details | FileChange | None = CHANGE
) -> ToolCall:
    return eca_call(call_id, name="edit_file", details=carries)


REMEMBER = Choice(ALWAYS_ID, "always allow", ChoiceKind.ALLOW_ALWAYS, ("c1",))


async def test_the_users_words_reach_the_agent(rig: Rig) -> None:
    agent = await rig.ready()
    rig.do(intents.SendPrompt("a", "hi"))
    await rig.done()
    agent.say("a", TurnBegan(), ToolRequested(call(), True, (ALLOW, REMEMBER)))
    rig.do(rig.decision("c1", ALWAYS_ID))
    await rig.done()
    agent.say("a", ToolRequested(call("c2"), needs_approval=True))
    rig.do(rig.decision("c2", REJECT.id), intents.StopTurn("a"))
    await rig.done()
    assert agent.told == [
        ("prompt", "a", "hi"),
        ("decide", "a", "c1", ALWAYS_ID),
        ("decide", "a", "c2", REJECT.id),
        ("stop", "a"),
    ]


async def test_what_waits_is_shown_for_all_chats_together(rig: Rig) -> None:
    agent = await rig.ready()
    rig.do(intents.OpenChat("b"))
    await rig.done()
    agent.say("a", ToolRequested(call("c1"), needs_approval=True))
    agent.say("b", ToolRequested(call("c2"), needs_approval=True))
    assert [item["call"] for item in rig.view.pending] == ["c1", "c2"]


async def test_a_question_is_answered(rig: Rig) -> None:
    agent = await rig.ready()
    rig.do(intents.SendPrompt("a", "hi"))
    await rig.done()
    agent.say("a", events.QuestionAsked("q", "Which?"))
    rig.do(rig.answer("q", "this"))
    await rig.done()
    assert agent.told[-1] == ("answer", "q", "this")


async def test_contexts_go_along_and_a_wrong_one_is_told(rig: Rig) -> None:
    agent = await rig.ready()
    wrong, right = {"type": "file"}, {"type": "web", "url": "https://neovim.io"}
    rig.do(intents.SendPrompt("a", "hi", [wrong, right]))
    await rig.done()
    assert agent.last_prompt.contexts == (WebContext("https://neovim.io"),)
    (line,) = rig.lines()
    assert line.startswith("context not sent: a context of type 'file' needs a path")


async def test_announced_choices_answer_prompts_until_the_user_chooses(rig: Rig) -> None:
    agent = await rig.ready()
    agent.announce(announced(models=("m1", "m2"), agents=("code",), model="m1", agent="code"))
    rig.do(intents.Choose("a", "model", "m2"))
    await rig.done()
    agent.announce(announced(variants=("high",), model="m1", variant="high"))
    rig.do(intents.SendPrompt("a", "hi"))
    await rig.done()
    assert agent.told[0] == ("set", "a", "model", "m2")
    assert agent.last_selection == Selection("m2", "code", "")
    assert rig.status("a")["model"] == "m2"
    assert rig.offers() == {"model": ["m1", "m2"], "agent": ["code"], "variant": [], "trust": []}


async def test_a_choice_announced_for_one_chat_is_for_that_chat(rig: Rig) -> None:
    agent = await rig.ready()
    rig.do(intents.OpenChat("b"))
    await rig.done()
    agent.announce(announced(model="m9", chat_id="b"))
    assert "model" not in rig.status("a")
    assert rig.status("b")["model"] == "m9"


async def test_trust_is_no_option_that_can_be_chosen(rig: Rig) -> None:
    agent = await rig.ready()
    rig.do(intents.Choose("a", "trust", value=True), intents.SetTrust("a", trusted=True))
    rig.do(intents.Choose("a", "model", 5))
    await rig.done()
    assert agent.told == [("set", "a", "trust", True)]
    assert rig.lines() == ["invalid trust: True", "invalid model: 5"]


async def test_a_welcome_is_a_note_in_chats_that_are_empty(rig: Rig) -> None:
    agent = await rig.ready()
    rig.do(intents.SendPrompt("b", "hi"))
    await rig.done()
    rig.view.ops.clear()
    agent.announce(announced(welcome="Welcome!\n"))
    rig.do(intents.OpenChat("c"))
    await rig.done()
    notes = [op.chat for op in rig.view.of(OpenBlock) if op.kind is BlockKind.SYSTEM]
    assert notes == ["a", "c"]


async def test_work_in_the_background_is_told_until_it_ends_or_nobody_does_it(rig: Rig) -> None:
    agent = await rig.ready()
    agent.announce(WorkChanged("a", "Syncing\nmodels", done=False))
    agent.announce(WorkChanged("b", "Cleaning up", done=False), WorkChanged("a", "", done=True))
    agent.announce(WorkChanged("c", "", done=True))
    told = [("Syncing models",), ("Syncing models", "Cleaning up"), ("Cleaning up",)]
    await rig.view.until(lambda: [op.titles for op in rig.view.of(SetWork)] == [*told, told[2]])
    agent.end(AgentExit("gone"))
    await rig.view.until(lambda: rig.view.of(SetWork)[-1].titles == ())


async def test_messages_are_told_in_a_line(rig: Rig) -> None:
    agent = await rig.ready()
    agent.announce(MessageShown("warn", "mind the gap"))
    assert Notify("warn", "mind the gap") in rig.view.ops


async def test_an_event_without_a_chat_is_for_the_one_last_used(rig: Rig) -> None:
    agent = await rig.ready()
    rig.do(intents.OpenChat("b"))
    await rig.done()
    agent.say(None, TextReceived(Role.SYSTEM, "The config is broken"))
    assert [op.chat for op in rig.view.of(OpenBlock)] == ["b"]


async def test_a_chat_of_the_agents_own_is_made_but_news_of_its_end_is_none(rig: Rig) -> None:
    agent = await rig.ready()
    agent.say("x", ChatCleared())
    agent.say("y", ChatDeleted())
    agent.say("z", TextReceived(Role.ASSISTANT, "hello"))
    opened = [op.data["chat"] for op in rig.view.of(Emit) if op.event == "EcaChatOpened"]
    assert opened == ["a", "z"]


async def test_a_deleted_chat_is_told_as_closed(rig: Rig) -> None:
    agent = await rig.ready()
    agent.say("a", ChatDeleted())
    assert Emit("EcaChatClosed", {"chat": "a"}) in rig.view.ops


async def test_a_subagents_events_are_shown_in_its_parents_chat(rig: Rig) -> None:
    agent = await rig.ready()
    spawn = eca_call("s", name="spawn_agent", details=call_details.Subagent("explorer", "sub-1"))
    agent.say("a", ToolRequested(spawn))
    agent.say("sub-1", TextReceived(Role.ASSISTANT, "digging"), parent="a")
    agent.say("sub-1", TurnEnded())
    rig.do(intents.ToggleBlock("a", rig.view.of(OpenBlock)[-1].block))
    await rig.done()
    assert {op.chat for op in rig.view.of(OpenBlock)} == {"a"}
    assert "digging" in rig.view.text()


async def test_a_fault_in_one_event_is_told_and_the_next_is_heard(
    rig: Rig, caplog: pytest.LogCaptureFixture
) -> None:
    agent = await rig.ready()
    broken = TextReceived(Role.SYSTEM, 7)  # type: ignore[arg-type]
    agent.say("a", broken, TextReceived(Role.ASSISTANT, "fine"))
    assert "fine" in rig.view.text()
    assert "see :Eca log" in rig.lines()[0]
    assert "Traceback" in caplog.text


async def test_a_fault_in_one_intent_is_told_and_the_next_is_done(
    rig: Rig, caplog: pytest.LogCaptureFixture
) -> None:
    agent = await rig.ready()
    rig.do(intents.SendPrompt("a", 7), intents.SendPrompt("a", "hi"))  # type: ignore[arg-type]
    await rig.done()
    assert agent.told == [("prompt", "a", "hi")]
    assert rig.lines()[0].startswith("cannot do prompt: ")
    assert "Traceback" in caplog.text


async def test_a_chat_is_drawn_anew_for_a_buffer_that_lost_its_text(rig: Rig) -> None:
    agent = await rig.ready()
    agent.say("a", TextReceived(Role.ASSISTANT, "hello"))
    rig.view.ops.clear()
    rig.do(intents.OpenChat("a"))
    await rig.done()
    assert rig.view.of(ClearChat) == [], "its text is still there"
    rig.do(intents.OpenChat("a", redraw=True))
    await rig.done()
    assert rig.view.of(ClearChat) == [ClearChat("a")]
    assert rig.view.text() == "hello"


async def test_the_transcript_is_answered_by_its_number(rig: Rig) -> None:
    agent = await rig.ready()
    agent.say("a", TextReceived(Role.ASSISTANT, "hello"))
    rig.do(RequestTranscript("a", 42))
    await rig.done()
    assert [op.value for op in rig.view.of(Answer) if op.request == 42] == [
        "## Assistant\n\nhello\n"
    ]


async def test_the_end_of_the_server_is_told_to_who_waits(rig: Rig) -> None:
    rig.do(ListChats(1))
    agent = await rig.starting()
    agent.end(AgentExit("it died", 1))
    await rig.view.until(lambda: rig.view.of(Answer))
    assert rig.view.of(Answer) == [Answer(1, None)]


async def test_a_diff_is_found_by_its_block_too(rig: Rig) -> None:
    agent = await rig.ready()
    agent.say("a", ToolRequested(call(), needs_approval=True))
    rig.do(intents.RequestDiff("a", block=rig.view.of(OpenBlock)[-1].block))
    await rig.view.until(lambda: rig.view.of(ShowDiff))
    assert rig.view.of(ShowDiff)[0].fault is not None


async def test_no_diff_is_told(rig: Rig) -> None:
    await rig.ready()
    rig.do(intents.RequestDiff("a", 99))
    await rig.view.until(lambda: rig.lines() == ["no file change here"])


async def test_a_diff_of_what_neovim_does_not_tell_is_told(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = await rig.ready()
    monkeypatch.delattr(Rig, "unsaved")
    agent.say("a", ToolRequested(call(), needs_approval=True))
    rig.do(intents.RequestDiff("a", rig.asked("c1")["block"]))
    await rig.view.until(rig.lines)
    assert rig.lines()[0].startswith("cannot do diff: ")


async def test_each_intent_has_a_handler(rig: Rig) -> None:
    elsewhere = {intents.Attach, intents.KeepDraft, intents.FrameDrawn, intents.CallReturned}
    first, later = {*rig.session._handlers}, {*rig.session._requests}
    assert first | later == {*intents.INTENTS.values()} - elsewhere
    assert not first & later


async def test_each_event_of_an_agent_has_a_reader(rig: Rig) -> None:
    await rig.ready()
    [server] = rig.session._servers
    assert {*server.incoming._readers, Addressed} == {*kinds(AgentEvent)}


async def test_who_listens_finds_everything_in_place(rig: Rig) -> None:
    agent = await rig.ready()
    before = len(rig.view.ops)
    agent.say("a", ToolRequested(call(), needs_approval=True))
    kinds = [type(op) for op in rig.view.ops[before:]]
    assert kinds.index(SetStatus) < kinds.index(SetPending) < kinds.index(Emit)


async def test_time_is_shown_while_a_server_starts_or_a_turn_runs_and_only_then(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    sleeps = Sleeps()
    monkeypatch.setattr(anyio, "sleep", sleeps.sleep)
    agent = await rig.ready()
    await sleeps.begun(1)  # while the server starts
    sleeps.let_go()
    await rig.done()
    rig.do(intents.SendPrompt("a", "hi"))
    await rig.done()
    await sleeps.begun(2)
    before = rig.status()["elapsed"]
    monkeypatch.setattr(chats, "now", lambda: time.monotonic_ns() // 1_000_000 + 5000)
    sleeps.let_go()
    await sleeps.begun(3)
    assert isinstance(before, int)
    assert int(str(rig.status()["elapsed"])) >= before + 5000
    agent.say("a", TurnEnded())
    sleeps.let_go()
    await rig.done()
    assert "elapsed" not in rig.status()
    assert sleeps.count == 3


class Sleeps:
    """Sleep that ends when the test says so."""

    def __init__(self) -> None:
        self.count = 0
        self._changed = anyio.Event()
        self._released = anyio.Event()

    async def sleep(self, _seconds: float) -> None:
        """Stand in for `anyio.sleep`."""
        self.count += 1
        self._changed.set()
        await self._released.wait()
        self._released = anyio.Event()

    def let_go(self) -> None:
        """End the sleep under way."""
        self._released.set()

    async def begun(self, count: int) -> None:
        """Wait until so many sleeps began."""
        with anyio.fail_after(PATIENCE):
            while self.count < count:
                self._changed = anyio.Event()
                await self._changed.wait()


async def test_what_went_wrong_is_said_in_the_chat_it_is_of(rig: Rig) -> None:
    await rig.ready()
    rig.do(intents.OpenChat("a"))
    await rig.done()
    assert rig.session.warn("a", "cannot draw this")
    assert "cannot draw this" in rig.view.text()
    assert not rig.session.warn("nobody", "cannot draw this")


async def test_what_waits_is_told_whole_after_some_of_it_was_lost(rig: Rig) -> None:
    agent = await rig.ready()
    for number in range(3):
        agent.say("a", ToolRequested(eca_call(f"c{number}", "grep"), needs_approval=True))
    assert [item["call"] for item in rig.view.of(SetPending)[-1].items] == ["c2"]
    rig.session.resend_pending()
    agent.say("a", ToolRequested(eca_call("c3", "grep"), needs_approval=True))
    assert [item["call"] for item in rig.view.of(SetPending)[-1].items] == ["c0", "c1", "c2", "c3"]


async def test_a_folder_that_is_added_is_in_the_workspace_for_what_waits(
    rig: Rig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rig.folders[:] = rig.folders.first = (str(tmp_path / "here"),)
    (tmp_path / "there").mkdir()
    agent = await rig.ready()
    rig.do(intents.SendPrompt("a", "go"))
    await rig.done()
    path = str(tmp_path / "there" / "x")
    call = eca_call("t", "read_file", origin="native", arguments={"path": path})
    agent.say("a", events.ToolRequested(call, needs_approval=True))
    before = rig.decision("t")
    assert "outside the workspace" in str(rig.asked("t"))
    missing = ChangeFolder(str(tmp_path / "nowhere"), removed=False, request=1)
    assert await rig.ask(missing) is None
    assert rig.lines()[-1] == f"there is no folder {tmp_path}/nowhere"
    added = await rig.ask(ChangeFolder(str(tmp_path / "there"), removed=False, request=2))
    assert added == [str(tmp_path / "there")]
    assert rig.lines()[-1] == f"the workspace has {tmp_path}/there"
    assert "outside the workspace" not in str(rig.asked("t"))
    rig.do(before)
    await rig.done()
    assert rig.asked("t")  # the answer was to what it looked like before
    assert await rig.ask(ChangeFolder(added[0], removed=True, request=3)) == []
    assert "outside the workspace" in str(rig.asked("t"))
    monkeypatch.setattr(agent, "folder_changed", lambda *_, **__: NO_FURTHER_FOLDERS)
    assert await rig.ask(ChangeFolder(added[0], removed=False, request=4)) == added
    assert rig.lines()[-1] == "eca takes no further folders: only other agents get there"
