"""Headers and bodies of tool calls."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from tests.chat.driver import Driver, call
from tests.support.calls import eca_call

from eca_nvim.chat.handlers.reducer import apply
from eca_nvim.chat.model.blocks import ToolBlock
from eca_nvim.chat.model.display_settings import DEFAULT_ICONS, RenderSettings
from eca_nvim.chat.render.diff import changes_body
from eca_nvim.chat.render.tool import approval_body, tool_body
from eca_nvim.chat.text.text_differences import hunks_between
from eca_nvim.chat.vocabulary.call_details import (
    FileChange,
    FileName,
    JsonOutputs,
    ShellCommand,
    ShellPart,
    Task,
    TaskList,
    TaskStatus,
    ToolCall,
    ToolKind,
    UnknownDetails,
)
from eca_nvim.chat.vocabulary.events import ToolFinished, ToolRequested
from eca_nvim.chat.vocabulary.ops import SetBody

CALC = "/workspace/src/calc.py"


def shown(tool_call: ToolCall, *outputs: str, failed: bool = False) -> list[str]:
    """Return header and whole body of a finished call."""
    driver = Driver()
    driver.hear(ToolFinished(tool_call, outputs, failed=failed))
    driver.toggle(1, to_open=True)
    return driver.view.lines


@pytest.mark.parametrize(
    ("tool", "arguments", "header"),
    [
        ("read_file", {"path": CALC}, "read src/calc.py"),
        ("read_file", {"path": CALC, "line_offset": 10, "limit": 5}, "read src/calc.py 11-15"),
        ("read_file", {"path": CALC, "line_offset": 10}, "read src/calc.py 11-"),
        ("read_file", {"path": "/etc/hosts"}, "read /etc/hosts outside the workspace"),
        ("read_file", {"path": "/workspaces/x"}, "read /workspaces/x outside the workspace"),
        ("read_file", {"path": ["odd"]}, 'read ["odd"]'),
        ("write_file", {"path": CALC, "content": "x"}, "write src/calc.py"),
        ("edit_file", {"path": CALC}, "edit src/calc.py"),
        ("read_file", {"path": "/workspace/a\n b\x1b[1m"}, "read a␤ b␛[1m"),
        (
            "move_file",
            {"source": CALC, "destination": "/x"},
            "move src/calc.py → /x outside the workspace",
        ),
        ("shell_command", {"command": "make\ntest"}, "$ make test"),
        ("grep", {"path": "/workspace", "pattern": "def"}, "grep def"),
        ("grep", {"path": "/workspace/src", "pattern": "def"}, "grep def in src"),
        ("directory_tree", {"path": "/workspace"}, "tree ."),
        ("ask_user", {"question": "Why?"}, "ask Why?"),
        ("spawn_agent", {"agent": "explorer", "activity": "looking"}, "agent explorer: looking"),
        ("skill", {"name": "eca-info"}, "skill eca-info"),
        ("bg_job", {"action": "kill", "job_id": 3}, "job kill 3"),
        ("editor_diagnostics", {}, "diagnostics"),
    ],
)
def test_known_tools_read_as_people_say_it(
    tool: str, arguments: dict[str, object], header: str
) -> None:
    assert shown(call("t", tool, arguments=arguments))[0] == f"✓ {header}"


def test_unknown_tools_are_named_with_server_and_summary() -> None:
    theirs = eca_call("t", "echo", "mockmcp", "mcp", "Echoing", arguments={"text": "a\nb", "n": 1})
    assert shown(theirs, "out") == [
        "✓ mockmcp/echo Echoing",
        "  text: a",
        "    b",
        "  n: 1",
        "  out",
    ]
    assert shown(call("t", "new_tool", summary="Doing"))[0] == "✓ new_tool Doing"


def test_a_header_stays_one_line_of_bounded_width() -> None:
    header = shown(call("t", "shell_command", arguments={"command": "x\r\n" * 500}))[0]
    assert len(header) < 140
    assert header.endswith("…")


def test_a_shell_line_shows_command_and_output() -> None:
    details = ShellCommand((ShellPart("ls"),), background=True)
    lines = shown(
        call("t", "shell_command", details=details, arguments={"command": "ls \\\n  src"}),
        "Exit code: 0",
        "Stdout:\n\x1b[31mcalc.py\x1b[0m",
    )
    assert lines == [
        "✓ $ ls \\ src in the background",
        "  $ ls \\",
        "      src",
        "  Exit code: 0",
        "  Stdout:",
        "  calc.py",
    ]
    parts = ShellCommand((ShellPart("ls", ("-l",)), ShellPart("pwd", remembered=True)))
    assert shown(call("t", "shell_command", details=parts))[1:] == [
        "  $ ls -l; pwd",
        "  · ls -l",
        "  · pwd    always allowed",
    ]


def test_long_output_says_how_much_is_left() -> None:
    lines = shown(call(arguments={"path": CALC}), "\n".join(map(str, range(500))))
    assert len(lines) == 202
    assert lines[-1] == "  … 300 more lines"


def test_json_and_unknown_details() -> None:
    assert shown(call("t", "x", details=JsonOutputs(('{\n  "a": 1\n}',)))) == [
        "✓ x",
        "  {",
        '    "a": 1',
        "  }",
    ]
    assert shown(call("t", "x", details=UnknownDetails("chart", "1 2 3")), "out")[1:] == [
        "  chart: 1 2 3",
        "  out",
    ]


def test_a_task_list_shows_states_and_blockers() -> None:
    tasks = TaskList(
        (
            Task("1", "First", TaskStatus.DONE, priority="medium"),
            Task("2", "Second", TaskStatus.IN_PROGRESS, priority="high", blocked_by=("1",)),
            Task("3", "Third\nline", priority="low\x1b", blocked_by=("1", "2")),
        ),
        "Doing the second",
    )
    assert shown(call("t", "task", details=tasks), "text") == [
        "▢ tasks 1/3 · Doing the second",
        "  ✓ 1. First",
        "  ◐ 2. Second  high",
        "  ▢ 3. Third line  low␛ · after #2",
    ]
    assert shown(call("t", "task", details=TaskList(tasks.tasks)))[0] == "▢ tasks 1/3 · Second"
    assert shown(call("t", "task", details=TaskList(())))[0] == "✓ tasks cleared"


def test_a_failed_edit_says_why_above_its_diff() -> None:
    change = FileChange(CALC, "@@ -1 +1 @@\n-a\n+b", 1, 1)
    assert shown(call("t", "edit_file", details=change), "not found", failed=True) == [
        "✗ edit src/calc.py +1 -1",
        "  not found",
        "  -a",
        "  +b",
    ]


def test_a_new_file_has_no_removed_line_47() -> None:
    change = FileChange("/workspace/n", "@@ -1,1 +1,2 @@\n-\n+hello\n+world", 2, 0)
    assert list(changes_body((change,), (), 40).lines) == ["+hello", "+world"]
    assert list(changes_body((change,), (), None).lines) == ["@@ -0,0 +1,2 @@", "+hello", "+world"]


def test_a_long_diff_is_cut_and_whole_without_a_limit() -> None:
    change = FileChange("/n", "@@ -0,0 +1,100 @@\n" + "\n".join("+x" for _ in range(100)), 100, 0)
    body = changes_body((change,), (), 40)
    assert len(body.lines) == 41
    assert body.lines[-1] == "… 60 more lines"
    assert max(row for row, *_, group in body.marks if group != "EcaMore") == 39
    assert body.marks[-1] == (40, 0, -1, "EcaMore")
    assert len(changes_body((change,), (), None).lines) == 101


def test_the_user_chooses_how_many_lines_of_a_diff_are_shown() -> None:
    diff = "@@ -0,0 +1,9 @@\n" + "\n".join("+x" for _ in range(9))
    edit = call("e", "edit_file", details=FileChange(CALC, diff, 9, 0))
    driver = Driver()
    driver.hear(ToolRequested(edit, needs_approval=True))
    block = driver.chat.root.blocks[-1]
    assert isinstance(block, ToolBlock)
    settings = RenderSettings(diff_lines=3)
    for body in (tool_body(block, settings, 100), approval_body(block, settings)[0]):
        assert body.lines == ["+x", "+x", "+x", "… 6 more lines"]


def test_changed_words_are_marked_in_bytes() -> None:
    change = FileChange("/n", "@@ -1,2 +1,2 @@\n-grüße = old_name\n-x\n+grüße = new_name\n+y", 2, 2)
    marks = changes_body((change,), (), 40).marks
    assert [mark for mark in marks if mark[3].endswith("Text")] == [
        (0, 11, 14, "EcaDiffDeleteText"),
        (2, 11, 14, "EcaDiffAddText"),
    ]
    assert (0, 0, -1, "EcaDiffDelete") in marks
    assert (3, 0, -1, "EcaDiffAdd") in marks


LETTERS = [*"abcdefghijklm"]
HEAD, TAIL = [" a", "-b", "+B"], ["-l", "+L", " m"]


@pytest.mark.parametrize(
    ("changed", "shown"),
    [
        ("g", [" f", "-g", "+G", " h"]),
        ("bl", ["line 2 · 1/2", *HEAD, " c", "line 12 · 2/2", " k", *TAIL]),
        ("bf", ["line 2 · 1/2", *HEAD, " c", "line 6 · 2/2", " e", "-f", "+F", " g"]),
        ("be", [*HEAD, " c", " d", "-e", "+E", " f"]),
        ("bd", [*HEAD, " c", "-d", "+D", " e"]),
        ("", []),
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_block_shows_every_change_and_the_lines_next_to_it(
    changed: str, shown: list[str], end: str
) -> None:
    before = "".join(letter + end for letter in LETTERS)
    after = "".join((it.upper() if it in changed else it) + end for it in LETTERS)
    change = FileChange("/w/a", *hunks_between(before, after))
    body = changes_body((change,), (), 40)
    assert body.lines == shown
    whole = changes_body((change,), (), None).lines
    assert [it for it in whole if it[0] in "+-"] == [it for it in shown if it[0] in "+-"]
    places = {row: after for row, _path, _before, after in body.places}
    for row, line in enumerate(shown):
        if line.startswith("line"):
            assert line.startswith(f"line {places[row]} ")
        else:
            assert LETTERS[places[row] - 1] == line[1].lower() or line[0] == "-"


def test_changes_of_which_nobody_knows_the_place_are_counted() -> None:
    change = FileChange("/w/a", "@@ -1 +1 @@\n-a\n+b\n@@ -9 +9 @@\n-c\n+d", 2, 2, placed=False)
    shown = ["change · 1/2", "-a", "+b", "change · 2/2", "-c", "+d"]
    assert changes_body((change,), (), 40).lines == shown


def test_a_diff_that_cannot_be_read_is_shown_as_it_came() -> None:
    assert changes_body((FileChange("/n", "junk\r\nmore", 0, 0),), (), 40).lines == [
        "junk␍",
        "more",
    ]


def test_icons_can_be_chosen_and_missing_ones_fall_back() -> None:
    settings = RenderSettings(icons={"done": "+"})
    assert settings.icon("done") == "+"
    assert settings.icon("failed") == DEFAULT_ICONS["failed"]


def test_a_body_names_its_language() -> None:
    driver = Driver()
    change = FileChange(CALC, "@@ -1 +1 @@\n-a\n+b", 1, 1)
    edit = call("e", "edit_file", details=change)
    ops = apply(driver.chat, ToolRequested(edit, needs_approval=True), 0).ops
    bodies = [op for op in ops if isinstance(op, SetBody)]
    assert [body.language for body in bodies] == ["diff"]


@pytest.mark.parametrize(
    ("before", "after", "shown"),
    [
        ("a\nb\n", "a\r\nb\n", ["-a", "+a␍", " b"]),
        ("a\r\nb\n", "a\nb\n", ["-a␍", "+a", " b"]),
        ("", "#!/bin/sh\r\nls\r\n", ["+#!/bin/sh␍", "+ls␍"]),
        ("a\nb\n", "a\r\nb\r\n", ["-a", "-b", "+a␍", "+b␍"]),
        ("a\r\nb\r\n", "a\r\nc\r\n", [" a", "-b", "+c"]),
        ("a\r\nb\r\n", "a\nc\n", [" a", "-b", "+c"]),
    ],
)
def test_lines_that_differ_only_in_their_end_are_not_shown_as_equal(
    before: str, after: str, shown: list[str]
) -> None:
    change = FileChange("/w/a", *hunks_between(before, after))
    lines = changes_body((change,), (), None).lines
    assert [it for it in lines if not it.startswith("@@")] == shown


def test_two_diffs_of_one_file_are_one_file() -> None:
    changes = (FileChange(CALC, "", 1, 0), FileChange(CALC, "", 1, 2))
    assert shown(ToolCall("t", changes=changes))[0].endswith("+2 -2")
    assert "files" not in shown(ToolCall("t", changes=changes))[0]


def test_several_diffs_of_one_file_are_shown_as_one() -> None:
    one, other = (
        FileChange(CALC, f"@@ -{line} +{line} @@\n-{old}\n+{old.upper()}", 1, 1)
        for line, old in ((2, "b"), (12, "l"))
    )
    edit = call("t", "edit_file", details=one)
    driver = Driver()
    driver.hear(ToolRequested(replace(edit, changes=(one, other)), needs_approval=True))
    hunks = ["line 2 · 1/2", "-b", "+B", "line 12 · 2/2", "-l", "+L"]
    assert driver.items[0]["lines"] == hunks
    aside = FileChange("/workspace/n", "@@ -0,0 +1 @@\n+x", 1, 0)
    counted = [it.replace("/2", "/3") for it in hunks]
    all_of_it = [CALC, *counted, aside.path, "line 1 · 3/3", "+x"]
    assert changes_body((one, aside, other), (), 40).lines == all_of_it
    bad = FileChange(CALC, "junk", 0, 0)
    assert changes_body((one, bad), (), 40).lines == ["-b", "+B", "junk"]
    whole = changes_body((one, other), (), None).lines
    assert whole == ["@@ -2,1 +2,1 @@", "-b", "+B", "@@ -12,1 +12,1 @@", "-l", "+L"]


def test_the_only_file_of_several_diffs_is_told_if_the_header_does_not_name_it() -> None:
    change = FileChange("/workspace/n", "@@ -1 +1 @@\n-a\n+b", 1, 1)
    named = ToolCall("t", kind=ToolKind.EDIT, title=(FileName(CALC),), changes=(change, change))
    driver = Driver()
    driver.hear_exactly(ToolRequested(named, needs_approval=True))
    hunks = ["line 1 · 1/2", "-a", "+b", "line 1 · 2/2", "-a", "+b"]
    assert driver.items[0]["lines"] == ["path: /workspace/n", *hunks]
