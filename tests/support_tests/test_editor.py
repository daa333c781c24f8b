"""The harness drives both Neovims: keys, prompts, floats, waits, errors and ends."""

import re
import signal
from pathlib import Path

import pytest
from tests.support.client import EditorError
from tests.support.editor import Neovim
from tests.support.factories import StartNeovim
from tests.support.processes import command_line, marked
from tests.support.rpc import ChannelClosed


def test_it_is_the_version_asked_for(nvim: Neovim, nvim_version: str) -> None:
    version = nvim.lua("local v = vim.version() return {v.major, v.minor, v.patch}")
    assert ".".join(map(str, version)) == nvim_version


def test_typed_text_is_shown(nvim: Neovim) -> None:
    nvim.keys("ihello<Esc>")
    assert nvim.screen.lines()[0] == "hello"
    assert nvim.screen.cursor == (0, 4)
    assert nvim.mode == "n"


def test_half_a_command_does_not_hang(nvim: Neovim) -> None:
    nvim.keys("ione two<Esc>0d")
    assert nvim.mode == "no"
    nvim.keys("w")
    assert nvim.lua("return vim.api.nvim_get_current_line()") == "two"


def test_a_prompt_does_not_hang_the_harness(nvim: Neovim) -> None:
    nvim.keys(":echomsg 'one' | echomsg 'two'<CR>")
    assert nvim.blocked()
    nvim.wait_screen("Press ENTER")
    nvim.keys("<CR>")
    assert not nvim.blocked()
    assert nvim.messages() == "one\ntwo"


def test_a_request_at_a_prompt_fails_with_the_screen(nvim: Neovim) -> None:
    nvim.keys(":echo 'one' | echo 'Yes?'<CR>")
    with pytest.raises(EditorError, match=r"(?s)did not answer nvim_exec_lua.*Yes\?"):
        nvim.lua("return 1", timeout=0.2)
    nvim.leave_prompt()
    assert nvim.lua("return 1") == 1


def test_an_input_prompt_is_left(nvim: Neovim) -> None:
    nvim.keys(":call input('Your name: ')<CR>")
    nvim.wait_screen("Your name:")
    nvim.leave_prompt()
    assert nvim.mode == "n"


def test_floats_are_composed_with_their_borders(nvim: Neovim) -> None:
    nvim.lua(
        """local buffer = vim.api.nvim_create_buf(false, true)
        vim.api.nvim_buf_set_lines(buffer, 0, -1, true, { 'float' })
        local place = { relative = 'editor', row = 2, col = 3, width = 5, height = 1 }
        local style = { style = 'minimal', border = 'single' }
        vim.api.nvim_open_win(buffer, false, vim.tbl_extend('error', place, style))"""
    )
    screen = nvim.wait_screen("│float│")
    assert screen.lines()[2].endswith("┌─────┐")
    assert screen.find("┌─────┐") == (2, 3)


def test_groups_and_wide_characters(nvim: Neovim) -> None:
    nvim.lua(
        """vim.api.nvim_set_hl(0, 'Ours', { link = 'DiffAdd' })
        vim.api.nvim_buf_set_lines(0, 0, -1, true, { '日本 word' })
        local space = vim.api.nvim_create_namespace('ours')
        vim.api.nvim_buf_set_extmark(0, space, 0, 7, { end_col = 11, hl_group = 'Ours' })"""
    )
    screen = nvim.wait_screen("日本 word")
    assert screen.find("word") == (0, 5)
    assert screen.groups_at(0, 5) == ("DiffAdd",)
    assert screen.highlight_at(0, 5)["background"] != screen.highlight_at(0, 0)["background"]


def test_size_arguments_and_settings(start_nvim: StartNeovim) -> None:
    nvim = start_nvim("README.md", columns=160, lines=40, settings={"layout": "left"})
    assert (nvim.screen.width, nvim.screen.height) == (160, 40)
    assert "# Sums" in nvim.screen
    assert nvim.lua("return vim.g.eca.layout") == "left"
    nvim.resize(90, 20)
    assert (nvim.screen.width, nvim.screen.height) == (90, 20)


