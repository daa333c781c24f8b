"""All panels have the same margin, and say how many of their rows follow."""

import pytest
from tests.support.factories import StartNeovim
from tests.support.launch import REPOSITORY
from tests.ui.opened import OPENED
from tests.ui.test_every_key import Walk

LUA = REPOSITORY / "lua" / "eca"
PANELS = [
    name
    for name, opened in OPENED.items()
    if any("panel.show(" in (LUA / file).with_suffix(".lua").read_text() for file in opened.files)
]

MARGINS = """
local info = vim.fn.getwininfo(vim.api.nvim_get_current_win())[1]
local widest, least = 0, math.huge
for _, line in ipairs(vim.api.nvim_buf_get_lines(0, 0, -1, false)) do
  widest = math.max(widest, vim.fn.strdisplaywidth(line))
  least = line ~= '' and math.min(least, #line:match('^ *')) or least
end
return { info.textoff + least, info.width - info.textoff - widest >= 1 }
"""
LENGTHEN = """
vim.bo.modifiable = true
vim.api.nvim_buf_set_lines(0, -1, -1, false, vim.fn['repeat']({ 'x' }, 40))
"""


def test_there_are_panels() -> None:
    assert {"keys of the chat", "usage", "files", "undo", "template"} <= {*PANELS}


@pytest.mark.parametrize("name", PANELS)
def test_a_panel_has_a_margin_and_counts_the_rows_that_follow(
    start_nvim: StartNeovim, name: str
) -> None:
    walk = Walk(start_nvim, OPENED[name])
    walk.nvim.resize(160, 80)
    walk.reopen()
    assert walk.nvim.lua(MARGINS) == [1, True]
    assert "↓" not in walk.nvim.screen
    walk.nvim.lua(LENGTHEN)
    walk.nvim.keys("j")
    screen = walk.nvim.wait_screen("↓")
    [row] = [line for line in screen.lines() if "↓" in line]
    below = walk.nvim.eval("line('$') - line('w$')")
    assert f"↓ {below} more" in row
    walk.nvim.keys("G")
    walk.nvim.wait_screen(lambda it: "↓" not in it)


@pytest.mark.parametrize("name", ["keys of the chat", "keys of the input"])
def test_a_list_of_keys_longer_than_the_screen_says_so(start_nvim: StartNeovim, name: str) -> None:
    walk = Walk(start_nvim, OPENED[name])
    walk.reopen()
    screen = walk.nvim.wait_screen("↓")
    assert " more ─" in screen


@pytest.mark.parametrize("keys", ["<C-w>T", "<C-w>s", ":tab split<CR>", "<C-w>v", ":sp<CR>"])
@pytest.mark.parametrize("name", PANELS)
def test_a_panel_is_only_in_its_float(start_nvim: StartNeovim, name: str, keys: str) -> None:
    walk = Walk(start_nvim, OPENED[name])
    walk.reopen()
    panel = walk.nvim.eval("bufnr()")
    walk.nvim.keys(f"{keys}jk<C-d><C-u>")
    walk.nvim.wait_until(f"#vim.fn.win_findbuf({panel}) == 0")
    assert walk.nvim.eval("v:errmsg") == ""
    walk.nvim.assert_no_errors()
