"""All kinds of files in the diff tab page: new, deleted, with odd line ends and names, large."""

import signal
from pathlib import Path

import pytest
from tests.support.editor import Neovim
from tests.support.factories import StartNeovim
from tests.ui.diffed import AFTER, BEFORE, diff_rows, show, start_stage
from tests.ui.staged import CHAT, draw, request, wait_sent


@pytest.fixture
def stage(start_nvim: StartNeovim, workspace: Path) -> Neovim:
    return start_stage(start_nvim, workspace)


def test_new_files(stage: Neovim, workspace: Path) -> None:
    screen = show(stage, workspace / "new.txt", "", "one\ntwo\n", "new")
    assert "new file" in screen
    assert "one" in screen
    assert diff_rows(stage) == [1, 2]
    stage.keys("a")
    stage.wait_until("vim.fn.tabpagenr('$') == 1")
    assert not (workspace / "new.txt").exists()


def test_deletions(stage: Neovim, workspace: Path) -> None:
    screen = show(stage, workspace / "code.txt", BEFORE, "", "deleted")
    assert "to be deleted" in screen
    assert "line 1" in screen
    assert stage.buffer_lines() == [""]


def test_dos_files_are_compared_without_their_line_ends(stage: Neovim, workspace: Path) -> None:
    path = workspace / "dos.txt"
    path.write_bytes(BEFORE.replace("\n", "\r\n").encode())
    screen = show(stage, path, BEFORE.replace("\n", "\r\n"), AFTER.replace("\n", "\r\n"))
    assert "^M" not in screen
    assert diff_rows(stage) == [20]
    assert stage.eval("&fileformat") == "dos"
    stage.keys("<C-w>h")
    assert stage.eval("&fileformat") == "dos"


def test_ends_of_last_lines_are_told(stage: Neovim, workspace: Path) -> None:
    path = workspace / "open.txt"
    path.write_text("one\ntwo")
    screen = show(stage, path, "one\ntwo", "one\ntwo\n")
    assert "! adds the newline at the end" in screen
    stage.keys("q")
    stage.wait_until("vim.fn.tabpagenr('$') == 1")
    path.write_text("one\ntwo\n")
    draw(stage, ["diff", CHAT, "t1", str(path), "one\ntwo\n", "one\n2", "changed", request(), None])
    stage.wait_screen("removes the newline at the end")
    assert diff_rows(stage) == [2]


def test_large_files_are_compared(stage: Neovim, workspace: Path) -> None:
    before = "".join(f"    value = {number}\n" for number in range(10_000))
    after = before.replace("= 7777\n", "= 'changed'\n")
    (workspace / "large.py").write_text(before)
    stage.lua(
        """
        local chat, id, path, before, after = ...
        require('eca.diff').show({
          chat = chat, id = id, path = path, before = before, after = after,
          kind = 'changed', pending = false,
        })
        """,
        *[CHAT, "t1", str(workspace / "large.py"), before, after],
    )
    stage.wait_screen("'changed'")
    assert diff_rows(stage) == [7778]


def test_a_diff_that_does_not_apply_shows_the_hunks(stage: Neovim, workspace: Path) -> None:
    hunks = "@@ -1,1 +1,1 @@\n-other\n+thing\n"
    fault = "hunk 1 (line 1) does not fit the %{file}"
    screen = show(stage, workspace / "code.txt", BEFORE, hunks, fault=fault)
    assert fault in screen
    assert "+thing" in screen
    assert "line 1" in screen
    assert stage.eval("&diff") == 0
    assert "Added" in screen.groups_at(*screen.find("+thing"))
    stage.keys("r")
    wait_sent(stage, "decide")


@pytest.mark.either_nvim
@pytest.mark.parametrize(
    "name",
    [
        "100% %{x}.txt",
        "a b#c.txt",
        'it\'s "q".txt',
        "a|b<Esc>.txt",
        "[ab]*?.txt",
        "$HOME~.txt",
        "ünï.txt",
        "a\u200db\u202etxt.exe",
        "new\nline.txt",
    ],
)
def test_names_with_special_characters(stage: Neovim, workspace: Path, name: str) -> None:
    (workspace / name).write_text(BEFORE)
    screen = show(stage, workspace / name)
    shown = name.replace("\u200d", "<U+200D>").replace("\u202e", "<U+202E>").replace("\n", " ")
    assert f"{shown}  now" in screen
    stage.keys("<C-w>h")
    assert stage.buffer_lines() == BEFORE.splitlines()
    stage.keys("<C-w>la")
    stage.wait_until("vim.fn.tabpagenr('$') == 1")


def test_swap_files_ask_nothing(stage: Neovim, start_nvim: StartNeovim, workspace: Path) -> None:
    options = f"set swapfile updatecount=200 directory={workspace}//"
    other = start_nvim()
    other.command(f"{options} | edit code.txt | call setline(1, 'lost') | preserve")
    other.kill(signal.SIGKILL)
    assert list(workspace.glob("*.swp"))
    stage.command(options)
    (workspace / "code.txt").write_text(AFTER)
    show(stage, workspace / "code.txt", pending=False)
    assert not stage.blocked()
    stage.keys("<C-w>l")
    assert stage.eval("expand('%:p')") == str(workspace / "code.txt")
