"""The status line of the chat's windows: the title if all windows share one, never an id."""

import pytest
from tests.support.factories import StartNeovim
from tests.ui.view import CHAT, View, open_view

from eca_nvim.chat.vocabulary import ops

ID = "2f4cd52e-8a4e-4c6f-9a55-0d2f1b7c9e11"
HOSTILE = "%{execute('let g:pwned = 1')} 50%% %!g:pwned %#Error# done"


def title(view: View, text: str) -> None:
    """Let the chat have a title."""
    status = {"state": "idle", "title": text, "trust": False, "pending": 0}
    view.draw(ops.SetStatus(CHAT, status))


def status_line(view: View) -> str:
    """Return the row above the command line."""
    return str(view.nvim.screen.lines()[-2]).rstrip()


def wait_status(view: View, text: str) -> None:
    """Wait until the status line has a text."""
    view.nvim.wait_for(lambda: status_line(view).strip() == text, f"a status line of {text!r}")


def open_shared(start_nvim: StartNeovim, more: str = "", **settings: str) -> View:
    """Open a chat where all windows share a status line."""
    init = "vim.o.laststatus = 3 " + more
    return open_view(start_nvim, "README.md", columns=100, lines=24, init=init, settings=settings)


@pytest.mark.parametrize("layout", ["right", "float"])
def test_a_shared_one_tells_the_title(start_nvim: StartNeovim, layout: str) -> None:
    view = open_shared(start_nvim, layout=layout)
    wait_status(view, "New chat")
    title(view, "Fix the flaky test")
    wait_status(view, "Fix the flaky test")
    view.nvim.lua("vim.api.nvim_set_current_win((require('eca.window').shown()))")
    assert view.current() == "chat"
    wait_status(view, "Fix the flaky test")
    view.nvim.keys(":EcaChat<CR><C-w>t")
    view.nvim.wait_for(lambda: "README.md" in status_line(view), "the file's status line")


def test_another_chat_has_its_own(start_nvim: StartNeovim) -> None:
    view = open_shared(start_nvim)
    title(view, "Fix the flaky test")
    view.open(ID)
    wait_status(view, "New chat")
    view.open()
    wait_status(view, "Fix the flaky test")


def test_a_title_is_text(start_nvim: StartNeovim) -> None:
    view = open_shared(start_nvim)
    title(view, HOSTILE)
    wait_status(view, HOSTILE)
    title(view, "%!execute('let g:pwned = 1')")
    wait_status(view, "%!execute('let g:pwned = 1')")
    title(view, "word " * 40)
    view.nvim.wait_for(lambda: status_line(view).startswith(" word word"), "the beginning")
    assert view.nvim.eval("exists('g:pwned')") == 0


@pytest.mark.parametrize("scope", ["go", "wo"])
def test_the_users_own_stays(start_nvim: StartNeovim, scope: str) -> None:
    view = open_shared(start_nvim)
    wait_status(view, "New chat")
    view.nvim.lua(f"vim.{scope}.statusline = 'mine'")
    title(view, "Fix the flaky test")
    wait_status(view, "mine")


def test_one_that_the_user_had_before_stays(start_nvim: StartNeovim) -> None:
    view = open_shared(start_nvim, "vim.o.statusline = 'mine'")
    title(view, "Fix the flaky test")
    wait_status(view, "mine")


def test_it_follows_laststatus(start_nvim: StartNeovim) -> None:
    view = open_view(start_nvim, "README.md", columns=100, lines=24)
    title(view, "Fix the flaky test")
    assert status_line(view).endswith("─" * 60)
    view.nvim.keys(":set laststatus=3<CR>")
    wait_status(view, "Fix the flaky test")
    view.nvim.keys(":set laststatus=2<CR>")
    view.nvim.wait_for(lambda: status_line(view).endswith("─" * 60), "a quiet line")


def test_nothing_is_left_in_a_window_that_shows_a_file(start_nvim: StartNeovim) -> None:
    view = open_shared(start_nvim, layout="current")
    wait_status(view, "New chat")
    view.nvim.keys("<C-w>kq")
    view.nvim.wait_until("#vim.api.nvim_list_wins() == 1")
    assert "README.md" in status_line(view)
