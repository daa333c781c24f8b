"""Buffers of files that a tool changed: read again, or left alone with a message."""

from pathlib import Path

import pytest
from tests.support.editor import Neovim
from tests.support.factories import StartNeovim
from tests.ui.staged import CHAT, WITHOUT_HOST, draw

HELD_TIMER = """
local held = { checks = 0, starts = 0 }
package.loaded.held = held
vim.uv.new_timer = function()
  return {
    start = function(_, _, _, callback)
      held.starts, held.due = held.starts + 1, callback
    end,
    stop = function() end,
  }
end
local run = vim.cmd
vim.cmd = setmetatable({}, {
  __index = run,
  __call = function(_, command)
    if type(command) == 'table' and command.cmd == 'checktime' then
      held.checks = held.checks + 1
    end
    return run(command)
  end,
})
"""
"""A timer that the test lets expire, and a count of the checks."""
EXPIRE = """
local held = package.loaded.held
local due = held.due
held.due = nil
due()
"""
WARNING = "changed on disk, your edits stay; :Eca conflicts"


@pytest.fixture
def file(workspace: Path) -> Path:
    path = workspace / "code.txt"
    path.write_text("old\n")
    return path


@pytest.fixture
def stage(start_nvim: StartNeovim, file: Path) -> Neovim:
    """Neovim with a file of one line and no host. `autoread` is as Neovim has it."""
    return start_nvim(file.name, init=WITHOUT_HOST, columns=100)


def change(nvim: Neovim, path: Path, text: str | None, *, told: bool = True) -> None:
    """Let a tool write a file, or delete it, and tell so."""
    if text is None:
        path.unlink()
    else:
        path.write_text(text)
    draw(nvim, ["files", CHAT, [str(path)] if told else []])


def lines(buffer: str = "code.txt") -> str:
    return f"vim.fn.getbufline('{buffer}', 1, '$')[1]"


@pytest.mark.parametrize("autoread", ["autoread", "noautoread"])
@pytest.mark.parametrize("named", [True, False])
def test_unchanged_buffers_are_read_again(
    stage: Neovim, workspace: Path, autoread: str, named: bool
) -> None:
    stage.command(f"set {autoread}")
    change(stage, workspace / "code.txt", "new text\n", told=named)
    stage.wait_screen("new text")
    assert not stage.blocked()
    assert stage.eval("&autoread") == (autoread == "autoread")
    stage.keys("u")
    assert stage.buffer_lines() == ["old"]
    stage.command("edit!")


def test_a_long_buffer_that_is_read_again_can_be_undone(stage: Neovim, workspace: Path) -> None:
    old, new = ("".join(f"{word} {line}\n" for line in range(12_000)) for word in ("old", "new"))
    (workspace / "code.txt").write_text(old)
    stage.command("edit!")
    change(stage, workspace / "code.txt", new)
    stage.wait_screen("new 0")
    stage.keys("u")
    assert stage.buffer_lines()[:2] == ["old 0", "old 1"]
    assert stage.eval("&undoreload") == 10000
    stage.command("edit!")


def test_reading_again_that_fails_leaves_the_options_of_the_user(
    stage: Neovim, workspace: Path
) -> None:
    stage.command("set undoreload=7 | autocmd BufReadPre * throw 'not now'")
    change(stage, workspace / "code.txt", "new\n")
    stage.wait_until("vim.fn.execute('messages'):find('not now', 1, true)")
    assert stage.eval("&undoreload") == 7
    stage.command("autocmd! BufReadPre | edit!")


@pytest.mark.parametrize("place", ["tabnew", "enew"])
def test_buffers_elsewhere_are_read_again(stage: Neovim, workspace: Path, place: str) -> None:
    stage.command(f"set hidden | {place}")
    change(stage, workspace / "code.txt", "new text\n")
    stage.wait_until(f"{lines()} == 'new text'")
    assert stage.eval("bufname()") == ""


