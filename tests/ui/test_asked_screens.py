"""Screens of the float for requests as the host words them, at 80 and at 160 columns."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.chat.driver import all_pending
from tests.support.calls import eca_call
from tests.support.factories import StartNeovim
from tests.support.golden import assert_golden
from tests.support.screen import Value
from tests.ui.staged import CHAT, WITHOUT_HOST, chat_text, draw
from tests.ui.test_approval_screens import floating

from eca_nvim.agents.eca.contents import choices
from eca_nvim.chat.handlers.reducer import apply
from eca_nvim.chat.model.chat import Chat
from eca_nvim.chat.model.display_settings import RenderSettings
from eca_nvim.chat.vocabulary.call_details import (
    Details,
    FileChange,
    ShellCommand,
    ShellPart,
    Subagent,
    ToolCall,
)
from eca_nvim.chat.vocabulary.events import ToolRequested

GOLDEN = Path(__file__).parent / "golden" / "asked"
DEEP = "/workspace/" + "/".join(["averyverylongfoldername"] * 6) + "/.git/hooks/pre-commit"
HOOK = FileChange(DEEP, "@@ -1,1 +1,2 @@\n-\n+#!/bin/sh\n+rm -rf build", 2, 0)
SEVERAL = (
    "cd  src   &&\nrm -rf ./*  &&\n\n  echo 'one two three four five six seven eight nine ten'"
)
PARTS = ShellCommand(
    (
        ShellPart("cd", ("src",), "cd", remembered=True),
        ShellPart("rm", ("-rf", "./*"), "rm"),
        ShellPart("echo", ("one two three four five six seven eight nine ten",), "echo"),
    )
)
EDITS = [{"oldText": "def a():\n    pass\n", "newText": "def a():\n    import os\n"}]


def native(
    name: str, arguments: Mapping[str, object], details: Details | FileChange | None = None
) -> ToolCall:
    return eca_call("t", name, "eca", "native", details=details, arguments=arguments)


CALLS: Mapping[str, ToolCall] = {
    "shell_elsewhere": native(
        "shell_command",
        {
            "command": "make clean",
            "working_directory": "/workspace/src/deep",
            "timeout": 600_000,
            "background": "dev server",
        },
        ShellCommand((ShellPart("make", ("clean",), "make clean"),), background=True),
    ),
    "shell_of_many_lines": native("shell_command", {"command": SEVERAL}, PARTS),
    "shell_of_another_server": eca_call(
        "t",
        "shell_command",
        "tools",
        "mcp",
        details=ShellCommand((ShellPart("ls", (), "ls"),)),
        arguments={"command": "ls", "host": "prod.example.com", "then": "rm -rf /"},
    ),
    "nested_json": eca_call(
        "t",
        "edit_file",
        "filesystem",
        "mcp",
        arguments={"path": "/workspace/a.py", "edits": EDITS, "dryRun": False, "opts": None},
    ),
    "subagent_task": native(
        "spawn_agent",
        {"agent": "explorer", "task": "Read all of src.\nThen delete it.", "activity": "reading"},
        Subagent("explorer", "child", model="anthropic/claude-sonnet-4-5"),
    ),
    "long_path": native("write_file", {"path": DEEP, "content": "#!/bin/sh\nrm -rf build"}, HOOK),
    "edit": native(
        "edit_file",
        {"path": "/workspace/a.py", "original_content": "old", "new_content": "new"},
        FileChange("/workspace/a.py", "@@ -1 +1 @@\n-old\n+new", 1, 1),
    ),
    "unknown_tool": eca_call("t", origin="unknown", arguments={"path": "/etc/passwd", "depth": 3}),
}


def waiting(call: ToolCall) -> list[Value]:
    """Return the op by which the host tells that a call waits."""
    chat = Chat(CHAT, RenderSettings(folders=("/workspace",)))
    apply(chat, ToolRequested(call, needs_approval=True, choices=choices(call)), 0)
    return ["pending", all_pending([chat]).items]


@pytest.mark.either_nvim
@pytest.mark.parametrize("columns", [80, 160])
@pytest.mark.parametrize("state", CALLS)
def test_what_a_call_asks_for_is_seen(start_nvim: StartNeovim, state: str, columns: int) -> None:
    nvim = start_nvim(init=WITHOUT_HOST, columns=columns, lines=36)
    nvim.lua("require('eca').open({ chat = ... })", CHAT)
    draw(nvim, *chat_text("hello"), waiting(CALLS[state]))
    nvim.wait_screen("allow this?")
    nvim.keys("")
    assert_golden(floating(nvim.screen), GOLDEN / f"{state}_{columns}.txt")


def test_a_command_is_shown_once_and_whole(start_nvim: StartNeovim) -> None:
    nvim = start_nvim(init=WITHOUT_HOST, columns=160, lines=36)
    draw(nvim, waiting(CALLS["shell_of_many_lines"]))
    shown = floating(nvim.wait_screen("allow this?"))
    assert shown.count("one two three four") == 2  # in the command, and as one of its parts
    assert "$ cd  src   &&" in shown
    assert "$ cd src &&" not in shown
