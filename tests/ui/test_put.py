"""Code of an answer is put into files as previews, and commands to a terminal's prompt line."""

import re
from pathlib import Path

import pytest
from tests.support.editor import Neovim
from tests.support.factories import PrepareScript, StartNeovim
from tests.support.script import handshake, text, turn
from tests.ui.talk import say, wait_idle

SAID = "vim.fn.execute('messages'):find({!r}, 1, true) ~= nil"
CODE = "```lua\nlocal y = 2\nlocal z = 3\n```\n"


@pytest.fixture
def file(workspace: Path) -> Path:
    file = workspace / "src" / "short.lua"
    file.write_text("if x then\n  a()\n  b()\nend\n")
    return file


def lines_of(nvim: Neovim) -> list[str]:
    lines: list[str] = nvim.request("nvim_buf_get_lines", 0, 0, -1, True)
    return lines


def answered(
    start_nvim: StartNeovim, scripted_server: PrepareScript, file: Path, *answers: str
) -> Neovim:
    """Start a Neovim in a file, and have a server answer prompts of it."""
    server = scripted_server(handshake(), *(turn(text(it)) for it in answers))
    settings = {"server": {"command": server.command}, "approval": {"guard": 0}}
    nvim = start_nvim(str(file), settings=settings, columns=160, lines=40)
    nvim.keys(":EcaChat<CR>")
    for _ in answers:
        say(nvim, "go on")
        wait_idle(nvim)
    nvim.keys(":1wincmd w<CR>")
    return nvim


def put(nvim: Neovim, mark: str, key: str = "gp") -> None:
    """Press a key on the code block that has some text, in the transcript."""
    nvim.lua("require('eca').open()")
    nvim.keys("<Esc><C-w>k")
    nvim.keys(f"G?{mark}<CR>")
    nvim.keys(key)


def test_code_replaces_the_selection_or_goes_below_the_cursor(
    start_nvim: StartNeovim, scripted_server: PrepareScript, file: Path
) -> None:
    nvim = answered(start_nvim, scripted_server, file, f"Look:\n\n{CODE}\nand done")
    nvim.keys("2GVj<Esc>")
    put(nvim, "local y")
    nvim.wait_screen("1 change  do accept")
    assert nvim.eval("expand('%:t')") == "short.lua"
    nvim.keys("dO")
    assert lines_of(nvim) == ["if x then", "  local y = 2", "  local z = 3", "end"]
    nvim.keys("u2G")
    put(nvim, "local y", ":Eca put<CR>")
    nvim.wait_screen("1 change  do accept")
    nvim.keys("dO")
    assert lines_of(nvim)[:4] == ["if x then", "  a()", "  local y = 2", "  local z = 3"]
    put(nvim, "and done")
    nvim.wait_until(SAID.format("no code block under the cursor"))


