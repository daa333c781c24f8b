"""Windows scroll to the end of the transcript, except while the user reads."""

import re

import pytest
from tests.support.factories import StartNeovim
from tests.ui.view import CHAT, View, assistant, numbered, open_view, tool, user

from eca_nvim.chat.vocabulary import ops
from eca_nvim.chat.vocabulary.ops import BlockKind

MORE = ops.AppendText(CHAT, 1, numbered(101, 200))


@pytest.fixture
def view(start_nvim: StartNeovim) -> View:
    view = open_view(start_nvim, "README.md", columns=100, lines=24)
    view.draw(*assistant(1, numbered(1, 100)))
    return view


def test_the_end_is_shown_at_the_bottom(view: View) -> None:
    view.nvim.wait_screen("line 100")
    view.draw(MORE)
    screen = view.nvim.wait_screen("line 200")
    last_row_of_the_transcript = screen.find("──────")[0] - 1
    assert screen.find("line 200")[0] == last_row_of_the_transcript


@pytest.mark.parametrize("back", ["<Ignore>", ":Eca hide<CR>:EcaChat<CR>"])
def test_a_long_welcome_is_read_from_its_top(start_nvim: StartNeovim, back: str) -> None:
    view = open_view(start_nvim, "README.md", columns=80, lines=24)
    welcome = [f"welcome {number}" for number in range(1, 31)]
    view.draw(ops.OpenBlock(CHAT, 1, BlockKind.SYSTEM), ops.SetBody(CHAT, 1, welcome))
    view.nvim.keys(back)
    screen = view.nvim.wait_screen(re.compile(r"welcome 1$", re.MULTILINE))
    assert "welcome 30" not in screen
    view.draw(*user(2, "hello"), *assistant(3, numbered(1, 30)))
    screen = view.nvim.wait_screen("line 30")
    assert " new" not in screen


def test_a_short_welcome_is_at_its_end(start_nvim: StartNeovim) -> None:
    view = open_view(start_nvim, "README.md", columns=80, lines=24)
    view.draw(ops.OpenBlock(CHAT, 1, BlockKind.SYSTEM), ops.SetBody(CHAT, 1, ["one", "two"]))
    view.nvim.keys("<C-w>k")
    assert view.nvim.eval("line('.')") == 2


@pytest.mark.parametrize("before", ["", "<C-w>kgg", "<C-w>kgg:split<CR>"])
def test_a_chat_that_is_drawn_again_is_shown_at_its_end(view: View, before: str) -> None:
    view.nvim.wait_screen("line 100")
    view.nvim.keys(before)
    again = [op for block in range(2, 42) for op in assistant(block, f"again {block}")]
    view.draw(ops.ClearChat(CHAT), *again)
    view.nvim.wait_screen(lambda screen: "again 41" in screen and " new" not in screen)
    view.draw(ops.AppendText(CHAT, 41, "\nand more"))
    view.nvim.wait_screen("and more")


def test_what_closes_at_the_end_leaves_no_empty_rows(view: View) -> None:
    opened = ops.SetBody(CHAT, 2, [f"row {number}" for number in range(15)])
    view.draw(tool(2, "edit"), opened)
    view.nvim.wait_screen("row 14")
    view.draw(ops.SetBody(CHAT, 2, []))
    screen = view.nvim.wait_screen(lambda screen: "row 14" not in screen and "✓ edit" in screen)
    assert screen.find("✓ edit")[0] == screen.find("──────")[0] - 1
    assert "line 98" in screen


def test_a_block_that_the_user_closes_at_the_end_moves_nothing(view: View) -> None:
    opened = ops.SetBody(CHAT, 2, [f"row {number}" for number in range(5)])
    view.draw(tool(2, "edit"), opened)
    view.nvim.keys("<C-w>kG")
    top = view.nvim.eval("line('w0')")
    view.draw(ops.SetBody(CHAT, 2, []))
    view.nvim.wait_screen(lambda screen: "row 4" not in screen)
    assert view.nvim.eval("line('w0')") == top


def test_a_reader_is_not_moved_and_told_what_is_new(view: View) -> None:
    view.nvim.keys("<C-w>kgg")
    view.draw(MORE)
    assert "line 2" in view.nvim.wait_screen("↓ 100 new")
    view.draw(ops.AppendText(CHAT, 1, "line 201"))
    view.nvim.wait_screen("↓ 101 new")
    view.nvim.keys("G")
    view.nvim.wait_screen(lambda screen: "line 201" in screen and "new" not in screen)
    view.draw(ops.AppendText(CHAT, 1, "\nline 202"))
    view.nvim.wait_screen("line 202")


def test_rows_that_are_on_the_screen_are_not_new(start_nvim: StartNeovim) -> None:
    view = open_view(start_nvim, columns=100, lines=24)
    view.draw(*assistant(1, "one\ntwo"))
    view.nvim.keys("<C-w>kgg")
    view.draw(ops.AppendText(CHAT, 1, "\nthree\nfour"))
    assert "new" not in view.nvim.wait_screen("four")
    view.draw(MORE)
    view.nvim.wait_screen(re.compile(r"↓ 8\d new"))
    view.nvim.keys("90G")
    view.nvim.wait_screen("↓ 5 new")
    view.nvim.keys("gg")
    assert "↓ 5 new" in view.nvim.wait_screen("three")


