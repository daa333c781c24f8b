"""Transcript and input stay together, and become a split when there is room."""

import pytest
from tests.support.factories import StartNeovim
from tests.support.screen import Value
from tests.ui.test_windows import sizes
from tests.ui.view import View, assistant, numbered, open_view


def place(view: View) -> list[int] | None:
    """Tell row, column and width of the chat; nothing while its windows are apart."""
    code = """
    local win, input = require('eca.window').shown()
    local upper, lower = vim.api.nvim_win_get_position(win), vim.api.nvim_win_get_position(input)
    local width = vim.api.nvim_win_get_width(win)
    local joined = lower[1] == upper[1] + vim.api.nvim_win_get_height(win) + 1
      and lower[2] == upper[2] and width == vim.api.nvim_win_get_width(input)
    return joined and { upper[1], upper[2], width } or vim.NIL
    """
    found: list[int] | None = view.nvim.lua(code)
    return found


def wait_place(view: View, *wanted: int) -> None:
    view.nvim.wait_for(lambda: place(view) == list(wanted), f"the chat at {wanted}")


def wait_rows(view: View, rows: int) -> None:
    view.nvim.wait_for(lambda: sizes(view)["chat"][1] == rows, f"{rows} rows")


def test_the_other_window_follows_the_one_that_is_moved(start_nvim: StartNeovim) -> None:
    view = open_view(start_nvim, "notes", columns=100, lines=30)
    for window, current in (("<C-w>j", "input"), ("<C-w>k", "chat")):
        view.nvim.keys(window)
        for key, wanted in (
            ("H", (0, 0, 60)),
            ("L", (0, 40, 60)),
            ("J", (13, 0, 100)),
            ("K", (0, 0, 100)),
            ("L", (0, 40, 60)),
        ):
            view.nvim.keys(f"<C-w>{key}")
            wait_place(view, *wanted)
            assert sizes(view)["input"][1] == 4
            assert sizes(view)["chat"][1] == (23 if wanted[2] == 60 else 10)
            assert view.current() == current


def test_a_split_comes_not_between_them(start_nvim: StartNeovim) -> None:
    view = open_view(start_nvim, "notes", columns=100, lines=40)
    view.nvim.keys("ityped<Esc>:split<CR>")
    wait_place(view, 0, 40, 60)
    assert view.windows() == ["notes", "chat", "input", "input"]
    view.nvim.keys(":quit<CR><C-w>k:split<CR>")
    view.nvim.wait_for(lambda: place(view) is not None, "the windows together")
    assert view.windows() == ["notes", "chat", "chat", "input"]


def test_a_command_moves_a_chat_that_is_open(start_nvim: StartNeovim) -> None:
    view = open_view(start_nvim, "notes", columns=100, lines=30)
    view.draw(*assistant(1, numbered(1, 5)))
    for command, wanted in (
        ("topleft vertical", (0, 0, 60)),
        ("botright", (13, 0, 100)),
        ("vertical", (0, 40, 60)),
    ):
        view.nvim.keys(f":{command} EcaChat<CR>")
        wait_place(view, *wanted)
    view.nvim.keys(":tab EcaChat<CR>")
    assert view.windows() == ["chat", "input"]
    assert sizes(view)["chat"][0] == 100
    view.nvim.wait_screen("line 5")


@pytest.mark.parametrize("settings", [{}, {"layout": "left"}, {"layout": "bottom"}])
def test_a_chat_that_floats_for_lack_of_room_does_not_stay_so(
    start_nvim: StartNeovim, settings: dict[str, Value]
) -> None:
    view = open_view(start_nvim, "notes", columns=60, lines=15, settings=settings)
    view.draw(*assistant(1, numbered(1, 60)))
    view.nvim.keys("ityped")
    assert "╭" in view.nvim.wait_screen("line 60")
    view.nvim.resize(120, 30)
    wanted = {"left": (0, 0, 60), "bottom": (13, 0, 120)}.get(
        settings.get("layout", ""), (0, 60, 60)
    )
    wait_place(view, *wanted)
    view.nvim.keys(" on")
    screen = view.nvim.wait_screen("> typed on")
    assert "╭" not in screen
    assert "line 60" in screen
    assert "line 55" in screen
    assert view.nvim.mode == "i"


def test_a_chat_that_is_meant_to_float_stays_so(start_nvim: StartNeovim) -> None:
    settings = {"layout": "float"}
    view = open_view(start_nvim, "notes", columns=60, lines=15, settings=settings)
    view.nvim.resize(120, 30)
    view.nvim.wait_screen(lambda it: it.width == 120 and "╭" in it)


def test_rows_are_shared_again_when_the_screen_has_them(start_nvim: StartNeovim) -> None:
    view = open_view(start_nvim, "notes", columns=80, lines=44)
    before = sizes(view)
    for lines, rows in ((24, 7), (60, 25), (44, 17)):
        view.nvim.resize(80, lines)
        wait_rows(view, rows)
    view.nvim.wait_for(lambda: sizes(view) == before, "the sizes of before")
