"""Uses every feature of the plugin once, on its happy path."""

import subprocess
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from tests.support.editor import Neovim
from tests.ui.talk import catch_up, draft, say, wait_idle, wait_line

Value: TypeAlias = Any

SEND = """
local intent, fields = ...
local chat = ('{ chat = %q, %s }'):format(require('eca').status().chat, fields)
require('eca.host').send(intent, loadstring('return ' .. chat)())
"""
"""Lua code that sends an intent about the current chat."""
SAID = "vim.fn.execute('messages'):find('{}')"
ANSWERED = """vim.iter(eca.previews()):any(function(it)
  return it.kind == 'ask' and it.state == 'ready'
end)"""
TOGGLE = """
local item = require('eca.state.mirror').pending()[1]
require('eca.diff.edits').toggle(item, item.hunks[1].rows[1])
"""
"""Lua code that leaves out the first hunk of a change that waits."""
PENDING = "#require('eca').pending() > 0"


def eca(nvim: Neovim, *lines: str) -> None:
    """Run subcommands one after the other, each when the host has handled the one before."""
    for line in lines:
        nvim.command(f"Eca {line}")
        catch_up(nvim)


def prompt(nvim: Neovim, text: str, *answers: str) -> None:
    """Send a prompt in the chat, and answer what is asked, each by a subcommand."""
    nvim.command("EcaChat")
    say(nvim, text)
    for answer in answers:
        item = nvim.wait_until("(require('eca').pending()[1] or {}).id")
        nvim.command(f"Eca {answer}")
        nvim.wait_until(f"(require('eca').pending()[1] or {{}}).id ~= {item!r}")
    wait_idle(nvim)


def wait_asked(nvim: Neovim, title: str) -> None:
    nvim.wait_until(f"(require('eca').pending()[1] or {{ title = '' }}).title:find('{title}')")


def panel(nvim: Neovim, line: str, *keys: str) -> None:
    """Run a subcommand that opens a float, and press keys in it."""
    nvim.command(f"Eca {line}")
    nvim.wait_until("vim.api.nvim_win_get_config(0).relative ~= ''")
    for key in keys:
        nvim.keys(key)


def answers(nvim: Neovim) -> None:
    """Answer calls and questions of a server in all ways."""
    nvim.command("EcaChat")
    say(nvim, "fix the greeting")
    nvim.wait_until(PENDING)
    eca(nvim, "diff")
    nvim.wait_until("vim.fn.tabpagenr('$') == 2")
    nvim.keys("-")
    nvim.wait_until(SAID.format("nothing would be left"))
    nvim.keys("q")
    nvim.lua(TOGGLE)
    nvim.command("Eca approval")
    nvim.keys("q")
    nvim.lua("require('eca').approve({ hunks = { 1 } })")
    wait_idle(nvim)
    prompt(nvim, "run it", "choose 1")
    prompt(nvim, "replace", "reject no")
    nvim.command("EcaChat")
    say(nvim, "parallel")
    nvim.wait_until(PENDING)
    nvim.command("Eca approve-all!")
    nvim.command("Eca approve")  # "all" allows nothing which is not drawn yet
    wait_idle(nvim)
    prompt(nvim, "ask me something", "answer Lua")
    prompt(nvim, "delegate", "approve")
    prompt(nvim, "diagnostics")
    prompt(nvim, "plan")
    eca(nvim, "tasks", "stop", "plan")
    nvim.wait_until("vim.fn.bufname():find('eca://plan', 1, true)")
    nvim.keys("q")


def waiting_prompts(nvim: Neovim) -> None:
    nvim.command("EcaChat")
    say(nvim, "stream 1000000")
    wait_line(nvim, "100")
    eca(nvim, "queue hello", "unqueue", "queue hello", "steer and now", "stop")
    wait_idle(nvim)
    nvim.command("EcaChat")
    nvim.keys("ggdG")


def review(nvim: Neovim) -> None:
    """List changes, keep, comment, review and undo them; list the files used."""
    eca(nvim, "trust on")
    prompt(nvim, "run it")
    eca(nvim, "trust off")
    prompt(nvim, "refactor", *["approve"] * 5)  # no tree has its files: each is seen as it is asked
    nvim.command("Eca changes")
    nvim.wait_until("vim.bo.buftype == 'quickfix'")
    nvim.keys("jj")
    eca(nvim, "changes keep", "changes comment", "changes send")
    wait_idle(nvim)
    nvim.command("cclose")
    eca(nvim, "review", "review hide")
    panel(nvim, "files", "q")
    panel(nvim, "usage", "q")
    panel(nvim, "undo-turn", "/greet.py<CR>", "d")
    nvim.wait_until(f"vim.fn.tabpagenr('$') == 2 or {SAID.format('no text to compare')}")
    nvim.keys(":tabfirst | silent! tabonly<CR>")
    panel(nvim, "undo-turn", "u")
    nvim.wait_until(SAID.format("undone"))
    eca(nvim, "conflicts")


