"""The width of the chat: its share or the user's choice, whatever happens to the screen."""

import pytest
from tests.support.factories import StartNeovim
from tests.ui.test_windows import sizes
from tests.ui.view import CHAT, View, open_view, start_view

from eca_nvim.chat.vocabulary import ops

LONG = [f"{word} of a line that is longer than half a screen" for word in ("one", "two", "end")]


def wait_columns(view: View, columns: int) -> None:
    """Wait until the chat has a width, and see that it keeps it."""
    found = f"a chat of {columns} columns"
    view.nvim.wait_for(lambda: sizes(view)["chat"][0] == columns, found)
    view.nvim.keys("<Ignore>")
    assert sizes(view)["chat"][0] == columns
    assert sizes(view)["input"][0] == columns


def shrink_and_grow(view: View, columns: int = 100) -> None:
    """Let the screen be narrow for a while, until Neovim has drawn it so."""
    view.nvim.resize(40, 24)
    view.nvim.wait_screen(lambda it: it.width == 40)
    assert sizes(view)["chat"][0] < 40
    view.nvim.resize(columns, 24)


@pytest.mark.parametrize("layout", ["right", "left"])
def test_a_screen_that_was_narrow_leaves_no_trace(start_nvim: StartNeovim, layout: str) -> None:
    settings = {"layout": layout}
    view = open_view(start_nvim, "notes", columns=100, lines=24, settings=settings)
    wait_columns(view, 60)
    shrink_and_grow(view)
    wait_columns(view, 60)
    assert sizes(view)["file"][0] == 39


def test_it_has_its_part_of_a_screen_that_grows(start_nvim: StartNeovim) -> None:
    view = open_view(start_nvim, "notes", columns=100, lines=24)
    for columns, width in (200, 80), (300, 100), (100, 60), (90, 50), (80, 41), (70, 41):
        view.nvim.resize(columns, 24)
        wait_columns(view, width)


@pytest.mark.parametrize("keys", ["<C-w>k:vertical resize 45<CR>", "<C-w>h54<C-w>|"])
def test_what_the_user_gave_is_kept(start_nvim: StartNeovim, keys: str) -> None:
    view = open_view(start_nvim, "notes", columns=100, lines=24)
    view.nvim.keys(keys)
    wait_columns(view, 45)
    shrink_and_grow(view, 160)
    wait_columns(view, 45)


def test_a_window_that_came_and_went_is_not_the_user(start_nvim: StartNeovim) -> None:
    view = open_view(start_nvim, "notes", columns=100, lines=24)
    view.nvim.keys(":vertical botright new<CR>:quit<CR>")
    shrink_and_grow(view)
    wait_columns(view, 60)


def test_a_file_that_is_widened_when_it_is_entered_is_not_the_user(
    start_nvim: StartNeovim,
) -> None:
    view = open_view(start_nvim, "notes", columns=80, lines=24)
    view.nvim.resize(40, 24)
    wait_columns(view, 38)
    view.nvim.keys("<C-w>h")
    assert sizes(view)["file"][0] == 20, "it has 'winwidth'"
    view.nvim.resize(120, 24)
    wait_columns(view, 60)


def test_a_window_below_that_came_and_went_leaves_no_trace(start_nvim: StartNeovim) -> None:
    view = open_view(start_nvim, "notes", columns=100, lines=24)
    view.nvim.keys(":botright copen 10<CR>:cclose<CR>")
    wait_columns(view, 60)
    view.open()
    view.nvim.keys("<C-w>k:vertical resize 45<CR>:botright 5new<CR>:quit<CR>")
    wait_columns(view, 45)


@pytest.mark.parametrize("when", ["VimEnter", "UIEnter"])
def test_a_chat_that_opens_with_neovim_has_its_width(start_nvim: StartNeovim, when: str) -> None:
    opens = f"vim.api.nvim_create_autocmd('{when}', {{ once = true, command = 'EcaChat' }})"
    view = start_view(start_nvim, columns=100, lines=24, init=opens)
    view.nvim.wait_screen("New chat")
    wait_columns(view, 60)
    shrink_and_grow(view, 200)
    wait_columns(view, 80)


