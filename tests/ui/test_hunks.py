"""Hunks of a change are taken and left out on the screen: in the block, the float and the diff."""

import difflib
from pathlib import Path

import pytest
from tests.support.editor import Neovim
from tests.support.factories import PrepareScript, StartNeovim
from tests.support.script import Steps, expect, handshake, turn, write
from tests.support.servers import ScriptedServer
from tests.ui.talk import done, lines_of, say, start_chat, tool, wait_idle

BEFORE = "".join(f"line {number}\n" for number in range(1, 31))
PENDING = "return require('eca').pending()[1]"


def made(*places: int) -> str:
    """Return the file with some of its lines changed."""
    text = BEFORE
    for place in places:
        text = text.replace(f"line {place}\n", f"LINE {place}\n")
    return text


def edit(path: Path, written: str) -> Steps:
    """Ask for a change of three lines, and write the file once it is approved."""
    after = made(2, 12, 25)
    hunks = [*difflib.unified_diff(BEFORE.splitlines(), after.splitlines(), lineterm="", n=3)][2:]
    change = {"type": "fileChange", "path": str(path), "linesAdded": 3, "linesRemoved": 3}
    change["diff"] = "\n".join(hunks)
    fields = {"arguments": {"path": str(path)}, "details": change, "summary": "Editing"}
    return [
        *tool("Run", "edit", "edit_file", manualApproval=True, **fields),
        *expect("chat/toolCallApprove"),
        *tool("Running", "edit", "edit_file", **fields),
        *write(path, written),
        *done("edit", "written", "edit_file", **fields),
    ]


def start(
    start_nvim: StartNeovim, scripted: PrepareScript, path: Path, written: str
) -> tuple[Neovim, ScriptedServer]:
    path.write_text(BEFORE)
    server = scripted(handshake(), turn(edit(path, written)))
    settings = {"approval": {"guard": 0}}
    nvim = start_chat(start_nvim, server, str(path), settings=settings, columns=80, lines=30)
    say(nvim, "edit it")
    nvim.wait_screen("line 12 · 2/3")
    nvim.keys("<C-w>k")
    return nvim, server


def test_a_hunk_is_left_out_and_the_rest_edited(
    start_nvim: StartNeovim, scripted_server: PrepareScript, workspace: Path
) -> None:
    path = workspace / "code.txt"
    nvim, server = start(start_nvim, scripted_server, path, made(2, 12, 25))
    nvim.keys("?LINE 12<CR>-")
    screen = nvim.wait_screen("allow 2 of 3 hunks?")
    assert "line 12 · 2/3 · left out" in screen
    assert "all 3 are written, hunk 2 is taken" in screen
    taken = [(it["n"], it["taken"]) for it in nvim.lua(PENDING)["hunks"]]
    assert taken == [(1, True), (2, False), (3, True)]
    assert nvim.lua(PENDING)["hunks"][1]["header"] == "@@ -11,3 +11,3 @@"
    nvim.keys("-")
    nvim.wait_screen("allow this?")
    nvim.keys("g<CR>-")
    nvim.wait_screen("the hunks are in the chat: - on one there, or d")
    nvim.keys(":Eca hide<CR>:Eca approval<CR>")
    nvim.wait_screen(lambda it: "rest in the chat" not in it and "- hunk" in it)
    nvim.keys("/LINE 2$<CR>-")
    nvim.wait_screen("line 2 · 1/3 · left out")
    nvim.lua("vim.api.nvim_feedkeys(vim.keycode('<2-LeftMouse>'), 'm', false)")
    nvim.wait_screen("allow this?")
    nvim.keys("/LINE 25<CR>-")
    nvim.wait_screen("allow 2 of 3 hunks?")
    assert nvim.lua("return vim.api.nvim_get_current_line()") == "+LINE 25", "the cursor stays"
    nvim.keys("d")
    nvim.wait_screen("code.txt  now")
    nvim.keys("25G")
    nvim.wait_screen("hunk 3 left out (-)")
    nvim.keys("gg]c-")
    nvim.wait_screen("1 of 3 hunks")
    nvim.keys("-")
    nvim.wait_screen("2 of 3 hunks")
    nvim.keys("ggOmine<Esc>")
    nvim.wait_screen("as edited")
    nvim.keys("u")
    nvim.wait_screen("2 of 3 hunks")
    nvim.keys("<C-r>a")
    wait_idle(nvim)
    assert path.read_text() == "mine\n" + made(2, 12)
    nvim.wait_until("vim.fn.getbufline('code.txt', 1)[1] == 'mine'")
    (steer,) = server.received("chat/promptSteer")
    assert "\n-LINE 25\n+line 25\n" in steer["params"]["message"]


def test_a_key_that_allows_waits_for_what_was_left_out_just_before(
    start_nvim: StartNeovim, scripted_server: PrepareScript, workspace: Path
) -> None:
    path = workspace / "code.txt"
    nvim, _ = start(start_nvim, scripted_server, path, made(2, 12, 25))
    nvim.keys("?LINE 12<CR>-a")
    wait_idle(nvim)
    assert path.read_text() == made(2, 25)


@pytest.mark.either_nvim
def test_what_a_formatter_has_written_stays(
    start_nvim: StartNeovim, scripted_server: PrepareScript, workspace: Path
) -> None:
    path = workspace / "code.txt"
    nvim, _ = start(start_nvim, scripted_server, path, made(2, 12, 25).upper())
    nvim.lua("require('eca').approve({ hunks = { 4 } })")
    nvim.wait_screen("there is no hunk 4, but 1 to 3")
    nvim.lua("require('eca').approve({ hunks = { 1, 3 } })")
    wait_idle(nvim)
    assert path.read_text() == made(2, 12, 25).upper()
    assert "code.txt was not changed to what you have allowed" in " ".join(lines_of(nvim))