def test_a_selection_is_not_disturbed(view: View) -> None:
    view.nvim.keys("<C-w>kGV2k")
    before = view.nvim.eval("[line('v'), line('.')]")
    view.draw(MORE)
    assert view.nvim.eval("[line('v'), line('.')]") == before
    assert view.nvim.mode == "V"
    view.nvim.keys("<Esc>G")
    view.nvim.wait_screen("line 200")


def test_a_selection_at_the_end_stays_where_it_is(view: View) -> None:
    view.nvim.keys("<C-w>kGV")
    view.draw(MORE)
    assert view.nvim.eval("[line('v'), line('.')]") == [100, 100]


def test_two_windows_follow_each_for_itself(view: View) -> None:
    view.nvim.keys("<C-w>k:split<CR>gg<C-w>j")
    view.draw(MORE)
    screen = view.nvim.wait_screen("line 200")
    assert "↓ 100 new" in screen
    assert screen.text().count("new") == 1


def test_a_window_in_another_tab_page_follows(view: View) -> None:
    view.nvim.keys(":tabnew<CR>")
    view.draw(MORE)
    assert "line 200" not in view.nvim.screen
    view.nvim.keys(":tabprevious<CR>")
    view.nvim.wait_screen("line 200")


def test_typing_elsewhere_goes_on(view: View) -> None:
    view.nvim.keys("<C-w>hihel")
    view.draw(MORE)
    view.nvim.wait_screen("line 200")
    view.nvim.keys("lo<Esc>")
    assert view.nvim.eval("getline(1)") == "hello# Sums"
    assert view.current() == "README.md"


def test_it_opens_at_the_end(view: View) -> None:
    view.nvim.keys(":Eca hide<CR>")
    view.draw(MORE)
    view.nvim.keys(":EcaChat<CR>")
    view.nvim.wait_screen("line 200")


def test_who_sends_sees_the_answer(view: View) -> None:
    view.nvim.keys("<C-w>kgg<C-w>jhello<C-s>")
    view.nvim.keys("ihello<C-s>")
    view.draw(MORE)
    view.nvim.wait_screen("line 200")


def test_what_goes_and_what_comes_at_once_is_followed(view: View) -> None:
    body = [f"output {number}" for number in range(1, 31)]
    view.draw(tool(2, "shell"), ops.SetBody(CHAT, 2, body))
    view.nvim.wait_screen("output 30")
    view.draw(ops.SetBody(CHAT, 2, []), *assistant(3, numbered(201, 203)))
    view.nvim.wait_screen("line 203")
    view.draw(ops.AppendText(CHAT, 3, numbered(204, 240)))
    view.nvim.wait_screen("line 240")
    view.draw(ops.RemoveBlock(CHAT, 3), *assistant(4, numbered(301, 310)))
    screen = view.nvim.wait_screen("line 310")
    assert "new" not in screen


def test_a_line_taller_than_its_window_is_followed(view: View) -> None:
    view.draw(ops.AppendText(CHAT, 1, "\n" + "word " * 400 + "the end"))
    view.nvim.wait_screen("the end")
    view.draw(ops.AppendText(CHAT, 1, " and after"))
    view.nvim.wait_screen("and after")


def test_a_command_being_typed_does_not_stop_it(view: View) -> None:
    view.nvim.keys("<C-w>k:echo ")
    view.draw(MORE)
    view.nvim.keys("<C-c>")
    view.nvim.wait_screen("line 200")


def test_a_search_being_typed_is_not_disturbed(view: View) -> None:
    view.nvim.keys("<C-w>kG/line 9")
    view.draw(MORE)
    view.nvim.keys("<C-c>")
    assert view.nvim.eval("line('.')") == 100


def test_what_the_user_opens_is_not_new(view: View) -> None:
    view.draw(tool(2, "$ ls"), *assistant(3, "end"))
    view.nvim.keys("<C-w>kgg")
    view.draw(ops.SetBody(CHAT, 2, [f"file {number}" for number in range(50)]))
    assert "new" not in view.nvim.wait_screen("line 2").text()
    view.draw(ops.AppendText(CHAT, 3, "\nmore"))
    view.nvim.wait_screen("↓ 1 new")
    view.draw(ops.ClearChat(CHAT))
    view.nvim.wait_screen(lambda screen: "new" not in screen)


def test_a_window_that_is_closed_leaves_no_mark(view: View) -> None:
    view.nvim.keys("<C-w>k")
    for number in range(3):
        view.nvim.keys(":split<CR>gg")
        view.draw(ops.AppendText(CHAT, 1, f"\nmore {number}"))
        view.nvim.keys(":close<CR>")
    code = """
    local namespace = vim.api.nvim_get_namespaces()['eca.window.follow_end']
    return #vim.api.nvim_buf_get_extmarks(..., namespace, 0, -1, {})
    """
    assert view.nvim.lua(code, view.buffer()) <= 1
