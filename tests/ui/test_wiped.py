"""Whatever is done when buffers or the folder are gone, or no split has room: nothing fails.

All subcommands, with all their words, and all actions.
"""

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.support.editor import Neovim
from tests.support.factories import StartNeovim
from tests.ui.staged import CHAT, WITHOUT_HOST, chat_text, draw
from tests.ui.talk import catch_up, host_of, say, start_chat, wait_line

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


def do(nvim: Neovim, line: str) -> None:
    """Type a command line, or press a <Plug>: typed as keys it would do what its letters do."""
    if line.startswith("<Plug>"):
        nvim.lua("vim.api.nvim_feedkeys(vim.keycode(...), 'm', false)", line)
        nvim.keys("")
    else:
        nvim.keys(f"<C-\\><C-n>:{line}<CR>")


def leave(nvim: Neovim) -> None:
    """Leave whatever a command asks, its windows, and Visual or insert mode.

    A report that waits for a process reads no key, but answers: it ends before a key is read.
    """
    for _ in range(3):
        if nvim.blocked() or nvim.mode[0] in "cr":
            nvim.keys("<C-c>")
    nvim.leave_prompt()
    nvim.keys("<C-\\><C-n>:let g:left = v:true<CR>")
    nvim.wait_until("vim.g.left")
    nvim.command("unlet g:left | silent! tabonly! | silent! only!")


def assert_nothing_fails(nvim: Neovim, prepare: Callable[[], object]) -> None:
    """Do everything, each after `prepare`."""
    failed = list[tuple[str, str]]()
    for each in [*lines(nvim), *(f"<Plug>(Eca{it})" for it in nvim.lua(ACTIONS))]:
        prepare()
        do(nvim, each)
        leave(nvim)
        shown = nvim.messages()
        if any(it in shown for it in FAULTS):
            failed.append((each, shown))
        nvim.take_errors()
    assert failed == []


@pytest.mark.either_nvim
@pytest.mark.parametrize("state", ["idle", "running"])
def test_nothing_fails_without_the_buffers_of_the_chat(state: str, start_nvim: StartNeovim) -> None:
    nvim = start_nvim("README.md", init=WITHOUT_HOST, columns=80)

    def prepare() -> None:
        nvim.lua("require('eca').open({ chat = ... })", CHAT)
        draw(nvim, *chat_text("hello"), ["status", CHAT, {"title": "", "state": state}])
        nvim.command("silent! %bwipeout!")

    assert_nothing_fails(nvim, prepare)


FILL = """
repeat until not pcall(vim.cmd.split)
repeat until not pcall(vim.cmd.split, { mods = { split = 'botright' } })
"""


@pytest.mark.either_nvim
def test_nothing_fails_where_no_split_has_room(start_nvim: StartNeovim) -> None:
    nvim = start_nvim("README.md", init=WITHOUT_HOST, columns=80)

    def prepare() -> None:
        nvim.lua("require('eca').open({ chat = ... })", CHAT)
        draw(nvim, *chat_text("hello"), ["status", CHAT, {"title": "", "state": "idle"}])
        nvim.keys("<C-\\><C-n>:drop README.md<CR>")
        nvim.lua(FILL)

    assert_nothing_fails(nvim, prepare)


def test_nothing_fails_in_a_folder_that_is_gone(start_nvim: StartNeovim, tmp_path: Path) -> None:
    nvim = start_nvim(init=WITHOUT_HOST, columns=80)
    gone(nvim, tmp_path)
    assert_nothing_fails(nvim, lambda: nvim.lua("require('eca').open({ chat = ... })", CHAT))


def gone(nvim: Neovim, folder: Path) -> None:
    """Have the working folder deleted."""
    (folder / "gone").mkdir()
    nvim.command(f"cd {folder / 'gone'}")
    (folder / "gone").rmdir()


def test_a_folder_that_is_gone_is_said_and_what_was_typed_is_sent_from_the_next(
    start_nvim: StartNeovim, tmp_path: Path
) -> None:
    nvim = start_nvim(settings={"server": "demo"}, columns=80)
    gone(nvim, tmp_path)
    nvim.keys(":EcaChat hello<CR>")
    nvim.wait_screen("eca: the working folder is gone: :cd elsewhere, then :Eca restart")
    nvim.take_errors()
    nvim.keys(f":cd {tmp_path}<CR>:Eca restart<CR>")
    nvim.wait_screen("Hello!")
    nvim.assert_no_errors()


SEND_TO_SEVERAL = """
local eca = require('eca')
return { eca.send('one'), eca.send('two', { server = 'demo' }) }
"""
DRAFT_OF = "return require('eca.input.drafts').text(require('eca.chat.buffers').get(...))"


@pytest.mark.whole_start
def test_what_a_host_has_not_taken_comes_back_into_all_inputs(
    start_nvim: StartNeovim, demo_server: list[str]
) -> None:
    nvim = start_chat(start_nvim, demo_server)
    say(nvim, "hello")
    wait_line(nvim, "hello")
    catch_up(nvim)
    host = host_of(nvim)
    os.kill(host, signal.SIGSTOP)
    chats = nvim.lua(SEND_TO_SEVERAL)
    nvim.keys(":silent! %bwipeout!<CR>")
    chats.append(nvim.lua("return require('eca').send(...)", "the last", {"server": "demo"}))
    os.kill(host, signal.SIGKILL)
    nvim.wait_until("require('eca.host').has_failed()")
    assert [nvim.lua(DRAFT_OF, chat) for chat in chats] == ["one", "two", "the last"]
    assert nvim.lua("return require('eca.host').has_failed()"), "only the user starts the next"
    nvim.take_errors()