def test_code_for_a_file_is_a_diff_of_it(
    start_nvim: StartNeovim, scripted_server: PrepareScript, file: Path, workspace: Path
) -> None:
    (workspace / "other.lua").write_text("local y = 1\n")
    (workspace.parent / "away.lua").write_text("local y = 1\n")
    (workspace / "link").symlink_to(workspace.parent)
    answers = (
        "In `other.lua`:\n" + CODE.replace("y", "one"),
        CODE.replace("lua", "lua:made/new.lua", 1).replace("y", "two"),
        f"**{workspace.parent}/away.lua**\n\n" + CODE.replace("y", "three"),
        "`link/away.lua`:\n" + CODE.replace("y", "four"),
        "Compare a.lua with b.lua:\n" + CODE.replace("y", "five"),
        "As in https://example.com/src/six.lua says:\n" + CODE.replace("y", "six"),
        "In `~/.config/nvim/seven.lua`:\n" + CODE.replace("y", "seven"),
        "In `.git/config`:\n" + CODE.replace("y", "eight"),
        "In `.git/hooks/pre-commit`:\n" + CODE.replace("y", "nine"),
        "In `.nvim.lua`:\n" + CODE.replace("y", "ten"),
    )
    (workspace / ".git").mkdir(exist_ok=True)
    (workspace / ".git" / "config").write_text("[core]\n")
    (workspace / ".nvim.lua").write_text("local y = 1\n")
    nvim = answered(start_nvim, scripted_server, file, *answers)
    put(nvim, "local one")
    nvim.wait_until("vim.fn.tabpagenr('$') == 2")
    nvim.wait_screen("a accept all")
    nvim.keys("a")
    nvim.wait_until("vim.fn.tabpagenr('$') == 1")
    nvim.wait_until("vim.fn.expand('%:t') == 'other.lua'")
    assert lines_of(nvim) == ["local one = 2", "local z = 3"]
    assert (workspace / "other.lua").read_text() == "local y = 1\n", "the user writes it"
    put(nvim, "local two")
    nvim.wait_screen("New file made/new.lua")
    nvim.keys("1<CR>")
    nvim.wait_screen("1 change")
    nvim.keys("dO:write ++p<CR>")
    assert (workspace / "made" / "new.lua").read_text() == "local two = 2\nlocal z = 3\n"
    by_git = "in a git folder, from which git runs programs"
    asked = (
        ("three", "away.lua, outside of the workspace"),
        ("four", "link/away.lua, outside of the workspace"),
        ("seven", "~/.config/nvim/seven.lua, outside of the workspace"),
        ("eight", f"The code is for .git/config, {by_git}"),
        ("nine", f"New file .git/hooks/pre-commit, {by_git}"),
        ("ten", "The code is for .nvim.lua, run by Neovim or another editor when it starts"),
    )
    for mark, question in asked:
        put(nvim, f"local {mark}")
        nvim.wait_screen(question)
        nvim.keys("2<CR>")
        nvim.wait_until("vim.fn.mode() == 'n'")
    for mark in ("five", "six"):  # two names, and an address: it goes where the user was
        put(nvim, f"local {mark}")
        nvim.wait_until("vim.fn.expand('%:t') == 'new.lua'")
        nvim.wait_screen("1 change")
        nvim.keys("dX")
        nvim.wait_until("#require('eca').previews() == 0")


def test_a_command_is_written_to_a_prompt_line_and_not_run(
    start_nvim: StartNeovim, scripted_server: PrepareScript, file: Path, workspace: Path
) -> None:
    answers = (
        "```sh\n$ touch \\\n  made1\n```\n",
        "```bash\n# first\ntouch made2\x1b\n\ntouch made3\n```\n",
    )
    nvim = answered(start_nvim, scripted_server, file, *answers)
    put(nvim, "made3")
    nvim.wait_screen("1: touch made2")
    nvim.wait_screen("2: touch made2")
    nvim.keys("3<CR>")
    nvim.wait_until("vim.bo.buftype == 'terminal'")
    written = re.compile(r"[#$] touch made3")
    nvim.wait_screen(written)  # else the shell does not read keys yet
    nvim.keys("<C-u>")
    nvim.wait_screen(lambda screen: not written.search(screen.text()))
    nvim.keys("<C-\\><C-n>")
    put(nvim, "made1")
    nvim.wait_until("vim.bo.buftype == 'terminal'")
    nvim.wait_screen("touch made1")
    assert not [*workspace.glob("made*")]
    assert nvim.lua("return #vim.fn.getwininfo()") == 4, "the same terminal"
    nvim.keys("<CR>")
    nvim.wait_for((workspace / "made1").exists, "what the user has run")
    nvim.keys("<C-\\><C-n>:bwipeout!<CR>")


def test_an_unsaved_file_that_keeps_its_window_is_said(
    start_nvim: StartNeovim, scripted_server: PrepareScript, file: Path, workspace: Path
) -> None:
    (workspace / "other.lua").write_text("local y = 1\n")
    answers = ("In `other.lua`:\n" + CODE, CODE.replace("y", "here"), "See other.lua:1 too.")
    nvim = answered(start_nvim, scripted_server, file, *answers)
    nvim.keys(":set nohidden<CR>:edit other.lua<CR>")
    nvim.keys(":let g:other = bufnr()<CR>:edit src/short.lua<CR>x")
    written = "No write since last change"
    for mark, key in (("local y", "gp"), ("other.lua:1", "gf")):
        nvim.command("messages clear")
        put(nvim, mark, key)
        nvim.wait_until(SAID.format(written))
        assert written in nvim.messages()
        assert "traceback" not in nvim.messages()
    # What was selected last is in a file that no window shows any more.
    nvim.lua("require('eca.context.places').last = function() return { buf = vim.g.other } end")
    nvim.command("messages clear")
    put(nvim, "local here")
    nvim.wait_until(SAID.format("not put: the code window has an unsaved file"))
    assert "traceback" not in nvim.messages()
    assert nvim.lua("return #require('eca').previews()") == 0
