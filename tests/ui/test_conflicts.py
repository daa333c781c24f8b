"""Files that changed on the disk under unsaved changes: what the user can do."""

from pathlib import Path

import pytest
from tests.support.editor import Neovim
from tests.support.factories import StartNeovim
from tests.ui.staged import CHAT, WITHOUT_HOST, draw

LONG = 12_000
"""Lines: more than 'undoreload' has by default."""


@pytest.fixture
def stage(start_nvim: StartNeovim, workspace: Path) -> Neovim:
    (workspace / "code.txt").write_text("old\n")
    (workspace / "other.txt").write_text("old\n")
    return start_nvim("code.txt", init=WITHOUT_HOST, columns=100)


def clash(nvim: Neovim, path: Path, theirs: str = "theirs now\n") -> None:
    """Have unsaved text in the current buffer, and let a tool change its file."""
    nvim.keys("Smine<Esc>")
    path.write_text(theirs)
    draw(nvim, ["files", CHAT, [str(path)]])
    nvim.wait_until(f"vim.fn.execute('messages'):find('{path.name} changed on disk', 1, true)")


def choose(nvim: Neovim, number: int, prompt: str = "changed on disk and in its buffer") -> None:
    nvim.input(":Eca conflicts<CR>")
    nvim.wait_screen(prompt)
    nvim.keys(f"{number}<CR>")


def test_nothing_is_asked_by_itself(stage: Neovim, workspace: Path) -> None:
    clash(stage, workspace / "code.txt")
    screen = stage.wait_screen("your edits stay; :Eca conflicts")
    assert "keep mine" not in screen
    assert stage.buffer_lines() == ["mine"]
    stage.command("edit!")


def test_keep_mine(stage: Neovim, workspace: Path) -> None:
    clash(stage, workspace / "code.txt")
    choose(stage, 1)
    stage.wait_screen(":w! overwrites the file on disk")
    stage.command("write!")
    assert (workspace / "code.txt").read_text() == "mine\n"
    stage.command("Eca conflicts")
    stage.wait_screen("no conflicts with unsaved buffers")


def test_take_theirs(stage: Neovim, workspace: Path) -> None:
    clash(stage, workspace / "code.txt")
    choose(stage, 2)
    assert stage.buffer_lines() == ["theirs now"]
    assert stage.eval("&modified") == 0
    stage.keys("u")
    assert stage.buffer_lines() == ["mine"]
    stage.command("edit!")


def long_text(word: str) -> str:
    """Make a text longer than what 'undoreload' keeps."""
    return "".join(f"{word} {number}\n" for number in range(LONG))


def test_what_is_taken_in_a_long_file_can_be_undone(stage: Neovim, workspace: Path) -> None:
    (workspace / "code.txt").write_text(long_text("old"))
    stage.command("edit!")
    clash(stage, workspace / "code.txt", long_text("theirs"))
    choose(stage, 2)
    assert stage.buffer_lines()[0] == "theirs 0"
    stage.keys("u")
    assert stage.buffer_lines()[:2] == ["mine", "old 1"]
    assert stage.eval("&undoreload") == 10000
    stage.command("edit!")


def test_taking_that_fails_leaves_the_options_of_the_user(stage: Neovim, workspace: Path) -> None:
    clash(stage, workspace / "code.txt")
    stage.command("set undoreload=7 | autocmd BufReadPre * throw 'not now'")
    stage.input(":Eca conflicts<CR>")
    stage.wait_screen("changed on disk and in its buffer")
    stage.keys("2<CR>")
    stage.wait_screen("not now")
    assert stage.eval("&undoreload") == 7
    stage.keys("u")
    assert stage.buffer_lines() == ["mine"]
    stage.command("autocmd! BufReadPre | edit!")


def test_the_difference(stage: Neovim, workspace: Path) -> None:
    clash(stage, workspace / "code.txt")
    choose(stage, 3)
    stage.wait_until("vim.fn.tabpagenr('$') == 2")
    screen = stage.wait_screen("on disk")
    assert "yours" in screen
    assert "theirs now" in screen
    stage.command("wincmd l")
    assert stage.buffer_lines() == ["mine"]
    stage.keys("do")
    assert stage.buffer_lines() == ["theirs now"]
    stage.command("tabclose")
    assert stage.eval("expand('%:t')") == "code.txt"
    choose(stage, 1)
    stage.command("edit!")


@pytest.mark.either_nvim
@pytest.mark.parametrize("start", [b"\xe9\n", b"\xef\xbb\xbfe\n", b"e\r\n"])
def test_the_difference_is_read_as_the_buffer_was(
    stage: Neovim, workspace: Path, start: bytes
) -> None:
    path = workspace / "odd.txt"
    path.write_bytes(start)
    stage.command("edit odd.txt | call append(1, 'mine')")
    path.write_bytes(start + start.removeprefix(b"\xef\xbb\xbf"))
    draw(stage, ["files", CHAT, [str(path)]])
    stage.wait_screen("changed on disk")
    choose(stage, 3)
    stage.wait_until("vim.fn.tabpagenr('$') == 2")
    line = stage.eval("getline(1)")
    assert stage.eval("bufname()") == "eca://odd.txt (on disk)"
    assert stage.buffer_lines() == [line] * 2
    stage.command("wincmd l")
    assert stage.buffer_lines() == ["é" if start == b"\xe9\n" else "e", "mine"]
    assert stage.eval("getline(1)") == line
    stage.command("tabclose | edit!")


def test_of_several_one_is_chosen_first(stage: Neovim, workspace: Path) -> None:
    clash(stage, workspace / "code.txt")
    stage.command("set hidden | edit other.txt")
    clash(stage, workspace / "other.txt")
    stage.input(":Eca conflicts<CR>")
    stage.wait_screen("Changed on disk and in a buffer")
    stage.input("1<CR>")
    stage.wait_screen("1: keep mine")
    stage.wait_screen("code.txt changed on disk and in its buffer")
    stage.keys("2<CR>")
    assert stage.eval("getbufline('code.txt', 1)") == ["theirs now"]
    assert stage.buffer_lines() == ["mine"]
    stage.command("edit!")
