"""A file that is written whole is shown as a change of the old one, through the whole session."""

from __future__ import annotations

import difflib
from pathlib import Path

import pytest
from tests.review.desk import Trees
from tests.session.rig import FakeAgent, Rig
from tests.support.calls import eca_call

from eca_nvim.chat.model.chat import Chat
from eca_nvim.chat.vocabulary import intents
from eca_nvim.chat.vocabulary.call_details import FileChange, ToolCall, ToolKind
from eca_nvim.chat.vocabulary.events import (
    ChatEvent,
    ToolFinished,
    ToolPreparing,
    ToolRequested,
    ToolRunning,
)
from eca_nvim.chat.vocabulary.ops import BlockKind, Notify, OpenBlock, SetHeader, ShowDiff
from eca_nvim.chat.vocabulary.turn_events import TurnBegan
from eca_nvim.session.proposals.whole_writes import with_actual_diff

pytestmark = pytest.mark.anyio
BEFORE = "one\ntwo\n\nfour\n"
AFTER = "one\n2\n\nfour\n"
CHANGE = [" one", "-two", "+2", " "]


def write(path: Path, text: str = AFTER) -> ToolCall:
    """Make a call as the real server tells it: as if there were no file."""
    lines = text.splitlines()
    diff = "\n".join(list(difflib.unified_diff([""], lines, lineterm=""))[2:])
    change = FileChange(str(path), diff, len(lines), 0)
    arguments = {"path": str(path), "content": text}
    return eca_call("t", "write_file", origin="native", arguments=arguments, details=change)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "file"
    file.write_text(BEFORE)
    return file


def fill(path: Path, text: str) -> None:
    path.write_bytes(text.encode())


def take_away(path: Path) -> None:
    path.unlink()


async def hears(rig: Rig, *events: ChatEvent) -> FakeAgent:
    agent = await rig.ready()
    rig.do(intents.SendPrompt("a", "write"))
    await rig.done()
    agent.say("a", TurnBegan(), *events)
    await rig.done()
    return agent


def asked(rig: Rig) -> list[str]:
    """Return the lines of the approval that waits."""
    (item,) = rig.view.pending
    lines = item["lines"]
    assert isinstance(lines, list | tuple)
    return list(lines)


def header(rig: Rig) -> str:
    return "".join(text for text, _ in rig.view.of(SetHeader)[-1].header)


async def diff(rig: Rig) -> ShowDiff:
    (block,) = [op.block for op in rig.view.of(OpenBlock) if op.kind is BlockKind.TOOL]
    rig.do(intents.RequestDiff("a", block))
    await rig.done()
    return rig.view.of(ShowDiff)[-1]


async def test_what_is_lost_is_seen_before_it_is_let(rig: Rig, path: Path) -> None:
    await hears(rig, ToolRequested(write(path), needs_approval=True))
    assert asked(rig)[-4:] == CHANGE
    shown = await diff(rig)
    assert (shown.before, shown.after, shown.kind) == (BEFORE, AFTER, "changed")
    assert (shown.fault, shown.remark) == (None, None)


async def test_the_diff_is_of_the_file_as_it_is_when_it_opens(rig: Rig, path: Path) -> None:
    await hears(rig, ToolRequested(write(path), needs_approval=True))
    fill(path, "mine\n")
    shown = await diff(rig)
    assert (shown.before, shown.after, shown.fault) == ("mine\n", AFTER, None)


async def test_what_was_told_stays_told(rig: Rig, path: Path) -> None:
    call = write(path)
    agent = await hears(rig, ToolRequested(call, needs_approval=True))
    fill(path, AFTER)
    agent.say("a", ToolRunning(call), ToolFinished(call, total_ms=5))
    await rig.done()
    assert " +1 -1" in header(rig)
    shown = await diff(rig)
    assert (shown.before, shown.after) == (BEFORE, AFTER)


async def test_a_file_that_does_not_exist_is_new(rig: Rig, path: Path) -> None:
    take_away(path)
    await hears(rig, ToolRequested(write(path), needs_approval=True))
    assert asked(rig)[-4:] == ["+one", "+2", "+", "+four"]
    shown = await diff(rig)
    assert (shown.before, shown.after, shown.kind) == ("", AFTER, "new")


async def test_a_call_that_asks_nobody_is_told_by_what_was_seen_early(rig: Rig, path: Path) -> None:
    call = write(path)
    started = eca_call("t", "write_file", origin="native")
    agent = await hears(rig, ToolPreparing(started, f'{{"path": "{path}", "content": "on'))
    fill(path, AFTER)
    agent.say("a", ToolRequested(call), ToolRunning(call), ToolFinished(call))
    await rig.done()
    assert " +1 -1" in header(rig)


async def test_a_call_that_was_heard_too_late_stays_as_it_came(rig: Rig, path: Path) -> None:
    fill(path, AFTER)
    await hears(rig, ToolRequested(write(path)), ToolFinished(write(path)))
    assert " +4 -0" in header(rig)


async def test_a_write_that_changes_nothing_says_so(rig: Rig, path: Path) -> None:
    fill(path, AFTER)
    await hears(rig, ToolRequested(write(path), needs_approval=True))
    (item,) = rig.view.pending
    assert str(item["title"]).endswith("+0 -0")


