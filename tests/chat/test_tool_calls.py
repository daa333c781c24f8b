"""Tool calls in all states; numbers are findings about real servers."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from tests.chat.driver import ENDED, Driver, call, remembered
from tests.support.calls import eca_call

from eca_nvim.chat.model.blocks import ToolBlock
from eca_nvim.chat.text.diffs import parse_hunks
from eca_nvim.chat.vocabulary.call_details import FileChange, ShellCommand
from eca_nvim.chat.vocabulary.events import (
    ToolFinished,
    ToolPreparing,
    ToolRejected,
    ToolRequested,
    ToolRunning,
)
from eca_nvim.chat.vocabulary.ops import FilesChanged, ShowPlace
from eca_nvim.chat.vocabulary.states import CallState
from eca_nvim.chat.vocabulary.turn_events import Job, JobState

PATH = {"path": "/workspace/src/calc.py"}
MOVED = ("/w/a", "/w/b")


def test_a_call_goes_all_the_way() -> None:
    driver = Driver()
    driver.run()
    driver.hear(ToolPreparing(call(summary="Reading file")))
    assert driver.view.lines[-1] == "… read Reading file"
    driver.hear(ToolPreparing(call(), '{"path": "/workspace/sr'))
    assert driver.view.lines[-1] == "… read Reading file"
    driver.hear(ToolPreparing(call(), 'c/calc.py", "lim'))
    assert driver.view.lines[-1] == "… read src/calc.py"
    driver.hear(ToolRequested(call(arguments={**PATH, "limit": 80})))
    assert driver.view.lines[-1] == "… read src/calc.py 1-80"
    driver.hear(ToolRunning(call()))
    driver.tick(3400)
    assert driver.view.lines[-1] == "● read src/calc.py 1-80  3s"
    driver.hear(ToolFinished(call(), ("def add",), total_ms=3500))
    assert driver.view.lines[-1] == "✓ read src/calc.py 1-80  3s"
    driver.toggle(2)
    assert driver.view.lines[-1] == "  def add"


def test_a_call_that_is_written_keeps_no_pieces_of_its_arguments() -> None:
    driver = Driver()
    driver.run()
    driver.hear(*(ToolPreparing(call(), piece) for piece in '{"path": "a"}'))
    (block,) = driver.chat.live.values()
    assert isinstance(block, ToolBlock)
    assert block.arguments.text == '{"path": "a"}'
    driver.hear(ToolRequested(call(arguments={"path": "a"})))
    assert not block.arguments.chunks


def test_parallel_calls_keep_apart() -> None:
    driver = Driver()
    driver.run()
    driver.hear(ToolPreparing(call("a"), '{"path": "/workspace/a"'))
    driver.hear(ToolPreparing(call("b"), '{"path": "/workspace/b"'))
    driver.hear(ToolRequested(call("a"), needs_approval=True), ToolRequested(call("b")))
    driver.hear(ToolRunning(call("b")), ToolFinished(call("b"), total_ms=300))
    assert driver.state == "waiting"
    assert driver.view.lines[1:] == ["? read a waiting", "✓ read b  0.3s"]


def test_a_failed_call_opens_to_ten_lines_and_to_all_by_hand() -> None:
    driver = Driver()
    output = "\n".join(f"line {number}" for number in range(30))
    driver.hear(ToolFinished(call(arguments=PATH), (output,), failed=True, total_ms=1))
    assert driver.view.lines[0] == "✗ read src/calc.py"
    assert driver.view.lines[1:] == [
        *(f"  line {number}" for number in range(10)),
        "  … 20 more lines",
    ]
    driver.toggle(1, to_open=True)
    assert len(driver.view.lines) == 31


def test_the_users_toggle_wins_over_what_happens_by_itself() -> None:
    driver = Driver()
    driver.hear(ToolRequested(call(arguments=PATH)))
    driver.toggle(1)
    driver.hear(ToolRunning(call()), ToolFinished(call(), ("text",)))
    assert driver.view.lines == ["✓ read src/calc.py", "  text"]
    driver.hear(ToolRequested(call("t2", arguments=PATH), needs_approval=True))
    driver.toggle(2)
    driver.hear(ToolFinished(call("t2"), ("no",), failed=True))
    assert driver.view.lines[-1] == "✗ read src/calc.py"


def test_a_long_silent_call_of_a_tool_server_names_the_way_out() -> None:
    driver = Driver()
    driver.run()
    tool = eca_call("t1", "search", "web", "mcp")
    driver.hear(ToolRequested(tool), ToolRunning(tool))
    driver.tick(29_000)
    assert driver.view.lines[-1] == "● web/search  29s"
    driver.tick(1_000)
    hint = "no answer yet: :Eca stop, then :Eca mcp restarts its server"
    assert driver.view.lines[-1] == f"● web/search · {hint}  30s"
    driver.hear(ToolFinished(tool, ("found",), total_ms=31_000))
    assert driver.view.lines[-1] == "✓ web/search  31s"


@pytest.mark.parametrize("written", ['{"pa', "\ud83d"])
def test_a_prepared_call_without_follow_up_ends_with_the_turn_10(written: str) -> None:
    driver = Driver()
    driver.run()
    driver.hear(ToolPreparing(call(), written), ENDED)
    assert driver.view.lines[-2] == "✗ read"
    driver.tick(1000)
    assert driver.chat.live == {}


def test_a_tool_without_a_name_can_be_answered_11() -> None:
    driver = Driver()
    driver.run()
    driver.hear(ToolRequested(eca_call("u", arguments={"a": 1}), needs_approval=True))
    assert driver.view.lines[1:] == ["? unknown tool waiting", "  a: 1"]
    assert remembered(driver.items[0]) is None
    assert "tool" not in driver.items[0]


def test_a_result_without_a_request_replays_with_nothing_known_24() -> None:
    driver = Driver()
    driver.hear(ToolFinished(eca_call("x")))
    assert driver.view.lines == ["✓ unknown tool"]


def test_a_call_denied_by_the_configuration_7() -> None:
    driver = Driver()
    driver.run()
    driver.hear(ToolRequested(call(arguments=PATH)), ToolRejected(call(), "user"))
    assert driver.view.lines[-1] == "⊘ read src/calc.py rejected"
    assert not driver.view.fired("EcaApprovalRequested")


def test_what_comes_after_the_end_changes_no_state() -> None:
    driver = Driver()
    driver.run()
    driver.hear(ToolRequested(call(), needs_approval=True), ToolRejected(call()))
    driver.hear(ToolFinished(call(arguments=PATH), ("late",)), ToolRunning(call()))
    driver.hear(ENDED, ToolPreparing(call(), "{"), ToolRejected(call()))
    assert driver.view.lines[1:] == ["⊘ read rejected"]
    assert driver.items == []


def test_the_result_of_a_stopped_call_is_the_truth() -> None:
    driver = Driver()
    driver.run()
    driver.hear(ToolRunning(call()), ENDED, ToolFinished(call(), ("done",)))
    assert driver.view.lines[-1] == "✓ read"


def test_what_is_said_again_is_kept_once() -> None:
    """A server says a diff with each step of its call: only one of them stays."""
    change = FileChange(PATH["path"], "@@ -1 +1 @@\n-a\n+b", 1, 1)
    driver = Driver()
    driver.run()
    said = [call(arguments={**PATH, "n": 1}, details=replace(change)) for _ in range(3)]
    driver.hear(ToolRequested(said[0]))
    known = driver.chat.root.calls[said[0].id].call
    driver.hear(ToolRunning(said[1]), ToolFinished(said[2], ("done",)))
    block = driver.chat.root.calls[said[0].id]
    assert (block.state, block.call is known) == (CallState.DONE, True)


def test_what_only_python_takes_for_the_same_is_new() -> None:
    driver = Driver()
    driver.run()
    driver.hear(ToolPreparing(call(arguments={"limit": 1, "path": "/a"})))
    driver.hear(ToolPreparing(call(arguments={"limit": True, "path": "/a"})))
    (block,) = driver.chat.root.calls.values()
    assert block.call.arguments is not None
    assert block.call.arguments["limit"] is True


def test_running_may_repeat_12() -> None:
    driver = Driver()
    driver.run()
    driver.hear(ToolRunning(call()))
    driver.now += 2000
    driver.hear(ToolRunning(call(arguments=PATH)))
    assert driver.view.lines[-1] == "● read src/calc.py  2s"


def test_the_price_of_a_chunk_does_not_grow_with_the_arguments() -> None:
    driver = Driver()
    driver.hear(ToolPreparing(call(name="write_file"), '{"path": "/workspace/a", "content": "'))
    before = len(driver.view.lines)
    driver.hear(*(ToolPreparing(call(name="write_file"), "x" * 100) for _ in range(25)))
    assert driver.view.lines == ["… write a 2k characters"]
    assert before == 1
    driver.toggle(1)
    driver.hear(*(ToolPreparing(call(name="write_file"), "y" * 100) for _ in range(25)))
    shown = driver.view.lines[1]
    driver.hear(ToolPreparing(call(name="write_file"), "z"))
    assert driver.view.lines[1] == shown, "an open body of long arguments waits for the end"


@pytest.mark.parametrize(
    ("tool", "arguments", "paths", "moved"),
    [
        ("write_file", {"path": "/w/a"}, ("/w/a",), None),
        ("move_file", {"source": "/w/a", "destination": "/w/b"}, MOVED, MOVED),
        ("shell_command", {"command": "make"}, (), None),
        (None, {}, (), None),
    ],
)
def test_what_a_call_changed_is_told(
    tool: str | None,
    arguments: dict[str, object],
    paths: tuple[str, ...],
    moved: tuple[str, str] | None,
) -> None:
    driver = Driver()
    driver.hear(ToolFinished(call("t", tool, arguments=arguments)))
    assert driver.view.other == [FilesChanged("chat", paths, moved)]
    assert driver.view.fired("EcaFileChanged") == [{"chat": "chat", "path": path} for path in paths]


def test_details_name_the_file_too_and_reading_changes_nothing() -> None:
    driver = Driver()
    change = FileChange("/w/x", "@@ -1 +1 @@\n-a\n+b", 1, 1)
    driver.hear(ToolFinished(call("a", "some_edit", details=change)))
    assert driver.view.other[0] == FilesChanged("chat", ("/w/x",))
    told = len(driver.view.other)
    driver.hear(ToolFinished(call("b", arguments=PATH)))
    driver.hear(ToolFinished(call("c", "write_file", arguments=PATH), failed=True))
    assert len(driver.view.other) == told


def test_the_place_of_a_change_is_told_before_and_after() -> None:
    driver = Driver(follow=True)
    diff = "@@ -3,4 +3,5 @@\n same\n-a\n-b\n+c\n+d\n+e\n same"
    details = FileChange("/w/x", diff, 3, 2)
    edit = eca_call("a", "edit_file", arguments={"path": "/w/x"}, details=details)
    driver.hear(ToolRequested(edit))
    assert driver.view.other == [ShowPlace("chat", "/w/x", [(4, 2)], done=False)]
    driver.hear(ToolFinished(eca_call("a")))
    assert driver.view.other[-1] == ShowPlace("chat", "/w/x", [(4, 3)], done=True)


def test_a_diff_is_not_read_as_long_as_nobody_looks_at_it() -> None:
    driver = Driver()
    details = FileChange("/w/x", "@@ -1 +1 @@\n-unread\n+unseen", 1, 1)
    edit = eca_call("a", "edit_file", arguments={"path": "/w/x"}, details=details)
    before = parse_hunks.cache_info()
    driver.hear(ToolRequested(edit), ToolFinished(eca_call("a")))
    assert parse_hunks.cache_info() == before
    assert driver.view.other == [FilesChanged("chat", ("/w/x",))]


@pytest.mark.parametrize("later", [{}, None])
def test_what_is_known_stays_when_later_messages_have_empty_arguments(
    later: dict[str, object] | None,
) -> None:
    driver = Driver()
    driver.run()
    driver.hear(ToolPreparing(call(), '{"path": "/workspace/src/calc.py", "lim'))
    empty = call(arguments=later)
    driver.hear(ToolRequested(empty), ToolRunning(empty), ToolFinished(empty))
    assert driver.view.lines[-1] == "✓ read src/calc.py"


@pytest.mark.parametrize(
    ("job", "shown"),
    [
        (Job("", JobState.RUNNING), "● $ sleep 7 in the background"),
        (Job("", JobState.COMPLETED, 0), "✓ $ sleep 7 in the background  7s"),
        (Job("", JobState.FAILED, 3), "✗ $ sleep 7 in the background exit 3  7s"),
        (Job("", JobState.KILLED), "⊘ $ sleep 7 in the background killed  7s"),
    ],
)
def test_a_call_shows_how_its_job_goes_on(job: Job, shown: str) -> None:
    driver = Driver()
    driver.run()
    background = ShellCommand((), background=True)
    arguments = {"command": "sleep 7"}
    tool = eca_call("t1", "shell_command", "eca", "native", details=background, arguments=arguments)
    driver.hear(ToolRequested(tool), ToolRunning(tool), Job("", call_id="t1"))
    driver.hear(ToolFinished(tool, ("started",), total_ms=2000))
    assert driver.view.lines[-1] == "● $ sleep 7 in the background"
    driver.hear(ENDED)
    driver.tick(7000)
    for again in (job, job):
        driver.hear(replace(again, call_id="t1"), replace(again, call_id="other"))
    assert driver.view.lines[-1] == shown
