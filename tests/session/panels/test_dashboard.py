"""The dashboard: what each chat does, in the order in which chats need the user."""

import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.session.panels.test_panels import applied
from tests.session.rig import Rig
from tests.support.calls import eca_call

from eca_nvim.chat.vocabulary import intents
from eca_nvim.chat.vocabulary.agent_events import JobsChanged
from eca_nvim.chat.vocabulary.call_details import FileChange
from eca_nvim.chat.vocabulary.events import (
    QuestionAsked,
    ReasoningText,
    Role,
    TextReceived,
    TitleChanged,
    ToolFinished,
    ToolRequested,
    ToolRunning,
)
from eca_nvim.chat.vocabulary.ops import Notify
from eca_nvim.chat.vocabulary.panels import (
    ActInPanel,
    NoteUnseen,
    Row,
    SetPanel,
    SetRows,
    ShowPanel,
)
from eca_nvim.chat.vocabulary.query_intents import PlanUndo, UndoTurn
from eca_nvim.chat.vocabulary.states import TurnEnd
from eca_nvim.chat.vocabulary.turn_events import Job, TurnBegan, TurnEnded, UsageReported
from eca_nvim.review.change_list import changed_lines
from eca_nvim.review.snapshots import Blobs, Snapshot
from eca_nvim.review.turn_changes import FileRecord, TurnChanges
from eca_nvim.session.panels import dashboard

pytestmark = pytest.mark.anyio

COMMAND = eca_call("t", "shell_command", arguments={"command": "rm -r build/"})


def rows(rig: Rig) -> list[Row]:
    """Return the rows that the view has."""
    found: list[Row] = []
    for op in rig.view.of(SetRows):
        found = applied(found, [op])
    return found


def lines(rig: Rig) -> list[str]:
    return [" ".join("".join(f"{it[0]} " for it in row.line).split()) for row in rows(rig)]


async def shows(rig: Rig, *wanted: str) -> None:
    """Wait until there is a row for each text, in this order, that has it."""

    def has() -> bool:
        found = lines(rig)
        return len(found) == len(wanted) and all(map(str.__contains__, found, wanted))

    try:
        await rig.view.until(has)
    except TimeoutError:
        pytest.fail(f"{lines(rig)} are not {wanted}")


async def with_chats(rig: Rig, *chats: str) -> None:
    """Open chats, begin a turn in each, and show the dashboard."""
    await rig.ready(chats[0])
    for chat in chats:
        rig.do(intents.OpenChat(chat), intents.SendPrompt(chat, f"prompt of {chat}"))
    await rig.done()
    for chat in chats:
        rig.agent.say(chat, TitleChanged(f"title {chat}"), TurnBegan())
    rig.do(ShowPanel("dashboard", chats[0]))
    await rig.view.until(lambda: len(rows(rig)) == len(chats))


async def test_those_that_need_the_user_come_first(rig: Rig) -> None:
    await with_chats(rig, *"abcde")
    agent = rig.agent
    agent.say("b", ToolRequested(COMMAND, needs_approval=True))
    agent.say("c", TurnEnded())
    agent.say("e", TurnEnded())
    agent.say("d", TurnEnded(TurnEnd.FAILED, "no credit"))
    rig.do(*(NoteUnseen(chat, unseen=True) for chat in "de"))
    await shows(
        rig,
        "waiting title b · asks: $ rm -r build/",
        *("failed <1m title d · no credit", "finished <1m title e"),
        *("running title a · works", "idle <1m title c"),
    )
    assert [row.chat for row in rows(rig)] == [*"bdeac"]
    assert rig.view.of(SetPanel)[-1].title == "chats: 3 for you, 1 running"
    rig.do(NoteUnseen("e", unseen=False))
    agent.say("a", QuestionAsked("q", "Which\ncolour?"))
    await shows(rig, "title b", "title a · asks: Which colour?", "failed", "idle", "idle")
    answers = [[it for it in row.actions if it in dashboard._ANSWERS] for row in rows(rig)]
    assert [len(it) for it in answers] == [5, 0, 0, 0, 0]  # a question has other keys


async def test_what_a_chat_does_and_has_cost(rig: Rig) -> None:
    await with_chats(rig, "a")
    say = rig.agent.say
    say("a", ReasoningText("r", "hm"))
    await shows(rig, "· thinks")
    say("a", TextReceived(Role.ASSISTANT, "some"))
    await shows(rig, "· writes")
    say("a", ToolRequested(COMMAND), ToolRunning(COMMAND))
    say("a", UsageReported(session_tokens=34_210, context_limit=200_000, session_cost="0.12"))
    await shows(rig, "· $ rm -r build/ · $0.12 34k/200k")
    rig.do(intents.SetTrust("a", trusted=True))
    await shows(rig, "· TRUST · $0.12")
    rig.do(ActInPanel("dashboard", "stop", 5, row="a"))
    await shows(rig, "stopping")


async def test_servers_are_named_if_there_are_several(rig: Rig) -> None:
    await with_chats(rig, "a")
    assert "eca" not in lines(rig)[0]
    await rig.ready("b", server="other", number=2)
    await shows(rig, "title a · works · eca", "New chat · other")
    assert await rig.ask(ActInPanel("dashboard", "new", 7, row="b")) == {"new": "other"}
    assert await rig.ask(ActInPanel("dashboard", "new", 8)) == {"new": ""}
    assert await rig.ask(ActInPanel("dashboard", "open", 9, row="b")) == {"chat": "b"}


