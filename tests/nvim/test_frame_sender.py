"""Frames in a real Neovim: drawn in order and acknowledged, whatever the user does."""

import pytest
from tests.support.editor import Neovim

RECORD = """
_G.sent = {}
require('eca.view')
local host = require('eca.host')
host.send = function(name, payload) table.insert(_G.sent, { name, payload }) end
host.alive = function() end
_G.target = vim.api.nvim_create_buf(false, true)
local ops = require('eca.view.ops')
ops.settle = function() end
ops.draw = function(ops, first)
  if ops[first].op == 'broken' then error('a bug') end
  if ops[first].line == 'window' then vim.cmd.split() end
  vim.api.nvim_buf_set_lines(_G.target, -1, -1, false, { ops[first].line })
  return first + 1
end
"""
TEXT = "vim.api.nvim_buf_get_lines(_G.target, 1, -1, false)"


@pytest.fixture
def frames(nvim: Neovim) -> Neovim:
    """Start a Neovim whose ops append a line to a buffer and whose host only listens."""
    nvim.lua(RECORD)
    return nvim


def apply(nvim: Neovim, number: int, *lines: str) -> None:
    """Send a frame the way the host does."""
    ops = [{"op": "line", "line": line} for line in lines]
    code = "require('eca.view.frames').apply(...)"
    nvim.child.channel.notify("nvim_exec_lua", code, [number, ops])


def test_a_frame_is_drawn_in_order_and_acknowledged_with_its_time(frames: Neovim) -> None:
    apply(frames, 1, "a", "b")
    frames.wait_until("#_G.sent > 0")
    assert frames.lua(f"return {TEXT}") == ["a", "b"]
    name, payload = frames.lua("return _G.sent[1]")
    assert (name, payload["frame"]) == ("drawn", 1)
    assert 0 < payload["ms"] < 1000


COUNT_TRIES = """
_G.tries = 0
local ops = require('eca.view.ops')
local draw = ops.draw
ops.draw = function(list, first)
  if list[first].line == 'elsewhere' then
    _G.tries = _G.tries + 1
    vim.api.nvim_set_current_win(vim.fn.win_getid(1))
  end
  return draw(list, first)
end
"""


LOCKED = """
vim.keymap.set('i', 'Q', function()
  vim.fn.getchar()
  return 'q'
end, { expr = true })
"""


def test_a_frame_that_meets_locked_text_is_drawn_when_it_is_free(frames: Neovim) -> None:
    """By no autocommand: none of ours may open a window."""
    frames.lua(LOCKED)
    frames.keys("iQ")
    apply(frames, 1, "a", "window")
    frames.wait_until("_G.target and true")
    assert frames.lua(f"return {TEXT}") == []
    assert frames.lua("return _G.sent") == []
    frames.keys("x")
    frames.wait_until("#_G.sent > 0")
    assert frames.lua(f"return {TEXT}") == ["a", "window"]
    assert frames.mode == "i"


def test_text_locked_from_the_command_line_is_waited_for_too(frames: Neovim) -> None:
    frames.lua(
        "vim.keymap.set('c', 'Q', function() vim.fn.getchar() return 'q' end, {expr = true})"
    )
    frames.keys(":Q")
    apply(frames, 1, "a")
    frames.lua("return 1")
    assert frames.lua("return _G.sent") == []
    frames.keys("x")
    frames.wait_until("#_G.sent > 0")
    assert frames.mode == "c"
    frames.keys("<Esc>")


def test_an_op_that_fails_is_told_once_and_the_others_are_drawn(frames: Neovim) -> None:
    broken = {"op": "broken"}
    ops = [{"op": "line", "line": "a"}, broken, {"op": "line", "line": "b"}, broken]
    frames.lua("require('eca.view.frames').apply(7, ...)", ops)
    assert frames.lua(f"return {TEXT}") == ["a", "b"]
    assert frames.lua("return _G.sent[1][2].frame") == 7
    frames.wait_screen("cannot draw broken")
    assert frames.messages().count("cannot draw") == 1
    frames.take_errors()
    told = "view: cannot draw broken"
    frames.wait_for(lambda: frames.wait_log(told).count(told) == 2, "both")


@pytest.mark.parametrize("keys", ["i", "v", ":ech", "/ab", "q:", ":call input('x? ')<CR>", "d"])
def test_frames_are_drawn_whatever_the_user_is_at(frames: Neovim, keys: str) -> None:
    frames.keys(keys)
    apply(frames, 1, "a")
    frames.wait_until("#_G.sent > 0")
    assert frames.lua(f"return {TEXT}") == ["a"]
    frames.keys("<C-c>")


def test_what_the_command_line_window_forbids_waits_without_a_loop(frames: Neovim) -> None:
    """Neovim is idle there: being tried again at once, it would keep a processor busy."""
    frames.lua(COUNT_TRIES)
    frames.keys("q:")
    apply(frames, 1, "a", "elsewhere", "b")
    frames.keys("ione<Esc>")  # idle many times
    for _ in range(20):
        frames.lua("vim.schedule(function() end)")
    assert frames.lua("return _G.tries") == 1
    assert frames.lua(f"return {TEXT}") == ["a"]
    assert frames.lua("return _G.sent") == []
    frames.keys("<C-c><C-c>")
    frames.wait_until("#_G.sent > 0")
    assert frames.lua(f"return {TEXT}") == ["a", "elsewhere", "b"]