@pytest.mark.parametrize("autoread", ["autoread", "noautoread"])
def test_unsaved_edits_are_kept_and_told_once(
    stage: Neovim, workspace: Path, autoread: str
) -> None:
    stage.command(f"set {autoread}")
    stage.keys("Smine<Esc>")
    change(stage, workspace / "code.txt", "theirs, first\n")
    stage.wait_screen(WARNING)
    assert not stage.blocked()
    assert stage.buffer_lines() == ["mine"]
    change(stage, workspace / "code.txt", "theirs, second\n")
    (workspace / "other.txt").write_text("x\n")
    stage.command("split other.txt")
    change(stage, workspace / "other.txt", "other is read\n")
    stage.wait_screen("other is read")
    assert stage.messages().count(WARNING) == 1
    assert (workspace / "code.txt").read_text() == "theirs, second\n"
    stage.command("wincmd p | edit!")
    assert stage.buffer_lines() == ["theirs, second"]


def test_vim_does_not_ask_about_it_later(stage: Neovim, workspace: Path) -> None:
    stage.keys("Smine<Esc>")
    change(stage, workspace / "code.txt", "theirs\n")
    stage.wait_screen(WARNING)
    stage.command("messages clear | checktime")
    assert not stage.blocked()
    assert stage.messages() == ""


def test_deleted_files_keep_their_buffer(stage: Neovim, workspace: Path) -> None:
    change(stage, workspace / "code.txt", None)
    stage.wait_screen("was deleted on disk; its buffer is kept")
    assert stage.buffer_lines() == ["old"]
    change(stage, workspace / "code.txt", "born again\n")
    stage.wait_screen("born again")


@pytest.mark.parametrize("place", ["edit", "tabnew", "split"])
def test_a_file_that_is_made_is_read_into_the_buffer_that_waits_for_it(
    stage: Neovim, workspace: Path, place: str
) -> None:
    stage.command(f"set hidden | edit new.txt | {place} code.txt")
    change(stage, workspace / "new.txt", "by the agent\n")
    stage.wait_until(f"{lines('new.txt')} == 'by the agent'")
    assert not stage.blocked()
    assert stage.eval("[bufname(), mode(), getbufvar('new.txt', '&modified')]") == [
        "code.txt",
        "n",
        0,
    ]


def test_a_file_that_is_made_is_read_under_who_has_typed_nothing(
    stage: Neovim, workspace: Path
) -> None:
    stage.command("edit new.txt")
    stage.keys("i")
    change(stage, workspace / "new.txt", "by the agent\n")
    stage.wait_screen("by the agent")
    stage.keys("typed <Esc>")
    assert stage.buffer_lines() == ["typed by the agent"]
    stage.command("edit!")


def test_what_was_typed_for_a_file_that_is_made_is_kept(stage: Neovim, workspace: Path) -> None:
    stage.command("edit new.txt")
    stage.keys("imine<Esc>")
    change(stage, workspace / "new.txt", "by the agent\n")
    stage.wait_screen(f"new.txt {WARNING}")
    assert not stage.blocked()
    assert stage.buffer_lines() == ["mine"]
    stage.command("edit!")
    assert stage.buffer_lines() == ["by the agent"]


@pytest.mark.parametrize("keys", [":echo", "ihello", "d", "v"])
def test_nobody_is_disturbed(stage: Neovim, workspace: Path, keys: str) -> None:
    (workspace / "other.txt").write_text("x\n")
    stage.command("split other.txt | wincmd p")
    stage.input(keys)
    stage.wait_for(lambda: stage.mode != "n", "another mode")
    mode = stage.mode
    change(stage, workspace / "other.txt", "other is read\n")
    stage.wait_until(f"{lines('other.txt')} == 'other is read'")
    assert stage.mode == mode
    stage.keys("<Esc>")
    stage.command("edit!")


def test_in_the_command_line_window_it_is_looked_at_later(stage: Neovim, workspace: Path) -> None:
    stage.keys("q:iecho 1")
    change(stage, workspace / "code.txt", "new\n")
    stage.wait_until("#vim.api.nvim_get_autocmds({ event = 'CmdwinLeave' }) > 0")
    change(stage, workspace / "other", "x\n")
    assert (stage.eval("getcmdwintype()"), stage.eval("getline('.')")) == (":", "echo 1")
    stage.keys("<Esc>:q<CR>")
    stage.wait_until(f"{lines('code.txt')} == 'new'")