def context(nvim: Neovim) -> None:
    """Send contexts with a prompt, complete and check them; use templates."""
    nvim.keys(":1wincmd w<CR>:edit src/calc.py<CR>")
    eca(nvim, "add", "contexts", "add src/mod.lua", "add! src/mod.lua")
    eca(nvim, "rewrite as it was", "put")
    nvim.lua("require('eca.preview').put({ buf = 0, first = 1, last = 1, lines = {} })")
    nvim.lua("require('eca.host').ask('path_risks', { path = '/etc/hosts' }, function() end)")
    catch_up(nvim)
    nvim.lua("eca = require('eca') eca.drop() eca.drop({ id = eca.rewrite({ prompt = 'x' }) })")
    catch_up(nvim)
    eca(nvim, "ask what is this")
    nvim.wait_until(ANSWERED)
    nvim.keys("dC")
    eca(nvim, "delete!")
    nvim.keys(":1wincmd w<CR>")
    subprocess.run(["git", "add", "a.txt"], cwd=nvim.launch.cwd, check=True)
    nvim.command("Eca commit")
    nvim.wait_until("vim.bo.filetype == 'gitcommit'")
    nvim.command("Eca commit!\nEca commit!\nquit!")  # the second ends the first, which has no time
    nvim.keys("i")
    nvim.lua("require('eca').complete() vim.cmd.stopinsert()")
    nvim.command("Eca complete")
    nvim.keys("<Esc>")
    nvim.command("EcaChat")
    eca(nvim, "paste")
    nvim.wait_for(lambda: ".png" in draft(nvim), "the image")
    nvim.keys("A @src/ca")
    nvim.wait_until("vim.fn.pumvisible() == 1")
    nvim.keys("<C-e>lc.py is what @README.md:1-2 and @diff say<Esc>")
    catch_up(nvim)
    nvim.keys("<C-s>")
    wait_idle(nvim)
    eca(nvim, "template explain")
    wait_idle(nvim)
    eca(nvim, "template")  # the first of them wants the changes, and is idle until it has them
    nvim.wait_until("_G.used.intents.read_diff")
    wait_idle(nvim)
    eca(nvim, "prompts")
    nvim.keys(":1wincmd w<CR>:edit src/calc.py<CR>x:write<CR>")
    eca(nvim, "act")
    wait_idle(nvim)


def text(nvim: Neovim) -> None:
    """Fold the text of a chat, open it in full, search and export it."""
    nvim.command("EcaChat")
    nvim.keys("<Esc><C-w>kgg/read<CR>zazozczMzR")
    for intent, more in (
        ("act", ""),
        ("output", "row = 0"),
        ("reveal", "request = 0, row = 0"),
        ("place", "request = 0, row = 0, column = 0"),
    ):
        nvim.lua(SEND, intent, f"block = 3, {more}")
    eca(nvim, "export", "log", "report", "help", "grep greet")
    nvim.wait_until("vim.fn.win_gettype() == 'loclist'")
    nvim.keys(":EcaChat<CR><Esc><C-w>k:silent! only<CR>")


def chats(nvim: Neovim) -> None:
    eca(nvim, "new", "rename A title", "model demo/echo", "agent plan", "variant low", "options")
    prompt(nvim, "hello")
    prompt(nvim, "fail")
    nvim.keys(":EcaChat<CR><Esc>:Eca retry<CR>")
    wait_line(nvim, "answer 2/2")
    wait_idle(nvim)
    nvim.keys("]r")
    wait_line(nvim, "answer 1/2")
    nvim.keys(":EcaChat<CR><Esc><C-w>kgg/^hello$<CR>")
    eca(nvim, "flag bookmark")
    wait_line(nvim, "bookmark")
    nvim.keys(":EcaChat<CR><Esc><C-w>kgg/bookmark<CR>")
    eca(nvim, "flag!", "history", "older")
    nvim.keys(":EcaChat<CR><Esc>:Eca edit<CR>")
    nvim.wait_until("require('eca.chat.buffers').get(require('eca').status().chat).edit ~= nil")
    nvim.keys("ggdG")
    nvim.lua(LISTED)
    for line, intent in (("rollback", "rollback"), ("fork", "fork"), ("resume", "list_chats")):
        nvim.keys(f":EcaChat<CR><Esc>:Eca {line}<CR>")
        nvim.wait_until(f"_G.used.intents.{intent}")
        catch_up(nvim)
        if line == "fork":  # its copy comes up when the server has made it
            nvim.wait_until("require('eca').status().title == 'hello (2)'")
    nvim.wait_until("_G.listed == 4")  # what is chosen is shown, and takes the focus
    nvim.lua(SEND, "resume", "")
    eca(nvim, "chats 1", "chats")
    eca(nvim, "clear!", "delete!", "hide", "toggle")


def panels(nvim: Neovim) -> None:
    """Show each panel, and have one ask again."""
    nvim.command("EcaChat")
    for name, _ in nvim.lua("return require('eca.state.panel_names')"):
        eca(nvim, name)
        nvim.wait_until(f"vim.api.nvim_buf_get_name(0) == 'eca://panel/{name}'")
        nvim.keys("rq" if name == "providers" else "q")
    nvim.lua("require('eca').restore({ checkpoint = 'none' }, function() _G.answered = true end)")
    nvim.wait_until("_G.answered")
    nvim.lua("require('eca').hide() require('eca').send('hello')")  # a turn that ends unseen
    wait_idle(nvim)


def servers(nvim: Neovim) -> None:
    (nvim.launch.home / "other").mkdir()
    eca(nvim, f"folder add {nvim.launch.home}/other", f"folder remove {nvim.launch.home}/other")
    eca(nvim, "new", "login", "logout", "restart", "quit", "start")
    nvim.wait_until("require('eca').status().server == 'ready'")
    eca(nvim, "demo", "server quick")


LISTED = """
local select = vim.ui.select
_G.listed = 0
vim.ui.select = function(...)
  select(...)
  _G.listed = _G.listed + 1
end
"""


FEATURES: Sequence[Callable[[Neovim], None]] = (
    *(answers, waiting_prompts, review, context, text, chats, panels, servers),
)
