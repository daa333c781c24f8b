"""Requests that come or go while Neovim forbids changes are shown as soon as it allows them."""

import pytest
from tests.support.factories import StartNeovim
from tests.ui.staged import CHAT, WITHOUT_HOST, approval, chat_text, draw, question

WAITS = """
vim.keymap.set({ 'n', 'i' }, 'Q', function()
  vim.fn.getchar()
  return ''
end, { expr = true })
"""
"""A mapping that waits for a key, as many plugins have: the text is locked meanwhile."""
FLOATS = """vim.iter(vim.api.nvim_list_wins()):any(function(win)
  return vim.api.nvim_win_get_config(win).relative ~= ''
end)"""
REQUESTS = {"approval": [approval()], "question": [question()], "gone": []}


@pytest.mark.parametrize("what", REQUESTS)
@pytest.mark.parametrize(("keys", "leave"), [("Q", "y"), ("iQ", "y<Esc>")])
def test_requests_are_shown_once_changes_are_allowed_again(
    keys: str, leave: str, what: str, start_nvim: StartNeovim
) -> None:
    init = WITHOUT_HOST + WAITS
    nvim = start_nvim("README.md", init=init, settings={"approval": {"guard": 0}}, columns=100)
    nvim.lua("require('eca').open({ chat = ... })", CHAT)
    draw(nvim, *chat_text("hello"))
    nvim.keys("<Esc>")
    if what == "gone":
        draw(nvim, ["pending", REQUESTS["approval"]])
        nvim.wait_until(FLOATS)
    nvim.input(keys)
    draw(nvim, ["pending", REQUESTS[what]])
    nvim.keys(leave)
    nvim.wait_until(FLOATS if what != "gone" else f"not {FLOATS}")
    if what == "question":
        nvim.wait_screen("Answer>")


@pytest.mark.either_nvim
def test_a_request_that_cannot_be_shown_is_reported_once(start_nvim: StartNeovim) -> None:
    """A bug of ours; what comes after it is drawn."""
    nvim = start_nvim(init=WITHOUT_HOST)
    nvim.lua("require('eca').open({ chat = ... })", CHAT)
    nvim.lua("require('eca.approval').update = function() error('a bug') end")
    draw(nvim, ["pending", REQUESTS["approval"]])
    draw(nvim, *chat_text("hello"))
    nvim.wait_screen("hello")
    assert sum("a bug" in it for it in nvim.take_errors()) == 1