async def test_what_tools_have_changed_is_counted_once_a_change(
    rig: Rig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted = list[int]()

    def count(turns: Sequence[TurnChanges]) -> tuple[int, int]:
        counted.append(len(turns))
        return changed_lines(turns)

    monkeypatch.setattr(dashboard, "changed_lines", count)
    await with_chats(rig, "a")
    file = tmp_path / "file"
    file.write_text("one\ntwo\nthree\n")
    change = FileChange(str(file), "@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n+2\n three", 2, 1)
    call = eca_call("t", "edit_file", arguments={"path": str(file)}, details=change)
    rig.agent.say("a", ToolRequested(call))
    file.write_text("one\nTWO\n2\nthree\n")
    rig.agent.say("a", ToolFinished(call), TurnEnded())
    await shows(rig, "title a · +2 -1")
    for number in range(5):
        rig.agent.say("a", TitleChanged(f"title {number}"))
    await shows(rig, "title 4 · +2 -1")
    assert counted == [1]
    (plan,) = (await rig.ask(PlanUndo("a", -1)))["rows"]
    await rig.ask(UndoTurn("a", -2, [1], [(str(file), plan["seen"])]))
    await rig.view.until(lambda: "+2" not in lines(rig)[0])
    assert counted == [1]  # what was undone needs no counting


def test_many_changes_are_counted_once_each_some_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    counted = list[FileRecord]()

    def count(turns: Sequence[TurnChanges]) -> tuple[int, int]:
        counted.extend(turns[0].files.values())
        return 2, 1

    monkeypatch.setattr(dashboard, "changed_lines", count)
    absent = Snapshot()
    blobs = Blobs()
    after = [Snapshot(blobs.keep(b"%d" % it)) for it in range(300)]
    files = {f"{at}": FileRecord(absent, it) for at, it in enumerate(after)}
    lines = dashboard._Lines()
    lines.look([TurnChanges("a", 1, "", files)])
    lines.count(time.monotonic() - 1)
    assert (lines.shown, len(lines.waiting), counted) == ((0, 0), 300, [])
    lines.count(time.monotonic() + 60)
    assert (lines.shown, len(counted)) == ((600, 300), 300)
    files["7"] = FileRecord(after[7], after[8])
    files["8"] = replace(files["8"], undone=True)
    lines.look([TurnChanges("a", 1, "", files)])
    assert (lines.shown, lines.waiting) == ((600, 300), [files["7"]])
    lines.count(time.monotonic() + 60)
    assert (lines.shown, len(counted)) == ((598, 299), 301)


async def test_a_chat_is_renamed_and_deleted_with_what_runs_for_it(rig: Rig) -> None:
    await with_chats(rig, "a", "b")
    rig.agent.announce(JobsChanged((Job("sleep 9", chat_id="a"), Job("make", chat_id="a", id="2"))))
    await rig.view.until(lambda: "sleep" in rows(rig)[0].values["name"])
    assert rows(rig)[0].values["name"] == '"title a" and end sleep 9 and 1 more'
    assert rows(rig)[1].values["name"] == '"title b"'
    await rig.ask(ActInPanel("dashboard", "rename", 5, row="a", values={"title": " new\n"}))
    await rig.ask(ActInPanel("dashboard", "rename", 6, row="a", values={"title": " "}))
    assert [it for it in rig.agent.archive.asked if it[0] == "rename"] == [("rename", "a", "new")]
    await rig.ask(ActInPanel("dashboard", "delete", 7, row="a"))
    await shows(rig, "title b")
    await rig.ask(ActInPanel("dashboard", "stop", 8, row="a"))
    assert rig.view.of(Notify)[-1] == Notify("warn", "this chat is gone")
    await rig.ask(ActInPanel("dashboard", "delete", 9, row="b"))
    await shows(rig, "no chat yet: n starts one")


async def test_chats_of_a_host_that_has_ended_are_listed(rig: Rig) -> None:
    await rig.ready("a")
    rig.do(ShowPanel("dashboard", "a", chats=["a", "b", "c"]))
    await shows(rig, "New chat", "not open <CR> opens it", "not open")
    assert [row.chat for row in rows(rig)] == ["a", "b", "c"]
    assert await rig.ask(ActInPanel("dashboard", "open", 5, row="b")) == {"chat": "b"}
    rig.do(intents.OpenChat("b"))
    await shows(rig, "New chat", "New chat", "not open")
    await rig.ask(ActInPanel("dashboard", "delete", 6, row="b"))
    await shows(rig, "New chat", "not open")


async def test_hostile_titles_are_one_line(rig: Rig) -> None:
    await with_chats(rig, "a")
    rig.agent.say("a", TitleChanged("\x1b[31m%{system('x')}\r\n\u202e" + "long " * 2000))
    await rig.view.until(lambda: "long" in lines(rig)[0])
    assert "\x1b" not in lines(rig)[0]
    assert "\u202e" not in lines(rig)[0]
    assert len(lines(rig)[0]) < 200