async def test_another_servers_tool_of_the_name_is_left_alone(rig: Rig, path: Path) -> None:
    call = write(path)
    other = eca_call("t", call.name, "evil", "mcp", arguments=call.arguments, details=call.details)
    await hears(rig, ToolRequested(other, needs_approval=True))
    assert "-two" not in asked(rig)
    assert not rig.view.of(Notify)


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ("a\r\nb\r\n", "a\nb\n", "changes the line ends from CRLF to LF"),
        ("a\nb\n", "a\r\nb\r\n", "changes the line ends from LF to CRLF"),
        ("a\r\nb\n", "a\nb\n", "changes the line ends from mixed to LF"),
        ("a\r\nb\r\n", "a\r\nB\r\n", None),
        ("a", "a\n", None),
    ],
)
async def test_other_line_ends_are_told(
    rig: Rig, path: Path, before: str, after: str, told: str | None
) -> None:
    fill(path, before)
    await hears(rig, ToolRequested(write(path, after), needs_approval=True))
    (item,) = rig.view.pending
    warned = item.get("warnings")
    assert isinstance(warned, list | None)
    assert (told in (warned or [])) == (told is not None)
    assert (await diff(rig)).remark == told


@pytest.mark.parametrize(
    ("before", "old", "new", "diff"),
    [
        ("1\n2\n3\n", "2", "two", [" 1", "-2", "+two", " 3"]),
        ("0\n2\n2\n", "2\n", "two\n", ["-2", "+two"]),
        ("other\n", "2\n", "two\n", ["-2", "+two"]),
        ("0\ntwo\n", "2", "two", [" 0", "-2", "+two"]),
        ("0\r\n1\r\n2\r\n", "1\n2\n", "1\ntwo\n", [" 1", "-2", "+two"]),
        ("1\n2\n", None, "two\n2\n", ["-1", "+two", " 2"]),
        ("2\n", "2\n", "two\n", ["-2", "+two"]),
    ],
)
async def test_texts_without_a_diff_get_one_from_the_file(
    rig: Rig, path: Path, before: str, old: str | None, new: str, diff: list[str]
) -> None:
    fill(path, before)
    change = FileChange(str(path), "", 0, 0, old=old, new=new)
    call = ToolCall("t", kind=ToolKind.EDIT, verb="edit", changes=(change,))
    agent = await hears(rig, ToolRequested(call, needs_approval=True))
    assert asked(rig)[-len(diff) :] == diff
    fill(path, "something else by now\n")
    agent.say("a", ToolRunning(call), ToolFinished(call))
    await rig.done()
    assert header(rig).endswith("+1 -1")


async def test_a_text_that_is_replaced_everywhere_is_found_everywhere(rig: Rig, path: Path) -> None:
    fill(path, "2\n1\n2\n")
    change = FileChange(str(path), "", 0, 0, old="2", new="two", every=True)
    call = ToolCall("t", kind=ToolKind.EDIT, changes=(change,))
    await hears(rig, ToolRequested(call, needs_approval=True))
    assert asked(rig)[-5:] == ["-2", "+two", " 1", "-2", "+two"]


async def test_a_whole_text_without_a_diff_that_came_too_late_is_new(rig: Rig, path: Path) -> None:
    fill(path, AFTER)
    change = FileChange(str(path), "", 0, 0, new=AFTER)
    call = ToolCall("t", kind=ToolKind.EDIT, verb="edit", changes=(change,))
    await hears(rig, ToolRunning(call), ToolFinished(call))
    assert header(rig).endswith("+4 -0")


@pytest.mark.parametrize(
    ("after", "old", "new", "diff"),
    [
        ("0\ntwo\n", "2", "two", "@@ -1,2 +1,2 @@\n 0\n-2\n+two"),
        ("0\n1\n2\n", "1\n", "1\n2\n", "@@ -1,2 +1,3 @@\n 0\n 1\n+2"),
        ("0\ntwo\ntwo\n", "2\n", "two\n", None),
    ],
)
def test_a_change_that_came_too_late_is_found_by_its_new_text(
    path: Path, after: str, old: str, new: str, diff: str | None
) -> None:
    fill(path, after)
    call = ToolCall("t", changes=(FileChange(str(path), "", 0, 0, old=old, new=new),))
    event = with_actual_diff(
        Chat("a"), ToolFinished(call), Trees(Path("/workspace"), None).ledger.seen_before
    )
    assert isinstance(event, ToolFinished)
    assert event.call.changes is not None
    [change] = event.call.changes
    assert (change.diff if change.placed else None) == diff


async def test_a_change_without_a_place_is_no_vimdiff(rig: Rig, path: Path) -> None:
    fill(path, "0\n2\n2\n")
    change = FileChange(str(path), "", 0, 0, old="2\n", new="two\n")
    call = ToolCall("t", kind=ToolKind.EDIT, changes=(change,))
    await hears(rig, ToolRequested(call, needs_approval=True))
    shown = await diff(rig)
    assert (shown.before, shown.after) == ("0\n2\n2\n", "@@ -1 +1 @@\n-2\n+two")
    assert shown.fault == "the replaced text is not in the file, or is there more than once"
