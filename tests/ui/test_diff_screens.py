"""Screens of every state of the diff tab page, at 80 and at 160 columns."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.support.editor import Neovim
from tests.support.factories import AssertScreen, PrepareScript, StartNeovim
from tests.support.screen import Value
from tests.support.script import expect, handshake, turn
from tests.ui.talk import asks, say, start_chat

BEFORE = "import sys\n\n\ndef add(a, b):\n    return a + b\n"
DEEP = "$workspace/some/other/rather/long/folder/for/the/helpers_of_the_calculator.py"
EDIT = "@@ -4,2 +4,3 @@\n def add(a, b):\n-    return a + b\n+    # both\n+    return b + a"


def change(diff: str, path: str = "$workspace/code.py") -> Mapping[str, Value]:
    """Return the fields of a call that changes a file."""
    details = {"type": "fileChange", "path": path, "diff": diff}
    counts = {"linesAdded": 1, "linesRemoved": 1}
    return {"name": "edit_file", "arguments": {"path": path}, "details": {**details, **counts}}


def move(destination: str) -> Mapping[str, Value]:
    places = {"source": "$workspace/code.py", "destination": destination}
    return {"name": "move_file", "arguments": places}


EMPTY = ("new_file", "deletion")
"""One side has no text: an older Neovim compares it as an empty line."""
PLAIN = "set showtabline=0 statusline=%t diffopt=internal,filler,closeoff"
"""What differs from one Neovim to another; the tab line names the chat by a part of its id."""
REMOVAL = "@@ -1,5 +0,0 @@\n-" + BEFORE.rstrip("\n").replace("\n", "\n-")
STATES: Mapping[str, Mapping[str, Value]] = {
    "change": change(EDIT),
    "new_file": change("@@ -0,0 +1,2 @@\n+one\n+two", "$workspace/new.py"),
    "deletion": change(REMOVAL),
    "move": move("$workspace/lib.py"),
    "move_onto_a_file": move(DEEP),
    "does_not_apply": change("@@ -1234,2 +1234,2 @@\n other\n-thing\n+stuff"),
    "unsaved_buffer": change(EDIT),
}


@pytest.fixture
def files(workspace: Path) -> Path:
    (workspace / "code.py").write_text(BEFORE)
    taken = Path(DEEP.replace("$workspace", str(workspace)))
    taken.parent.mkdir(parents=True)
    taken.write_text("precious\n")
    return workspace


def open_diff(nvim: Neovim) -> None:
    say(nvim, "go")
    nvim.wait_screen("allow this?")
    nvim.keys(":Eca diff<CR>")
    nvim.wait_until("vim.fn.tabpagenr('$') == 2")
    nvim.keys("")


@pytest.mark.either_nvim
@pytest.mark.parametrize("columns", [80, 160])
@pytest.mark.parametrize("state", STATES)
def test_what_is_proposed_is_seen_whole(
    start_nvim: StartNeovim,
    scripted_server: PrepareScript,
    assert_screen: AssertScreen,
    files: Path,
    state: str,
    columns: int,
) -> None:
    asking = asks("call", **STATES[state])
    server = scripted_server(handshake(), turn(asking, expect("chat/toolCallApprove")))
    nvim = start_chat(start_nvim, server, "code.py", columns=columns, lines=24)
    if state == "unsaved_buffer":
        nvim.lua("vim.api.nvim_buf_set_lines(vim.fn.bufnr('code.py'), 0, 1, true, { 'mine' })")
    nvim.command(PLAIN)
    open_diff(nvim)
    old = state in EMPTY and nvim.eval("has('nvim-0.11')") == 0
    assert_screen(nvim, f"diff/{state}_{columns}{'_old' if old else ''}")


@pytest.mark.parametrize("columns", [80, 160])
def test_a_move_onto_a_file_is_told_in_the_float_too(
    start_nvim: StartNeovim,
    scripted_server: PrepareScript,
    assert_screen: AssertScreen,
    files: Path,
    columns: int,
) -> None:
    asking = asks("call", **STATES["move_onto_a_file"])
    server = scripted_server(handshake(), turn(asking, expect("chat/toolCallApprove")))
    nvim = start_chat(start_nvim, server, "code.py", columns=columns, lines=24)
    say(nvim, "go")
    screen = nvim.wait_screen("there is a file already")
    assert "DiagnosticWarn" in screen.groups_at(*screen.find("there is a file already"))


def test_a_block_that_changes_nothing_leads_to_what_is_asked(
    start_nvim: StartNeovim, scripted_server: PrepareScript, files: Path
) -> None:
    asking = asks("call", **STATES["change"])
    server = scripted_server(handshake(), turn(asking, expect("chat/toolCallApprove")))
    nvim = start_chat(start_nvim, server, "code.py")
    say(nvim, "go")
    nvim.wait_screen("allow this?")
    nvim.keys("<C-w>kgggd")
    nvim.wait_until("vim.fn.tabpagenr('$') == 2")
    screen = nvim.wait_screen("proposed")
    assert "return b + a" in screen
