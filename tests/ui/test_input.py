"""The input: typing, sending, queued prompts, and text that comes back."""

import pytest
from tests.support.factories import StartNeovim
from tests.ui.view import CHAT, View, open_view

from eca_nvim.chat.vocabulary import ops


@pytest.fixture
def view(start_nvim: StartNeovim) -> View:
    return open_view(start_nvim, columns=100, lines=30)


def texts(view: View) -> list[str]:
    return [prompt["text"] for prompt in view.sent("prompt")]


def test_enter_is_a_newline_while_typing_and_sends_otherwise(view: View) -> None:
    view.nvim.keys("ihello<CR>world<Esc><CR>")
    assert view.sent("prompt") == [
        {
            "chat": CHAT,
            "text": "hello\nworld",
            "contexts": [],
            "queue": False,
            "typed": "hello\nworld",
        }
    ]
    assert view.draft() == ""


def test_control_s_sends_in_any_mode(view: View) -> None:
    view.nvim.keys("ione<C-s>two<C-s><Esc>ithree<Esc><C-s>")
    assert texts(view) == ["one", "two", "three"]


def test_sending_may_wait_for_the_turn(view: View) -> None:
    view.nvim.keys("ilater<M-CR>")
    assert view.sent("prompt")[0]["queue"] is True


def test_nothing_is_not_sent(view: View) -> None:
    view.nvim.keys("<CR>i  <C-s><Esc><CR>")
    assert texts(view) == []
    assert view.draft() == "  "


def test_an_empty_input_tells_what_to_do(view: View) -> None:
    screen = view.nvim.wait_screen("> type here with i · <CR> sends · g? keys")
    assert "Comment" in screen.groups_at(*screen.find("type here"))
    view.nvim.keys("i")
    view.nvim.wait_screen("> type here · <C-s> sends")
    view.nvim.keys("x")
    view.nvim.wait_screen(lambda screen: "type here" not in screen and "> x" in screen)
    view.nvim.keys("<BS>")
    view.nvim.wait_screen("type here · <C-s> sends")


def test_a_chat_that_an_autocommand_opens_tells_what_to_do(view: View) -> None:
    view.nvim.keys("ix<Esc>")
    view.nvim.wait_screen(lambda screen: "type here" not in screen)
    view.nvim.command("autocmd User Probe EcaChat!")
    view.nvim.command("doautocmd User Probe")
    view.nvim.wait_screen("> type here with i · <CR> sends · g? keys")
    # Another chat's buffers may be announced while this one's are made.
    chats = "lua require('eca.chat.buffers')"
    view.nvim.command(f"autocmd FileType eca-input ++once {chats}.new()")
    view.nvim.command(f"{chats}.ensure('two')")
    view.nvim.command("autocmd! User Probe lua require('eca').open({ chat = 'two' })")
    view.nvim.keys("ix<Esc>")
    view.nvim.wait_screen(lambda screen: "type here" not in screen)
    view.nvim.command("doautocmd User Probe")
    view.nvim.wait_screen("> type here with i · <CR> sends · g? keys")


def test_the_placeholder_names_no_key_that_means_something_else(view: View) -> None:
    view.nvim.wait_screen("> type here with i · <CR> sends · g? keys")
    view.nvim.command("nnoremap i k")
    view.nvim.command("unmap <buffer> <CR>")
    view.nvim.keys("a")
    view.nvim.wait_screen("> type here · <C-s> sends")
    view.nvim.keys("<Esc>")
    view.nvim.wait_screen("> type here · <C-s> sends · g? keys")


def test_the_window_grows_with_its_text_and_shrinks_again(view: View) -> None:
    height = "vim.api.nvim_win_get_height(0)"
    assert view.nvim.lua(f"return {height}") == 4
    view.nvim.keys("i" + "x<CR>" * 5)
    assert view.nvim.lua(f"return {height}") == 7
    view.nvim.keys("x<CR>" * 10)
    assert view.nvim.lua(f"return {height}") == 13
    view.nvim.keys("<Esc><CR>")
    assert view.nvim.lua(f"return {height}") == 4


def test_a_wrapped_line_makes_it_grow_too(view: View) -> None:
    view.nvim.keys("i" + "word " * 60)
    assert view.nvim.lua("return vim.api.nvim_win_get_height(0)") == 7


def test_older_prompts_come_back_and_the_draft_is_kept(view: View) -> None:
    view.nvim.keys("ione<C-s>two<CR>lines<C-s>draft")
    view.nvim.keys("<M-p>")
    assert view.draft() == "two\nlines"
    view.nvim.keys("<M-p><M-p>")
    assert view.draft() == "one"
    view.nvim.keys("<M-n><M-n>")
    assert view.draft() == "draft"
    view.nvim.keys("<M-n>")
    assert view.draft() == "draft"