def test_a_window_that_came_keeps_its_columns(start_nvim: StartNeovim) -> None:
    view = open_view(start_nvim, "notes", columns=100, lines=24)
    view.nvim.keys(":topleft 60vnew<CR>")
    assert sizes(view)["chat"][0] < 40
    view.nvim.keys(":botright copen 10<CR>:cclose<CR><Ignore>")
    assert sizes(view)["chat"][0] < 40


TREE = "vsplit | wincmd H | vertical resize 30 | wincmd ="


@pytest.mark.parametrize("at_once", [True, False])
@pytest.mark.parametrize("columns", [0, 45])
def test_a_tree_that_is_split_off_the_chat_leaves_no_trace(
    start_nvim: StartNeovim, columns: int, at_once: bool
) -> None:
    view = open_view(start_nvim, "notes", columns=140, lines=40)
    if columns:
        view.nvim.keys(f":vertical resize {columns}<CR>")
    for command in [TREE] if at_once else TREE.split(" | "):
        view.nvim.keys(f":{command}<CR><Ignore>")
    wait_columns(view, columns or 60)
    view.nvim.keys("<C-w>t:close<CR><Ignore>")
    wait_columns(view, columns or 60)
    assert sizes(view)["file"][0] == 139 - (columns or 60)


def test_a_screen_resized_elsewhere_leaves_no_trace(start_nvim: StartNeovim) -> None:
    view = open_view(start_nvim, "notes", columns=100, lines=24)
    view.nvim.keys(":tabnew<CR>")
    view.nvim.resize(40, 24)
    view.nvim.wait_screen(lambda it: it.width == 40)
    view.nvim.keys(":tabprevious<CR>:tabnext<CR>")
    view.nvim.resize(100, 24)
    view.nvim.keys(":tabprevious<CR>")
    wait_columns(view, 60)


def test_another_chat_in_the_windows_has_the_width_too(start_nvim: StartNeovim) -> None:
    view = open_view(start_nvim, "notes", columns=160, lines=24)
    view.open("two")
    view.nvim.keys("<C-w>t:vsplit<CR><C-w>=")
    wait_columns(view, 64)
    shrink_and_grow(view, 160)
    wait_columns(view, 64)


@pytest.mark.parametrize("layout", ["bottom", "tab", "current"])
def test_a_chat_as_wide_as_the_screen_stays_so(start_nvim: StartNeovim, layout: str) -> None:
    settings = {"layout": layout}
    view = open_view(start_nvim, "notes", columns=80, lines=40, settings=settings)
    for columns in 40, 120:
        view.nvim.resize(columns, 40)
        wait_columns(view, columns)


@pytest.mark.parametrize("leave", ["", "<Esc>"])
def test_the_draft_is_seen_again(start_nvim: StartNeovim, leave: str) -> None:
    view = open_view(start_nvim, "notes", columns=100, lines=24)
    view.nvim.keys("i" + "<CR>".join(LONG) + leave)
    view.nvim.wait_screen("> one of a")
    view.nvim.resize(40, 24)
    view.nvim.wait_screen(lambda it: it.width == 40 and "> one" not in it and "end of a" in it)
    view.nvim.resize(100, 24)
    view.nvim.wait_screen(lambda it: all(line in it for line in LONG))
    assert view.draft(CHAT) == "\n".join(LONG)


def test_as_much_of_a_long_draft_is_seen_as_there_is_room_for(start_nvim: StartNeovim) -> None:
    view = open_view(start_nvim, "notes", columns=100, lines=24)
    view.nvim.keys("i" + "<CR>".join(LONG * 5))
    view.nvim.resize(40, 24)
    view.nvim.wait_screen(lambda it: it.width == 40 and it.text().count("one of") < 3)
    view.nvim.resize(100, 24)
    view.nvim.wait_screen(lambda it: it.text().count(" of a line") == 12)


def test_prompts_that_wait_are_seen_again(start_nvim: StartNeovim) -> None:
    view = open_view(start_nvim, "notes", columns=100, lines=24)
    view.draw(ops.SetQueue(CHAT, [("queue", "waits")]))
    view.nvim.keys("i" + "<CR>".join(LONG))
    view.nvim.resize(40, 24)
    view.nvim.wait_screen(lambda it: it.width == 40 and "waits" not in it)
    view.nvim.resize(100, 24)
    view.nvim.wait_screen(lambda it: "waits" in it and all(line in it for line in LONG))
