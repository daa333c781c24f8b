"""Rows that change under the cursor; the tests draw the ops of a host."""

import pytest
from tests.support.editor import Neovim
from tests.support.factories import StartNeovim
from tests.support.screen import Value
from tests.ui.panels.test_dashboard_answers import CLOCK, HALF_A_SECOND
from tests.ui.staged import CHAT, WITHOUT_HOST, draw, sent, wait_sent

pytestmark = pytest.mark.either_nvim


def row(name: str, *actions: str) -> Value:
    return {"id": name, "line": [[f"row {name}", "", 0]], "values": {}, "actions": list(actions)}


def show(nvim: Neovim, *names: str, showing: int = 1) -> None:
    """Show the panel of jobs, with a row for each name."""
    nvim.keys("<Esc>:Eca jobs<CR>")
    action = {"name": "kill", "key": "x", "text": "end it", "asks": [], "sure": ""}
    rows = [row(name, "kill") for name in names]
    draw(
        nvim,
        ["panel", "jobs", showing, "jobs", [{**action, "everywhere": False, "answers": False}]],
        ["panel_rows", "jobs", showing, 0, 0, rows],
    )
    nvim.wait_screen(f"row {names[-1]}")


@pytest.fixture
def nvim(start_nvim: StartNeovim) -> Neovim:
    nvim = start_nvim(init=CLOCK + WITHOUT_HOST, lines=24)
    nvim.lua("require('eca').open({ chat = ... })", CHAT)
    return nvim


def test_a_key_within_a_redraw_acts_on_no_row(nvim: Neovim) -> None:
    show(nvim, "a")
    draw(nvim, ["panel_rows", "jobs", 1, 0, 1, [row("b", "kill")], True])
    nvim.wait_screen("row b")
    nvim.keys("x")
    nvim.wait_screen("another row has just come here")
    draw(nvim, ["panel_rows", "jobs", 1, 1, 0, [row("a", "kill")], False])
    nvim.wait_screen("row a")
    assert sent(nvim, "act_in_panel") == []
    nvim.keys("x")
    assert wait_sent(nvim, "act_in_panel")[0]["row"] == "a"


def test_a_row_that_comes_after_a_note_is_guarded_as_the_note(nvim: Neovim) -> None:
    show(nvim, "a")
    draw(nvim, ["panel_rows", "jobs", 1, 0, 1, [row("nothing")]])
    nvim.wait_screen("row nothing")
    draw(nvim, ["panel_rows", "jobs", 1, 0, 1, [row("b", "kill")]])
    nvim.wait_screen("row b")
    nvim.keys("x")
    nvim.wait_screen("another row has just come here")
    assert sent(nvim, "act_in_panel") == []
    nvim.lua(HALF_A_SECOND)
    nvim.keys("x")
    assert wait_sent(nvim, "act_in_panel")[0]["row"] == "b"


def test_the_last_window_beside_a_float_is_closed(nvim: Neovim) -> None:
    show(nvim, "a")
    nvim.keys(":only<CR>")
    place = "{ relative = 'editor', row = 1, col = 60, width = 9, height = 1 }"
    nvim.lua(f"vim.api.nvim_open_win(vim.api.nvim_create_buf(false, true), false, {place})")
    nvim.keys("q")
    assert nvim.lua("return vim.fn.bufnr('eca://panel/jobs')") == -1


def test_what_was_drawn_for_an_earlier_showing_is_dropped(nvim: Neovim) -> None:
    show(nvim, "a", "b")
    nvim.keys("q:Eca jobs<CR>")
    draw(nvim, ["panel", "jobs", 1, "old", []], ["panel_rows", "jobs", 1, 0, 0, [row("old")]])
    show(nvim, "a", "b", showing=2)
    assert nvim.lua("return vim.api.nvim_buf_line_count(0)") == 2
    assert [it["showing"] for it in sent(nvim, "show_panel")] == [1, 2]
