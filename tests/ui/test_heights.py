"""The height of the input: as its text needs or the user sets, whatever other windows do."""

import pytest
from tests.support.factories import StartNeovim
from tests.ui.test_windows import sizes
from tests.ui.view import View, open_view

LAYOUTS = ("right", "bottom", "top")

PASSING = (
    ":botright copen<CR>:cclose<CR>",
    ":botright copen | cclose<CR>",
    ":botright copen<CR>:resize 5<CR>:cclose<CR>",
    ":botright copen<CR><C-w>=:cclose<CR>",
    ":topleft new<CR>:quit<CR>",
    ":set cmdheight=5<CR>:set cmdheight=1<CR>",
    ":vertical botright new<CR>:quit<CR>",
    ":tabnew<CR>:tabclose<CR>",
    ":<C-f>:quit<CR><C-c>",
    "<C-w>=",
)
"""What opens and closes other windows, or takes room from all and gives it back."""


def wait_rows(view: View, rows: int) -> None:
    """Wait until the input has a height, and see that it keeps it."""
    view.nvim.wait_for(lambda: sizes(view)["input"][1] == rows, f"an input of {rows} rows")
    view.nvim.keys("<Ignore>")
    assert sizes(view)["input"][1] == rows


@pytest.mark.parametrize("layout", LAYOUTS)
def test_what_comes_and_goes_leaves_no_trace(start_nvim: StartNeovim, layout: str) -> None:
    view = open_view(start_nvim, "notes", settings={"layout": layout})
    for keys in PASSING:
        view.nvim.keys(keys)
        wait_rows(view, 4)
        assert sizes(view)["chat"][1] >= (33 if layout == "right" else 15), keys


@pytest.mark.parametrize("layout", LAYOUTS)
def test_what_the_user_gave_is_kept(start_nvim: StartNeovim, layout: str) -> None:
    view = open_view(start_nvim, "notes", settings={"layout": layout})
    view.nvim.keys(":botright copen<CR>:cclose<CR>:EcaChat<CR>")
    settle(view)
    for keys, rows in ("<C-w>+", 5), ("<C-w>+", 6), (":resize 10<CR>", 10), ("<C-w>-", 9):
        view.nvim.keys(keys)
        wait_rows(view, rows)
    view.nvim.keys(":botright copen<CR>:cclose<CR>")
    wait_rows(view, 9)


def settle(view: View) -> None:
    """Wait until what was scheduled has run: sizes that Neovim changed are set back then."""
    view.nvim.lua("vim.schedule(function() vim.g.settled = true end)")
    view.nvim.wait_for(lambda: view.nvim.eval("get(g:, 'settled')"), "what is scheduled to run")


def test_the_line_between_the_windows_is_the_users(start_nvim: StartNeovim) -> None:
    view = open_view(start_nvim, "notes")
    view.nvim.keys("<C-w>k5<C-w>-")
    wait_rows(view, 9)
    view.nvim.keys("<C-w>t")
    view.nvim.lua("vim.fn.win_move_statusline(require('eca.window').shown(), 2)")
    wait_rows(view, 7)
    view.nvim.keys(":botright copen<CR>:cclose<CR>")
    wait_rows(view, 7)


def test_a_window_of_others_that_grows_takes_nothing(start_nvim: StartNeovim) -> None:
    view = open_view(start_nvim, "notes")
    view.nvim.keys(":botright copen<CR>:resize 5<CR>")
    wait_rows(view, 4)
    view.nvim.keys(":resize 20<CR>")
    wait_rows(view, 4)


def test_a_screen_that_shrinks_and_grows_leaves_no_trace(start_nvim: StartNeovim) -> None:
    view = open_view(start_nvim, "notes")
    view.nvim.resize(160, 10)
    view.nvim.resize(160, 40)
    wait_rows(view, 4)
    assert sizes(view)["chat"] == (64, 33)


def test_a_screen_resized_elsewhere_leaves_no_trace(start_nvim: StartNeovim) -> None:
    view = open_view(start_nvim, "notes")
    view.nvim.keys(":tabnew<CR>")
    view.nvim.resize(160, 10)
    view.nvim.resize(160, 40)
    view.nvim.keys(":tabprevious<CR>")
    wait_rows(view, 4)


def test_text_grows_the_input_after_a_quickfix_list_too(start_nvim: StartNeovim) -> None:
    view = open_view(start_nvim, "notes")
    view.nvim.keys("ione<CR>two<CR>three<CR>four<Esc>:botright copen<CR>:cclose<CR>")
    wait_rows(view, 5)


def test_an_input_alone_fills_its_column(start_nvim: StartNeovim) -> None:
    """Without a transcript above it there is nothing to give rows to."""
    view = open_view(start_nvim, "notes")
    view.nvim.keys("<C-w>oione<CR>two<CR>three<CR>four<CR>five<Esc>")
    assert sizes(view)["input"][1] == 38
    assert view.nvim.eval("&cmdheight") == 1
    view.nvim.keys(":EcaChat<CR>")
    wait_rows(view, 6)


def test_a_window_of_one_row_has_no_line_above_it(start_nvim: StartNeovim) -> None:
    view = open_view(start_nvim, "notes")
    view.nvim.keys("<C-w>k")
    place = "relative = 'editor', row = 0, col = 0"
    view.nvim.lua(f"vim.api.nvim_win_set_config(0, {{ {place}, width = 9, height = 1 }})")
    view.nvim.keys("")
    assert not view.nvim.blocked(), "Neovim waits for a key"
    view.nvim.keys(":resize 3<CR>")
    view.nvim.wait_until("vim.fn.getwininfo(vim.fn.win_getid())[1].winbar == 1")