def test_init_runs_before_plugins_and_folders_are_the_tests_own(start_nvim: StartNeovim) -> None:
    nvim = start_nvim(init="vim.g.early = vim.v.vim_did_enter", environment={"ODD": "yes"})
    assert nvim.eval("g:early") == 0
    assert nvim.eval("$ODD") == "yes"
    for folder in ("config", "data", "state", "run"):
        path = nvim.lua("return vim.fn.stdpath(...)", folder)
        assert path.startswith(str(nvim.launch.home))


def test_waits_are_woken_by_what_neovim_does(nvim: Neovim) -> None:
    nvim.lua("vim.defer_fn(function() vim.g.late = 0; vim.cmd('normal! inow') end, 30)")
    assert nvim.wait_until("vim.g.late") == 0
    nvim.wait_screen(re.compile(r"^now$", re.MULTILINE))
    nvim.lua("vim.defer_fn(function() vim.rpcnotify(1, 'hello', 2) end, 30)")
    nvim.wait_for(lambda: nvim.notifications, "a notification")
    assert nvim.notifications == [("hello", [2])]


def test_a_wait_that_fails_shows_screen_and_messages(nvim: Neovim) -> None:
    nvim.keys("ivisible<Esc>:echomsg 'a message'<CR>")
    with pytest.raises(AssertionError, match=r"(?s)'absent' on the.*│visible .*a message"):
        nvim.wait_screen("absent", timeout=0.1)
    with pytest.raises(AssertionError, match=r"Lua 'false' after 0.1 s"):
        nvim.wait_until("false", timeout=0.1)


def test_shown_errors_are_found(nvim: Neovim) -> None:
    nvim.keys(":nosuchcommand<CR>")
    with pytest.raises(AssertionError, match="E492"):
        nvim.assert_no_errors()
    nvim.keys(":lua vim.schedule(function() error('deep') end)<CR>")
    nvim.leave_prompt()
    assert any("deep" in line or "stack traceback" in line for line in nvim.take_errors())
    assert nvim.take_errors() == []


def test_errors_can_be_left_alone(nvim: Neovim) -> None:
    nvim.keys(":nosuchcommand<CR>")
    nvim.check_errors = False
    assert nvim.quit() == 0


def test_an_error_answer_is_raised(nvim: Neovim) -> None:
    with pytest.raises(EditorError, match="broken"):
        nvim.lua("error('broken')")
    with pytest.raises(EditorError, match="E121"):
        nvim.eval("g:absent")


def test_mouse_clicks(nvim: Neovim) -> None:
    nvim.lua("vim.api.nvim_buf_set_lines(0, 0, -1, true, { 'abc', 'defgh' })")
    nvim.wait_screen("defgh")
    nvim.click(1, 3)
    assert nvim.lua("return vim.api.nvim_win_get_cursor(0)") == [2, 3]


def test_killed_neovim_is_told(nvim: Neovim) -> None:
    assert nvim.kill(signal.SIGKILL) == -signal.SIGKILL
    with pytest.raises(ChannelClosed):
        nvim.eval("1")


def test_an_orphan_fails_the_test_and_is_killed(
    start_nvim: StartNeovim, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.support.editor.PATIENCE", 0.1)
    nvim = start_nvim()
    pid = nvim.lua("return vim.fn.jobpid(vim.fn.jobstart({'sleep', '60'}, {detach = true}))")
    assert pid in nvim.child.descendants()
    nvim.wait_for(
        lambda: pid in nvim.child.family() and "sleep" in command_line(pid), "its program"
    )
    with pytest.raises(AssertionError, match=f"outlived Neovim: {{{pid}: '.*sleep 60'}}"):
        nvim.finish()
    assert nvim.child.orphans(0) == set()


def test_a_start_that_fails_leaves_nothing(
    start_nvim: StartNeovim, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(Neovim, "keys", raise_editor_error)
    with pytest.raises(EditorError, match="no keys today"):
        start_nvim()
    assert marked(str(tmp_path / "nvim1")) == set()


def raise_editor_error(_nvim: Neovim, _keys: str) -> None:
    raise EditorError("no keys today")


def test_long_text_is_pasted(nvim: Neovim) -> None:
    text = "word " * 20_000
    nvim.keys("i")
    nvim.paste(f"{text}\nend")
    assert nvim.buffer_lines() == [text, "end"]
