"""The user approves what is shown: a request leaves nothing of its call out."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from tests.chat.driver import Driver, call, remembered
from tests.support.calls import eca_call

from eca_nvim.chat.model.calls import changed_paths, is_native, may_change, moved, read_paths
from eca_nvim.chat.text.output import document, indented, value_lines
from eca_nvim.chat.vocabulary.call_details import (
    Details,
    FileChange,
    ShellCommand,
    ShellPart,
    Subagent,
    ToolCall,
)
from eca_nvim.chat.vocabulary.events import ToolFinished, ToolPreparing, ToolRequested

CHANGE = FileChange("/workspace/a.py", "@@ -1 +1 @@\n-old\n+new", 1, 1)
DEEP = "/workspace/" + "averyverylongfoldername/" * 8 + ".git/hooks/pre-commit"


def asked(tool_call: ToolCall, *folders: str) -> Mapping[str, Any]:
    """Return the item of a call that waits; its block shows the same lines."""
    driver = Driver(folders or ("/workspace",))
    driver.hear(ToolRequested(tool_call, needs_approval=True))
    item = driver.items[0]
    assert driver.view.blocks[0].body == item["lines"]
    return item


def theirs(
    name: str, arguments: Mapping[str, object], details: Details | FileChange | None = None
) -> ToolCall:
    return eca_call("m", name, "files", "mcp", details=details, arguments=arguments)


def test_where_a_command_runs_is_shown_before_it_and_how_between_it_and_its_parts() -> None:
    parts = ShellCommand((ShellPart("cd", ("src",), "cd"), ShellPart("make", (), "make")))
    arguments = {
        "command": "cd src\nmake",
        "working_directory": "/workspace/deep",
        "timeout": 600_000,
        "background": "dev server",
    }
    item = asked(call("c", "shell_command", arguments=arguments, details=parts))
    assert item["lines"] == [
        "working_directory: /workspace/deep",
        "$ cd src",
        "  make",
        "timeout: 600000",
        "background: dev server",
        "· cd src  always allow: cd",
        "· make    always allow: make",
    ]


def test_a_command_that_is_no_text_is_shown_as_it_is() -> None:
    item = asked(call("c", "shell_command", arguments={"command": ["ls"]}))
    assert "titled" not in item
    assert item["lines"] == ["$ ", 'command: ["ls"]']


def test_the_task_of_a_subagent_is_shown() -> None:
    arguments = {"agent": "explorer", "task": "DiskWarnings\nand delete", "activity": "reading"}
    item = asked(
        call("s", "spawn_agent", arguments=arguments, details=Subagent("explorer", "child"))
    )
    assert item["title"] == "agent explorer: reading"
    assert item["lines"] == ["explorer", "task: DiskWarnings", "  and delete", "activity: reading"]


def test_a_subagent_that_is_not_the_one_asked_for_is_told() -> None:
    arguments = {"agent": "other", "task": "x"}
    item = asked(call("s", "spawn_agent", arguments=arguments, details=Subagent("explorer")))
    assert item["lines"] == ["explorer", "agent: other", "task: x"]


def test_a_diff_stands_under_what_it_does_not_tell() -> None:
    arguments = {
        "path": "/workspace/a.py",
        "original_content": "old",
        "new_content": "new",
        "all_occurrences": True,
    }
    item = asked(call("e", "edit_file", arguments=arguments, details=CHANGE))
    assert item["lines"] == ["all_occurrences: true", "-old", "+new"]


def test_arguments_beside_a_diff_are_whole() -> None:
    arguments = {"path": "/workspace/a.py", "why": "\n".join(map(str, range(300)))}
    driver = Driver()
    driver.hear(
        ToolRequested(call("e", "edit_file", arguments=arguments, details=CHANGE), True),
    )
    lines = driver.items[0]["lines"]
    assert isinstance(lines, list)
    assert lines[298:301] == ["  298", "  299", "-old"]


def test_a_change_of_another_file_than_the_one_named_is_told() -> None:
    arguments = {"path": "/workspace/b.py", "content": "new"}
    item = asked(call("e", "write_file", arguments=arguments, details=CHANGE))
    assert item["lines"][:2] == ["changes: /workspace/a.py", "path: /workspace/b.py"]


def test_a_file_of_another_folder_has_its_whole_path() -> None:
    change = FileChange("/other/a.py", CHANGE.diff, 1, 1)
    edit = call("e", "edit_file", arguments={"path": "/other/a.py"}, details=change)
    item = asked(edit, "/workspace", "/other")
    assert item["title"] == "edit /other/a.py +1 -1"
    assert item["lines"] == ["-old", "+new"]


@pytest.mark.parametrize("details", [None, FileChange(DEEP, "@@ -0,0 +1,1 @@\n+x", 1, 0)])
def test_a_long_path_keeps_its_name_and_is_told_whole(details: FileChange | None) -> None:
    item = asked(call("w", "write_file", arguments={"path": DEEP, "content": "x"}, details=details))
    title = str(item["title"]).removesuffix(" +1 -0")
    assert title.startswith("write averyverylongfoldername/")
    assert title.endswith("/.git/hooks/pre-commit")
    assert "…" in title
    assert len(title) <= 126
    assert item["lines"][0] == f"path: {DEEP}"


def test_both_ends_of_a_long_move_are_named() -> None:
    source, destination = DEEP, DEEP.replace("pre-commit", "post-commit")
    item = asked(call("m", "move_file", arguments={"source": source, "destination": destination}))
    first, second = str(item["title"]).split(" → ")
    assert first.endswith("/pre-commit")
    assert second.endswith("/post-commit")
    assert item["lines"] == [f"source: {source}", f"destination: {destination}"]


@pytest.mark.parametrize("name", ["shell_command", "git"])
def test_the_tool_of_another_server_is_not_taken_for_ours(name: str) -> None:
    arguments = {"command": "rm -rf x", "host": "prod", "then": "reboot"}
    item = asked(theirs(name, arguments, ShellCommand((ShellPart("rm", ("x",), "rm"),))))
    assert item["title"] == item["tool"] == f"files/{name}"
    assert item["lines"] == ["command: rm -rf x", "host: prod", "then: reboot"]
    assert "titled" not in item
    assert remembered(item) == [f"any rm of {name}"]


def test_the_diff_of_another_servers_tool_stands_under_all_its_arguments() -> None:
    arguments = {"path": "/workspace/a.py", "content": "new\n", "mode": "0777"}
    item = asked(theirs("write_file", arguments, CHANGE))
    assert item["title"] == "files/write_file +1 -1"
    assert item["lines"][:5] == [
        "path: /workspace/a.py",
        "content: new",
        "",
        "mode: 0777",
        "-old",
    ]


def test_the_subagent_of_another_server_shows_all_it_is_given() -> None:
    item = asked(theirs("spawn_agent", {"agent": "explorer"}, Subagent("explorer")))
    assert "agent: explorer" in item["lines"]


@pytest.mark.parametrize(
    ("server", "origin", "native"),
    [
        ("eca", "native", True),
        (None, "native", True),  # as older servers send it
        ("eca", None, True),
        (None, None, True),
        ("files", "mcp", False),
        ("files", None, False),
        ("eca", "mcp", False),  # a server may have any name
        (None, "unknown", False),
        ("llm", "server", False),
    ],
)
def test_whose_a_tool_is(server: str | None, origin: str | None, native: bool) -> None:
    assert is_native(eca_call("t", "shell_command", server, origin)) is native


def test_what_another_servers_tool_does_is_not_known_by_its_name() -> None:
    paths = {"path": "/a", "source": "/a", "destination": "/b"}
    move = theirs("move_file", paths)
    assert moved(move) is None
    assert changed_paths(move) == ()
    assert may_change(theirs("read_file", paths))
    assert read_paths(theirs("read_file", paths)) == ()
    assert moved(call("m", "move_file", arguments=paths)) == ("/a", "/b")


def test_another_servers_reads_are_not_joined() -> None:
    driver = Driver()
    reads = [theirs("read_file", {"path": "/workspace/a"}) for _ in range(2)]
    driver.hear(*(ToolFinished(it) for it in reads))
    assert driver.view.lines == ["✓ files/read_file"]


def test_arguments_are_json_and_texts_are_lines() -> None:
    arguments = {
        "path": "/workspace/a.py",
        "edits": [{"oldText": "def a():\n    pass\n", "newText": 'say "\\n"'}],
        "dryRun": False,
        "opts": None,
        "env": {"A": "B", "n": 1.5},
        "text": "one\n two",
        "nothing": "",
    }
    assert asked(theirs("edit_file", arguments))["lines"] == [
        "path: /workspace/a.py",
        "edits: [",
        "    {",
        '      "oldText": "def a():\\n',
        "        │     pass\\n",
        '        │ ",',
        '      "newText": "say \\"\\\\n\\""',
        "    }",
        "  ]",
        "dryRun: false",
        "opts: null",
        'env: {"A": "B", "n": 1.5}',
        "text: one",
        "   two",
        'nothing: ""',
    ]


def test_a_name_cannot_be_taken_for_a_name_and_a_value() -> None:
    arguments = {"working_directory: /safe": "x", "a\nb": "\x1b[8mz\u202e", "": 1}
    assert asked(theirs("x", arguments))["lines"] == [
        '"working_directory: /safe": x',
        '"a\\nb": ␛[8mz<U+202E>',
        '"": 1',
    ]


def test_json_that_is_nested_too_deeply_says_so_or_is_one_line() -> None:
    """Indented, it would be 50 MB of blanks. Python 3.14 encodes what older ones refuse."""
    deep: list[Any] = []
    for _ in range(4999):
        deep = [deep]
    assert value_lines(deep) in (["[" * 5000 + "]" * 5000], ["… nested too deeply to be shown"])
    text = "[" * 201 + "]" * 201
    assert document(json.loads(text)) == indented(text) == text
    assert document(json.loads(text[1:-1])) == indented(text[1:-1]) != text[1:-1]


def test_values_that_are_no_text_are_json_in_a_header_too() -> None:
    item = asked(call("r", "read_file", arguments={"path": ["odd", True]}))
    assert item["title"] == 'read ["odd", true]'


@pytest.mark.parametrize(
    ("tool_call", "keys"),
    [
        (call("e", "edit_file"), ["any edit_file on any server"]),
        (theirs("edit_file", {}), ["any edit_file on any server"]),
        (eca_call("e", "edit_file", None, "native"), None),  # from servers that cannot remember
        (call("s", "shell_command"), None),  # nothing is remembered of a line that cannot be parsed
        (call("g", "git"), None),
        (theirs("shell_command", {}), None),
        (eca_call("u", "eca__gone", None, "unknown"), None),
        (eca_call("u"), None),
    ],
)
def test_exactly_what_the_agent_would_keep_is_named_48(
    tool_call: ToolCall, keys: Sequence[str] | None
) -> None:
    assert remembered(asked(tool_call)) == keys


def test_a_tool_that_was_already_unknown_while_it_was_written_is_told_11() -> None:
    driver = Driver()
    driver.hear(
        ToolPreparing(eca_call("u", "eca__gone", None, "unknown"), ""),
        ToolRequested(eca_call("u", arguments={"a": 1}), needs_approval=True),
    )
    item = driver.items[0]
    assert item["title"] == "eca__gone"
    assert item["warnings"] == ["the server has no such tool, or it is switched off"]


@pytest.mark.parametrize("command", ["ls", "a  b\n c", "x" * 500])
def test_a_command_says_that_it_is_its_title(command: str) -> None:
    item = asked(call("c", "shell_command", arguments={"command": command}))
    assert item["titled"] is True
    assert [line[2:] for line in item["lines"]] == command.split("\n")


def test_a_git_command_reads_as_one() -> None:
    item = asked(call("g", "git", arguments={"command": "git push", "operation": "push"}))
    assert item["title"] == "$ git push"
    assert item["lines"] == ["$ git push", "operation: push"]
    assert item["titled"] is True


def test_what_is_remembered_of_a_wide_command_stands_beside_it() -> None:
    wide = "one two three four five six seven"
    parts = (ShellPart("cd", ("src",), "cd"), ShellPart("echo", (wide,), "echo"))
    item = asked(
        call("c", "shell_command", arguments={"command": "x"}, details=ShellCommand(parts))
    )
    assert item["lines"][1:] == [
        "· cd src  always allow: cd",
        f"· echo {wide}  always allow: echo",
    ]
