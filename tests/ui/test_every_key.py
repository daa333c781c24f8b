"""No key of a float or a panel ends Neovim or breaks it, whatever the user does after it."""

from collections.abc import Callable

import pytest
from tests.support.editor import Neovim
from tests.support.factories import StartNeovim
from tests.ui.staged import CHAT, WITHOUT_HOST, approval, chat_text, draw, question

AFTER = (":tabnew<CR>", "<C-w>p", ":only<CR>")
"""What the user does once a key was pressed."""
KEYS = """
return vim.tbl_map(function(map)
  return map.lhs
end, vim.list_extend(vim.api.nvim_buf_get_keymap(0, 'n'), vim.api.nvim_buf_get_keymap(0, 'x')))
"""
HAS_HELP = "vim.fn.maparg('g?', 'n', false, true).buffer == 1"

Open = Callable[[Neovim, int], None]


def asks(item: Callable[..., object], **fields: object) -> Open:
    """Return what shows a request and enters its float; the number makes it another request."""

    def show(nvim: Neovim, number: int) -> None:
        draw(nvim, ["pending", [item(f"t{number}", **fields), item(f"u{number}", **fields)]])
        nvim.command("Eca approval")

    return show


def runs(command: str, place: str = "chat") -> Open:
    """Return what runs a command in a window of the chat."""

    def run(nvim: Neovim, _: int) -> None:
        nvim.lua("require('eca').open({ chat = ... })", CHAT)
        nvim.keys("<Esc>" + ("<C-w>k" if place == "chat" else "") + command)

    return run


OPENED: dict[str, Open] = {
    "approval": asks(approval),
    "approval with a diff": asks(approval, paths=["/w/a"], language="diff"),
    "question": asks(question),
    "form": asks(question, picks=True, several=True, declines=True, empty="skip", back=True),
    "keys of the chat": runs("g?"),
    "keys of the input": runs("g?", "input"),
}


@pytest.mark.parametrize("opened", OPENED)
@pytest.mark.parametrize("after", AFTER)
def test_a_key_after_the_help_and_any_move_after_it(
    start_nvim: StartNeovim, opened: str, after: str
) -> None:
    settings = {"approval": {"guard": 0}}
    nvim = start_nvim("README.md", init=WITHOUT_HOST, settings=settings, columns=80, lines=24)
    nvim.lua("require('eca').open({ chat = ... })", CHAT)
    draw(nvim, *chat_text("hello"))

    def reopen(number: int) -> None:
        nvim.keys("<Esc>:silent! tabonly<CR>:silent! only<CR>")
        OPENED[opened](nvim, number)
        nvim.wait_until("vim.api.nvim_win_get_config(0).relative ~= ''")

    reopen(0)
    keys = [it for it in nvim.lua(KEYS) if "Mouse" not in it and "Release" not in it]
    assert {"q", "g?"} & {*keys}
    for number, key in enumerate(keys, 1):
        reopen(number)
        if nvim.lua(f"return {HAS_HELP}"):
            nvim.keys("g?")
            nvim.keys("q")
        nvim.keys(key.replace("<", "<LT>") if key == "<" else key)
        nvim.keys("<Esc>")
        nvim.keys(after)
        assert nvim.eval("winnr('$')") > 0, key
    assert all("E5601" in it for it in nvim.take_errors())  # `:only` in a float
