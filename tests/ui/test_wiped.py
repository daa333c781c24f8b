"""Whatever is done when the buffers of the chat are gone: they are there again, and nothing fails.

All subcommands, with all their words, and all actions.
"""

from collections.abc import Iterator

import pytest
from tests.support.editor import Neovim
from tests.support.factories import StartNeovim
from tests.ui.staged import CHAT, WITHOUT_HOST, chat_text, draw

COMMANDS = """
return vim.tbl_map(function(it)
  return { it.name, it.bang ~= nil, it.takes ~= nil, it.words or {} }
end, require('eca.commands.subcommands').list)
"""
ACTIONS = "return vim.tbl_keys(require('eca.keymaps.actions'))"
ELSEWHERE = {"install", "update", "uninstall"}
"""What is no chat's, and works on the machine."""
FAULTS = ("traceback", "Invalid", "E5108", "E5101")


def lines(nvim: Neovim) -> Iterator[str]:
    """Yield all command lines."""
    yield "Eca"
    for name, bang, takes, words in nvim.lua(COMMANDS):
        if name not in ELSEWHERE:
            yield f"Eca {name}"
            yield from [f"Eca {name}!"] if bang else []
            yield from [f"Eca {name} x"] if takes else []
            yield from (f"Eca {name} {word}" for word in words)


def leave(nvim: Neovim) -> None:
    """Leave whatever a command asks, its windows, and Visual or insert mode."""
    for _ in range(3):
        if nvim.blocked() or nvim.mode[0] in "cr":
            nvim.keys("<C-c>")
    nvim.leave_prompt()
    nvim.keys("<C-\\><C-n>")
    nvim.command("silent! tabonly! | silent! only!")


@pytest.mark.either_nvim
@pytest.mark.parametrize("state", ["idle", "running"])
def test_nothing_fails_without_the_buffers_of_the_chat(state: str, start_nvim: StartNeovim) -> None:
    nvim = start_nvim("README.md", init=WITHOUT_HOST, columns=80)
    keys = [f":{line}<CR>" for line in lines(nvim)]
    keys += [f':call feedkeys("\\<lt>Plug>(Eca{it})")<CR>' for it in nvim.lua(ACTIONS)]
    failed = list[tuple[str, str]]()
    for each in keys:
        nvim.lua("require('eca').open({ chat = ... })", CHAT)
        draw(nvim, *chat_text("hello"), ["status", CHAT, {"title": "", "state": state}])
        nvim.keys(f":silent! %bwipeout!<CR>{each}")
        leave(nvim)
        shown = nvim.messages()
        if any(it in shown for it in FAULTS):
            failed.append((each, shown))
        nvim.take_errors()
    assert failed == []