@pytest.mark.parametrize("read", ["told", "checktime", "edit!"])
@pytest.mark.parametrize("place", ["beside", "in another tab page"])
def test_no_cursor_is_below_the_last_line_of_a_file_that_became_shorter(
    stage: Neovim, workspace: Path, read: str, place: str
) -> None:
    stage.lua("require('eca.files')")  # as a chat has it
    path = workspace / "code.txt"
    path.write_text("".join(f"line {line}\n" for line in range(70)))
    stage.keys(":edit!<CR>G:botright new<CR><C-w>p:vsplit<CR>G")
    stage.keys(":tab split<CR>" if place == "in another tab page" else "")
    windows = stage.lua("return vim.fn.win_findbuf(vim.fn.bufnr('code.txt'))")
    if read == "told":
        change(stage, path, "short\n")
    else:
        path.write_text("short\n")
        stage.command(read)
    stage.wait_until(f"{lines()} == 'short'")
    assert len(windows) == (2 if place == "beside" else 3)
    for window in windows:
        stage.wait_until(f"vim.api.nvim_win_get_cursor({window})[1] == 1")
    stage.keys(":tabfirst<CR><C-w>b")
    stage.command("close")
    assert stage.eval("v:errmsg") == ""


def test_text_typed_into_a_buffer_being_read_again_stays(stage: Neovim, workspace: Path) -> None:
    stage.keys("i")
    change(stage, workspace / "code.txt", "new text\nmore\n")
    stage.wait_screen("new text")
    stage.keys("typed <Esc>")
    assert stage.buffer_lines() == ["typed new text", "more"]
    stage.command("edit!")


def test_other_buffers_are_not_looked_at(stage: Neovim, workspace: Path) -> None:
    (workspace / "other.txt").write_text("x\n")
    stage.command("split other.txt")
    (workspace / "other.txt").write_text("changed by somebody else\n")
    change(stage, workspace / "code.txt", "new text\n")
    stage.wait_screen("new text")
    assert stage.lua(f"return {lines('other.txt')}") == "x"


def test_many_changes_are_one_check_after_the_last(start_nvim: StartNeovim, file: Path) -> None:
    nvim = start_nvim("code.txt", init=WITHOUT_HOST + HELD_TIMER)
    held = "package.loaded.held"
    for number in range(5):
        change(nvim, file, f"text {number}\n")
    nvim.wait_until(f"{held}.starts == 5")
    assert nvim.lua(f"return {held}.checks") == 0
    assert nvim.buffer_lines() == ["old"]
    nvim.lua(EXPIRE)
    nvim.wait_until(f"{lines()} == 'text 4'")
    assert nvim.lua(f"return {held}.checks") == 1
    change(nvim, file, "one more\n")
    nvim.wait_until(f"{held}.due ~= nil")
    nvim.lua(EXPIRE)
    nvim.wait_until(f"{lines()} == 'one more'")
    assert nvim.lua(f"return {held}.checks") == 2


def test_the_last_of_many_changes_is_seen(stage: Neovim, workspace: Path) -> None:
    for number in range(20):
        change(stage, workspace / "code.txt", f"text {number}\n")
    stage.wait_screen("text 19")


def test_a_buffer_that_is_wiped_out_as_it_is_read_again_keeps_no_other_waiting(
    stage: Neovim, workspace: Path
) -> None:
    other = workspace / "other.txt"
    other.write_text("old\n")
    stage.command("edit other.txt | enew")
    stage.command("autocmd FileChangedShellPost code.txt bwipeout! code.txt")
    (workspace / "code.txt").write_text("new text\n")
    change(stage, other, "new text\n", told=False)
    stage.wait_until(f"{lines('other.txt')} == 'new text'")
    assert stage.eval("bufexists('code.txt')") == 0
