"""<Plug>s that answer and send, in every mode: mode, cursor and text stay as they are."""

import pytest
from tests.support.editor import Neovim
from tests.support.factories import StartNeovim
from tests.ui.staged import CHAT, WITHOUT_HOST, answer_to, approval, draw, sent, wait_sent

ANSWERS = {
    "Approve": ("decide", answer_to("t1", choice="allow")),
    "ApproveRemember": ("decide", answer_to("t1", choice="always")),
    "ApproveAll": ("decide", answer_to("t1", choice="allow")),
    "Reject": ("decide", answer_to("t1", choice="reject")),
    "Stop": ("stop", {"chat": CHAT}),
}


@pytest.fixture
def stage(start_nvim: StartNeovim) -> Neovim:
    """Let a call wait, with the chat hidden; <F5> is for the test."""
    nvim = start_nvim(init=WITHOUT_HOST, settings={"approval": {"guard": 0}}, lines=40)
    nvim.lua("require('eca').open({ chat = ... })", CHAT)
    nvim.lua("require('eca').hide()")
    nvim.lua("vim.api.nvim_buf_set_lines(0, 0, -1, true, { 'one two three' })")
    draw(nvim, ["pending", [approval(remember=["ls"])]])
    nvim.wait_screen("a allow")
    return nvim


def map_key(nvim: Neovim, action: str) -> None:
    code = "vim.keymap.set({ 'n', 'i', 'x', 's', 't' }, '<F5>', '<Plug>(Eca' .. ... .. ')')"
    nvim.lua(code, action)


def go(nvim: Neovim, mode: str) -> None:
    """Enter a mode, with the cursor in the middle of a line."""
    if mode == "t":
        nvim.command("terminal cat")
    nvim.keys({"n": "0w", "i": "0wi", "v": "0wve", "s": "0wve<C-g>", "t": "i"}[mode])
    nvim.wait_for(lambda: nvim.mode == mode, f"mode {mode}")
    if mode == "t":  # its cursor goes to the last line and back; it rests once a key has come back
        nvim.input("y")
        nvim.wait_until("vim.fn.getpos('.')[2] == 1 and vim.fn.getpos('.')[3] == 2")


@pytest.mark.parametrize("mode", ["n", "i", "v", "s", "t"])
def test_the_first_one_is_done_before_anything_is_loaded(
    start_nvim: StartNeovim, mode: str
) -> None:
    nvim = start_nvim(init=WITHOUT_HOST, lines=40)
    map_key(nvim, "Toggle")
    nvim.lua("vim.api.nvim_buf_set_lines(0, 0, -1, true, { 'one two three' })")
    go(nvim, mode)
    assert nvim.lua("return package.loaded['eca.keymaps']") is None
    nvim.input("<F5>")
    nvim.wait_until("vim.fn.bufname('eca://chat/*') ~= ''")
    if mode != "t":
        assert nvim.lua("return vim.api.nvim_buf_get_lines(1, 0, -1, true)") == ["one two three"]


def test_a_name_that_is_none_is_told_and_not_typed(start_nvim: StartNeovim) -> None:
    nvim = start_nvim(init=WITHOUT_HOST)
    map_key(nvim, "Tickle")
    nvim.keys("i")
    nvim.input("<F5>x")
    nvim.wait_until("vim.fn.getline(1) == 'x'")
    nvim.keys("<Esc>")
    nvim.wait_screen("unknown action <Plug>(EcaTickle)")


def test_the_first_one_from_a_mapping_for_visual_and_select_mode(start_nvim: StartNeovim) -> None:
    nvim = start_nvim(init=WITHOUT_HOST)
    nvim.lua("vim.keymap.set('v', '<F5>', '<Plug>(EcaStop)')")
    nvim.lua("vim.api.nvim_buf_set_lines(0, 0, -1, true, { 'one two three' })")
    go(nvim, "s")
    nvim.input("<F5>")
    nvim.wait_until("package.loaded['eca.keymaps'] ~= nil")
    assert nvim.mode == "s"
    nvim.keys("x<Esc>")
    assert nvim.buffer_lines() == ["one x three"]


@pytest.mark.either_nvim
@pytest.mark.parametrize("mode", ["i", "v", "s", "t"])
@pytest.mark.parametrize("action", ANSWERS)
def test_answers_keep_mode_and_cursor(stage: Neovim, action: str, mode: str) -> None:
    map_key(stage, action)
    go(stage, mode)
    before = stage.eval("[win_getid(), getpos('.'), getpos('v')]")
    stage.input("<F5>")
    intent, payload = ANSWERS[action]
    assert wait_sent(stage, intent) == [payload]
    assert stage.mode == mode
    assert stage.eval("[win_getid(), getpos('.'), getpos('v')]") == before
    stage.input("x")
    if mode == "i":
        stage.keys("<Esc>")
        assert stage.buffer_lines() == ["one xtwo three"]
    elif mode == "v":
        assert stage.buffer_lines() == ["one  three"]
    elif mode == "s":
        assert stage.buffer_lines() == ["one x three"]
    else:
        stage.input("<CR>")
        stage.wait_screen(lambda screen: screen.text().count("x\n") >= 2)


@pytest.mark.parametrize("mode", ["i", "v", "t"])
def test_a_reason_is_asked_for_in_every_mode(stage: Neovim, mode: str) -> None:
    map_key(stage, "RejectReason")
    go(stage, mode)
    stage.input("<F5>")
    stage.wait_screen("What to do instead:")
    stage.input("use rg<CR>")
    assert wait_sent(stage, "decide")[0]["reason"] == "use rg"
    stage.wait_for(lambda: stage.mode == mode, f"mode {mode} again")


@pytest.mark.either_nvim
@pytest.mark.parametrize("mode", ["i", "v", "t"])
def test_who_went_to_the_float_comes_back_as_he_was(stage: Neovim, mode: str) -> None:
    map_key(stage, "Approval")
    go(stage, mode)
    before = stage.eval("[win_getid(), getpos('.'), getpos('v')]")
    stage.input("<F5>")
    stage.wait_for(lambda: stage.mode == "n", "normal mode in the float")
    stage.input("a")
    wait_sent(stage, "decide")
    stage.wait_for(lambda: stage.mode == mode, f"mode {mode} again")
    assert stage.eval("[win_getid(), getpos('.'), getpos('v')]") == before


def test_what_is_typed_is_queued_from_insert_mode(stage: Neovim) -> None:
    map_key(stage, "Queue")
    stage.lua("require('eca').open({ chat = ... })", CHAT)
    stage.keys("ilater<F5>")
    assert wait_sent(stage, "prompt")[0]["queue"] is True
    assert stage.mode == "i"
    assert sent(stage, "decide") == []
