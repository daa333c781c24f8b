"""The terminal changes its size, whatever windows are open: all of them stay on the screen."""

import random
from collections.abc import Sequence

import pytest
from tests.support.editor import Neovim
from tests.support.factories import StartNeovim
from tests.support.screen import Value
from tests.ui.staged import CHAT, WITHOUT_HOST, approval, chat_text, draw, question

OUTSIDE = """
local lines = vim.o.lines - vim.o.cmdheight - (vim.o.laststatus > 0 and 1 or 0)
return vim.iter(vim.api.nvim_tabpage_list_wins(0)):filter(function(win)
  local row, column = unpack(vim.api.nvim_win_get_position(win))
  local is_float = vim.api.nvim_win_get_config(win).relative ~= ''
  local is_low = row + vim.api.nvim_win_get_height(win) > lines
  return not is_float and (is_low or column + vim.api.nvim_win_get_width(win) > vim.o.columns)
end):map(function(win)
  local buf = vim.api.nvim_win_get_buf(win)
  return { vim.api.nvim_buf_get_name(buf), vim.api.nvim_win_get_position(win) }
end):totable()
"""
SIZES = ((60, 30), (80, 24), (100, 24), (120, 40), (160, 45))
DRAFT = ":EcaChat<CR><Esc>ggdGi" + "line<CR>" * 12 + "<Esc>"
KEYS = (
    *(":EcaChat<CR><Esc>", ":botright EcaChat<CR><Esc>", DRAFT, ":EcaChat<CR><Esc>ggdG"),
    *(":Eca dashboard<CR><Esc>", ":Eca jobs<CR><Esc>", ":Eca hide<CR>", ":silent! split<CR>"),
    *("<C-w>w", "<C-w>=", "<C-w>H", "<C-w>J", ":silent! only<CR>"),
)
REQUESTS: Sequence[Value] = ([approval()], [question()], [])
MOST_WINDOWS = 6


def outside(nvim: Neovim) -> Value:
    """Return the windows that are not all on the screen: none may be, not even for a moment."""
    return nvim.lua(OUTSIDE) or []


@pytest.fixture
def stage(start_nvim: StartNeovim) -> Neovim:
    """Neovim without a host, whose chat has a line of hundreds of words."""
    nvim = start_nvim("README.md", init=WITHOUT_HOST, columns=120, lines=40)
    nvim.lua("require('eca').open({ chat = ... })", CHAT)
    draw(nvim, *chat_text("hello\n" + "word " * 500))
    nvim.wait_screen("word word")
    return nvim


def test_a_lower_screen_has_all_windows(stage: Neovim) -> None:
    stage.keys(DRAFT + ":Eca dashboard<CR>")
    stage.command("resize 14")
    stage.resize(120, 24)
    assert outside(stage) == []


def test_a_narrower_screen_has_all_windows(stage: Neovim) -> None:
    stage.keys("<Esc>:Eca jobs<CR>:wincmd t | split | wincmd H<CR>")
    stage.command("vertical resize 30")
    stage.resize(60, 40)
    assert outside(stage) == []


@pytest.mark.parametrize("tab", ["closed", "left"])
def test_a_tab_page_that_was_not_shown_meanwhile_has_all_windows(tab: str, stage: Neovim) -> None:
    stage.keys(DRAFT + ":Eca dashboard<CR>")
    stage.command("resize 14")
    stage.keys(":tabnew<CR>")
    stage.resize(120, 24)
    stage.keys(":tabclose<CR>" if tab == "closed" else "gt")
    assert outside(stage) == []


def test_a_float_for_which_there_is_room_again_is_read_on(stage: Neovim) -> None:
    """Neovim 0.10 ended when the long line was scrolled meanwhile."""
    stage.keys("<Esc>:EcaChat<CR><Esc>:wincmd k<CR>G$")
    for small, large in (((60, 30), (120, 40)), ((60, 24), (160, 45))):
        stage.keys(":Eca hide<CR>")
        stage.resize(*small)
        stage.keys(":EcaChat<CR><Esc>:wincmd k<CR>G$")
        place = stage.eval("getcurpos()[1:2]")
        stage.resize(*large)
        stage.wait_until("vim.api.nvim_win_get_config(0).relative == ''")
        assert stage.eval("getcurpos()[1:2]") == place


@pytest.mark.parametrize("seed", range(5))
def test_whatever_is_open_all_windows_are_on_the_screen(seed: int, stage: Neovim) -> None:
    chance = random.Random(seed)
    for _ in range(250):
        kind = chance.random()
        if kind < 0.35:
            stage.keys(chance.choice(KEYS))
            if len(stage.request("nvim_tabpage_list_wins", 0)) > MOST_WINDOWS:
                stage.keys(":silent! only<CR>")
        elif kind < 0.5:
            draw(stage, ["pending", chance.choice(REQUESTS)])
        else:
            stage.resize(*chance.choice(SIZES))
        assert outside(stage) == []
    stage.take_errors()  # E36, if a split has no room
