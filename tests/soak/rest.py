"""A rest: all turns end, what was sent is looked for, everything is closed, and counted."""

from __future__ import annotations

import json
import subprocess
import time
from collections import Counter

from tests.soak.counts import Counts, Names, come, count, more
from tests.soak.user import Fault, User

SETTLING = 30.0
"""Seconds in which what was ended is gone."""
PATIENCE = 5.0
"""Seconds in which a chat is deleted. Who opens it meanwhile has it again afterwards."""
STOP = """
local eca = require('eca')
for _, item in ipairs(eca.pending()) do
  if item.kind == 'question' then
    eca.answer(nil, { id = item.id })
  else
    eca.reject({ id = item.id })
  end
end
for _, chat in ipairs(eca.chats()) do
  if chat.state ~= 'idle' then
    eca.stop(chat.id)
  end
end
"""
DELETE = """
local id = ...
require('eca').open({ chat = id }) -- a host that has just started does not know it yet
require('eca.host').send('delete', { chat = id })
"""
CLOSE = """
for _, preview in ipairs(require('eca').previews()) do
  require('eca').drop({ id = preview.id })
end
for _, command in ipairs({ 'tabonly!', 'fclose!', 'only!', 'set nowinfixbuf', 'enew!' }) do
  vim.cmd('silent! ' .. command) -- each alone: Neovim 0.10 takes nothing after `fclose`
end
for _, buf in ipairs(vim.api.nvim_list_bufs()) do
  local name = vim.api.nvim_buf_get_name(buf)
  local is_file = not name:find('^eca://') or name:find('^eca://plan') -- which may have changes
  if is_file and buf ~= vim.api.nvim_get_current_buf() then
    pcall(vim.api.nvim_buf_delete, buf, { force = true })
  end
end
vim.fn.setqflist({}, 'f')
vim.fn.histdel(':')
vim.fn.histdel('/')
"""
SERVERS = ("soak", "quick", "acp", "script", "keeper", "demo")
READY = """
vim.iter(vim.json.decode([=[{all}]=])):all(function(name)
  return require('eca.state.mirror').server(name).state == 'ready'
end)
"""


def rest(user: User, first: Counts | None, before: Names) -> tuple[Counts, Names, list[str]]:
    """Come to rest; return the counts, their names, and what is wrong.

    first: the counts of the first rests, before: the names of the last of them.
    """
    user.note("rest")
    user.normal()
    user.nvim.request("nvim_ui_try_resize", 120, 40)
    if user.lua("return require('eca.host').has_failed()"):
        user.eca("restart")
    settle(user)
    wrong = [f"lost: {word}" for word in user.lost()]
    wrong += close(user)
    now, names = count(user)
    deadline = time.monotonic() + SETTLING
    while first and more(now, first) and time.monotonic() < deadline:
        user.nvim.child.channel.pump(0.5)
        now, names = count(user)
    if first:
        grown = more(now, first)
        wrong += [f"{it}: {first.get(it, 0)} → {now[it]} {come(it, names, before)}" for it in grown]
    return now, names, wrong + user.errors()


def settle(user: User) -> None:
    """End all turns, also one that begins late: by stopping them, else by ending the servers."""
    began = time.monotonic()
    while busy := [it for it in user.chats() if it[1] != "idle"]:
        passed = time.monotonic() - began
        if passed > 3 * SETTLING:
            raise Fault(f"turns do not end: {busy}")
        user.lua(STOP)
        for server in sorted({server for _, _, server in busy if passed > SETTLING / 2}):
            user.eca(f"quit! {server}")
        user.nvim.child.channel.pump(0.5)


def close(user: User) -> list[str]:
    """Close all that is open, delete all chats, and end all servers but one; return what is wrong.

    What is wrong is a chat that is back although it was deleted.
    """
    user.lua(CLOSE)
    deleted = delete(user)
    user.words.clear()
    user.changing.clear()
    for action in ("quit!", "start", "quit!"):  # what went over the last connections is kept
        for server in SERVERS:
            user.eca(f"{action} {server}")
        if action == "start":
            user.nvim.wait_until(READY.format(all=json.dumps(SERVERS)))
    user.eca("start soak")
    user.nvim.wait_until(READY.format(all='["soak"]'))
    back = [it for it, _, _ in user.chats() if deleted[it] == 1]
    delete(user)
    drop_checkpoints(user)
    user.lua(CLOSE)
    return [f"deleted chats are back: {back}"] if back else []


def delete(user: User) -> Counter[str]:
    """Delete all chats; return how often each was deleted, by its id."""
    began, deleted = time.monotonic(), Counter[str]()
    while left := user.chats():  # once more, if a server has ended before its answer
        passed = time.monotonic() - began
        if passed > SETTLING:
            raise Fault(f"chats cannot be deleted: {left}")
        for chat in [it for it, _, _ in left if deleted[it] * PATIENCE <= passed]:
            user.lua(DELETE, chat)
            deleted[chat] += 1
        user.nvim.child.channel.pump(0.5)
    return deleted


def drop_checkpoints(user: User) -> None:
    """Delete all checkpoints, as another Neovim may: they are kept for days, and listed.

    Files may still be on their way back to an earlier one, and the way back makes some, too.
    """
    deadline = time.monotonic() + SETTLING
    while True:
        for store in (user.home / "state").rglob("checkpoints/*/HEAD"):
            git = ["git", "--git-dir", str(store.parent)]
            listed = [*git, "for-each-ref", "--format=delete %(refname)", "refs/checkpoints"]
            refs = subprocess.run(listed, check=True, capture_output=True)
            subprocess.run([*git, "update-ref", "--stdin"], check=True, input=refs.stdout)
        user.eca("checkpoints")
        user.nvim.child.channel.pump(0.5)
        left = user.lua("return #require('eca').checkpoints()")
        user.keys("q")
        if not left:
            return
        if time.monotonic() > deadline:
            raise Fault(f"{left} checkpoints are still there")
