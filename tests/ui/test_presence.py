"""While the user works elsewhere, an agent takes neither focus nor mode nor keys."""

from dataclasses import dataclass

import pytest
from tests.support.editor import Neovim
from tests.support.factories import PrepareScript, StartNeovim
from tests.support.script import ask, expect, handshake, stream, turn
from tests.ui.talk import asks, start_chat


@dataclass(frozen=True)
class Place:
    """Where a user is, and what is typed there while the agent works.

    `go` are the keys that lead there from a code window, `mode` is Neovim's name for it then,
    `keys` are typed half before and half after something happens, `leave` ends it. `result` is a
    Lua expression for the result of the keys.
    """

    go: str
    mode: str
    keys: tuple[str, str]
    leave: str
    result: str
    wanted: object


LINE = "vim.fn.getline(1)"
PLACES = {
    "normal": Place("gg0", "n", ("d2", "l"), "", LINE, "Sums"),
    "insert": Place("ggO", "i", ("hel", "lo"), "<Esc>", LINE, "hello"),
    "replace": Place("gg0R", "R", ("ab", "cd"), "<Esc>", LINE, "abcdms"),
    "visual": Place("gg0v", "v", ("l", "l"), "d", LINE, "ums"),
    "operator": Place("gg0d", "no", ("i", "w"), "", LINE, " Sums"),
    "command": Place(":let g:typed = '", "c", ("hel", "lo"), "'<CR>", "vim.g.typed", "hello"),
    "search": Place("/adds", "c", (" and", " sub"), "<CR>", "vim.fn.line('.')", 3),
    "register": Place("ggO", "i", ("<C-r>", "='a'<CR>"), "<Esc>", LINE, "a"),
    "chat's input": Place(":EcaChat<CR>i", "i", ("hel", "lo"), "<Esc>", LINE, "hello"),
    "tab page": Place(":tabnew<CR>i", "i", ("hel", "lo"), "<Esc>", LINE, "hello"),
    "terminal": Place(":terminal cat<CR>i", "t", ("hel", "lo"), "", LINE, "hello"),
    "input()": Place(
        ":let g:typed = input('name: ')<CR>", "c", ("hel", "lo"), "<CR>", "vim.g.typed", "hello"
    ),
}
NEWS = [*stream(100, ("word ", "more\n"), rate=500), *asks("a"), *asks("b")]
HEARD = ask("editor/getDiagnostics", {})
"""Neovim answers nothing at half a command; the host does, when it has taken all before."""


def window(nvim: Neovim) -> int:
    """Return the current window; 0 where Neovim does not tell."""
    return 0 if nvim.blocked() else int(nvim.request("nvim_get_current_win"))


@pytest.mark.either_nvim
@pytest.mark.parametrize("name", PLACES)
def test_streaming_and_approvals_disturb_nobody(
    name: str, start_nvim: StartNeovim, scripted_server: PrepareScript
) -> None:
    place = PLACES[name]
    server = scripted_server(handshake(), turn(NEWS, HEARD, expect("chat/promptStop")))
    nvim = start_chat(start_nvim, server, "README.md", columns=160)
    nvim.keys("igo<C-s><Esc><C-w>h")
    nvim.wait_for(lambda: server.received("chat/prompt"), "the prompt")
    nvim.keys(place.go)
    before = window(nvim)
    assert nvim.mode == place.mode
    nvim.keys(place.keys[0])
    nvim.wait_for(server.answers, "all that is to be drawn")
    nvim.keys(place.keys[1] + place.leave)
    nvim.wait_until(f"vim.deep_equal({place.result}, {lua(place.wanted)})")
    assert window(nvim) == before
    nvim.wait_screen("(1/2)")
    nvim.wait_until("#require('eca').pending() == 2")


def lua(value: object) -> str:
    """Write a string or a number as Lua does."""
    return f"'{value}'" if isinstance(value, str) else str(value)
