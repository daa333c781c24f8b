"""Nothing in Neovim grows with the chats that were: what Lua keeps of one goes when it is deleted.

One Neovim makes and deletes chats, in which it uses what chats have; then as many again.
"""

import sys
from collections import Counter

import pytest
from tests.demo.client import WITHOUT_PAUSES
from tests.support.editor import Neovim
from tests.support.factories import StartNeovim
from tests.support.lua_tables import entries
from tests.ui.every_feature import PENDING, eca, panel, prompt
from tests.ui.talk import catch_up, say, wait_idle

CHATS = 5
PATIENCE = 20
"""Seconds in which is gone what is on its way."""
KEPT = {
    "vim.": "what Neovim has loaded and parsed once",
    "eca.markdown.": "the languages and syntax groups that were shown",
    "eca.completion.editor_items.": "what was listed last",
    "group lsp_b_": "Neovim keeps a name for each buffer that a language client was attached to",
    "group nvim.lsp.b_": "the same in later versions",
}
"""What grows meanwhile, and why it may."""
PANELS = ("dashboard", "checkpoints", "jobs", "memory", "trace")
DELETE = """
for _, chat in ipairs(require('eca').chats()) do
  require('eca.host').send('delete', { chat = chat.id })
end
"""
PUT = "require('eca.preview').put({ buf = 0, first = 1, last = 1, lines = { 'one', 'two' } })"
ASKED = """vim.iter(require('eca').previews()):any(function(it)
  return it.kind == 'ask' and it.state == 'ready'
end)"""


def use(nvim: Neovim, number: int) -> None:
    """Make a chat and use what chats have."""
    nvim.command("silent! tabonly | silent! only")
    nvim.command("Eca new")
    eca(nvim, f"rename A title {number}", "model demo/echo", "trust off")
    prompt(nvim, "hello @src/calc.py:1-2")
    nvim.command("EcaChat")
    say(nvim, "fix the greeting")
    nvim.wait_until(PENDING)
    eca(nvim, "diff")
    nvim.wait_until("vim.fn.tabpagenr('$') == 2")
    nvim.keys("q")
    eca(nvim, "approve")
    wait_idle(nvim)
    nvim.command("Eca changes")
    nvim.wait_until("vim.bo.buftype == 'quickfix'")
    nvim.command("cclose | EcaChat")
    eca(nvim, "grep greet")
    nvim.wait_until("vim.fn.win_gettype() == 'loclist'")
    nvim.command("lclose")
    panel(nvim, "undo-turn", "u")  # else there is nothing to fix in the next chat
    nvim.wait_until("vim.fn.execute('messages'):find('undone')")
    nvim.command("EcaChat")
    prompt(nvim, "run it", "reject no")
    prompt(nvim, "ask me something", "answer Lua")
    prompt(nvim, "show markdown")
    prompt(nvim, "plan")
    eca(nvim, "plan")
    nvim.wait_until("vim.fn.bufname():find('eca://plan', 1, true)")
    nvim.keys("q")
    nvim.keys(":EcaChat<CR><Esc><C-w>kzMzRgg]][[")
    nvim.keys(":EcaChat<CR><Esc>A @src/ca")
    nvim.wait_until("vim.fn.pumvisible() == 1")
    nvim.keys("<C-e><Esc>0D")
    eca(nvim, "add src/calc.py", "add! src/calc.py", "trust on", "trust off", "queue later")
    nvim.keys(":EcaChat<CR><Esc>i<M-p><M-p><M-n><M-n><Esc>ggdGidraft<Esc>")
    eca(nvim, "review", "review hide")
    for name in ("files", "usage"):
        panel(nvim, name, "q")
    for name in PANELS:
        eca(nvim, name)
        nvim.wait_until(f"vim.api.nvim_buf_get_name(0) == 'eca://panel/{name}'")
        nvim.keys("q")
    nvim.keys(":silent! only<CR>:edit! src/calc.py<CR>")
    for decide in ("drop", "accept"):
        nvim.lua(PUT)
        nvim.wait_until("(require('eca').previews()[1] or {}).state == 'ready'")
        nvim.lua(f"require('eca').{decide}({{ id = require('eca').previews()[1].id }})")
        nvim.wait_until("#require('eca').previews() == 0")
    nvim.keys(":1Eca ask what is this<CR>")
    nvim.wait_until(ASKED)
    nvim.keys("dC")
    catch_up(nvim)
    nvim.keys(":edit! src/calc.py<CR>")


def forget(nvim: Neovim) -> None:
    """Delete all chats, and close all else."""
    nvim.command("silent! tabonly | silent! only | enew!")
    nvim.lua(DELETE)
    nvim.wait_until("#require('eca').chats() == 0")
    nvim.command("call setqflist([], 'f')")
    nvim.command("call histdel(':') | call histdel('/') | messages clear")
    nvim.keys("")


def round_of(nvim: Neovim) -> Counter[str]:
    """Use chats, delete them, and count what is left."""
    for number in range(CHATS):
        use(nvim, number)
    forget(nvim)
    return entries(nvim)


def leaks(now: Counter[str], first: Counter[str]) -> dict[str, int]:
    """Return what has grown with each chat, but for what may."""
    grown = {name: n for name, n in (now - first).items() if n >= CHATS}
    return {name: n for name, n in grown.items() if not name.startswith(tuple(KEPT))}


@pytest.mark.either_nvim
def test_lua_keeps_nothing_of_chats_that_are_deleted(start_nvim: StartNeovim) -> None:
    command = [sys.executable, *WITHOUT_PAUSES]
    settings = {"server": {"command": command}, "approval": {"guard": 0}}
    nvim = start_nvim(settings=settings, columns=120, lines=40)
    nvim.keys(":EcaChat<CR>")
    first = round_of(nvim)  # what is made at its first use is there then
    grown = leaks(round_of(nvim), first)
    for _ in range(PATIENCE):  # what was scheduled, and timers that have not fired yet
        nvim.child.channel.pump(1 if grown else 0)
        grown = leaks(entries(nvim), first) if grown else {}
    assert grown == {}