@pytest.mark.parametrize(
    ("keys", "draft"),
    [
        ("<M-p><C-s>", "half"),
        ("<M-p> more<C-s>", "half"),
        ("<M-p><Esc>:EcaChat other<CR>i<M-n>", "half"),
        ("<M-p> more<M-n>", "half\none more"),
        ("<M-p> more<M-p><M-n><M-n>", "half\none more"),
        ("<M-p><C-u><M-n>", "half"),
    ],
)
def test_a_draft_outlives_what_becomes_of_an_older_prompt(
    view: View, keys: str, draft: str
) -> None:
    view.nvim.keys(f"izero<C-s>one<C-s>half{keys}")
    assert view.draft() == draft


def test_what_comes_back_above_an_older_prompt_is_kept(view: View) -> None:
    view.nvim.keys("ione<C-s>half<M-p>")
    view.draw(ops.SetInput(CHAT, "returned"))
    view.nvim.keys("<M-n>")
    assert view.draft() == "half\nreturned\none"


def test_prompts_of_commands_come_back_too(view: View) -> None:
    view.nvim.keys(":Eca steer now<CR>:Eca queue later<CR>i<M-p>")
    assert view.draft() == "later"
    view.nvim.keys("<M-p>")
    assert view.draft() == "now"


def test_text_comes_back_above_a_draft(view: View) -> None:
    view.draw(ops.SetInput(CHAT, "returned"))
    assert view.draft() == "returned"
    view.draw(ops.SetInput(CHAT, "again\nmore"))
    assert view.draft() == "again\nmore\nreturned"


def test_waiting_prompts_stand_above_the_input(view: View) -> None:
    view.draw(ops.SetQueue(CHAT, [("steer", "now this"), ("queue", "then\nthat")]))
    screen = view.nvim.wait_screen("↳ now this")
    rows = [screen.find(text)[0] for text in ("1 ↳ now this", "2 ⧗ then that", "> type here")]
    assert rows == list(range(rows[0], rows[0] + 3))
    view.nvim.keys("ityping<CR>more")
    view.nvim.wait_screen("⧗ then that")
    view.nvim.keys("<M-BS><Esc><M-BS>:Eca unqueue 1<CR>:Eca unqueue! 1<CR>:Eca unqueue 3<CR>")
    assert view.sent("unqueue") == [
        {"chat": CHAT, "index": 2, "edit": True},
        {"chat": CHAT, "index": 2, "edit": True},
        {"chat": CHAT, "index": 1, "edit": True},
        {"chat": CHAT, "index": 1, "edit": False},
    ]
    view.nvim.wait_screen("no queued prompt with this number")
    view.draw(ops.SetQueue(CHAT, []))
    view.nvim.wait_screen(lambda screen: "now this" not in screen)


def test_undo_is_the_users(view: View) -> None:
    view.nvim.keys("ione<Esc>otwo<Esc>u")
    assert view.draft() == "one"


def test_stop_is_sent_from_both_windows(view: View) -> None:
    # While Neovim is busy, as at the start, two presses within 30 ms are one.
    view.nvim.keys("<C-c>")
    view.nvim.wait_for(lambda: view.sent("stop") == [{"chat": CHAT}], "the first stop")
    view.nvim.keys("<C-w>k<C-c>")
    view.nvim.wait_for(lambda: view.sent("stop") == [{"chat": CHAT}] * 2, "the second stop")


def test_context_tokens_go_along(start_nvim: StartNeovim) -> None:
    view = open_view(start_nvim, "README.md")
    view.nvim.keys("isee @src/calc.py:1-2<C-s>")
    kinds = [context["type"] for context in view.sent("prompt")[0]["contexts"]]
    assert kinds == ["cursor", "file"]


def test_an_empty_input_names_the_keys_that_the_user_has_mapped(start_nvim: StartNeovim) -> None:
    mapped = "vim.g.mapleader = ' ' vim.keymap.set('n', '<leader>s', '<Plug>(EcaSubmit)')"
    nvim = open_view(
        start_nvim, init=f"{mapped} vim.keymap.set('n', '<F1>', '<Plug>(EcaKeys)')"
    ).nvim
    nvim.wait_screen("> type here with i · <Space>s sends · <F1> keys")
    nvim.keys("i")
    nvim.wait_screen("> type here · <C-s> sends")  # mapped in normal mode only
    nvim.lua("vim.keymap.set('i', '<C-g>', '<Plug>(EcaSubmit)', { buffer = 0 })")
    nvim.keys("<Esc>i")
    nvim.wait_screen("> type here · <C-g> sends")  # their own, though the default works as well
    nvim.lua("vim.keymap.del('i', '<C-g>', { buffer = 0 })")
    nvim.keys("<Esc>")
    nvim.lua("vim.keymap.del('i', '<C-s>', { buffer = 0 })")
    nvim.keys("i")
    nvim.wait_screen(lambda screen: "> type here" in screen and "sends" not in screen)
