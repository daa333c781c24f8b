"""The user of a soak: a Neovim, chance, and what must be found again."""

from __future__ import annotations

import random
import re
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from tests.support.client import EditorError
from tests.support.editor import Neovim
from tests.support.processes import command_line

Value: TypeAlias = Any

REMEMBERED = 60
"""Actions that a failure shows."""
TOLD = 20
"""Messages that it shows."""
FAULTS = re.compile(
    r"E5108:|Error (executing|detected|in)|stack traceback:|Traceback|cannot draw"
    r"|an autocommand of ours"
)
"""Errors of Lua, and what `support/autocommands` watches. Others answer odd commands."""
INTERRUPTED = re.compile(r"(?:Error .*\n)?.*: Keyboard interrupt\nstack traceback:\n(?:\t.*\n?)*")
"""A Ctrl-C ends whatever Lua code runs at that moment."""
CURRENT = "return { vim.fn.mode(), vim.fn.win_getid(), vim.api.nvim_buf_get_name(0) }"
TRANSCRIPT = """
_G.soak_text = nil
require('eca').transcript(..., function(text) _G.soak_text = text or '' end)
"""
TEXTS = """
local chat = require('eca.chat.buffers').get(...)
if not chat then
  return 'there is no such chat'
end
local texts = { _G.soak_text, require('eca.input.drafts').text(chat) }
for _, buf in ipairs({ chat.buf, chat.input }) do
  if vim.api.nvim_buf_is_loaded(buf) then -- else the user has deleted it
    vim.list_extend(texts, vim.api.nvim_buf_get_lines(buf, 0, -1, false))
  end
end
for _, prompt in ipairs(require('eca.state.mirror').chat(chat.id).queue) do
  texts[#texts + 1] = prompt[2]
end
return table.concat(texts, '\\n')
"""
"""The transcript as the host has it and as it is drawn, the draft, and what waits to be sent."""
CHATS = """
return vim.tbl_map(function(chat)
  return { chat.id, chat.state, chat.server_name or '' }
end, require('eca').chats())
"""
CHAT_OF = "return require('eca.chat.buffers').of_buffer(vim.fn.bufnr(...)).id"
CHANGED = "return table.concat(vim.g.changed_windows or {}, '\\n')"


class Fault(AssertionError):
    """Raised by an action that finds something wrong."""


class Action(NamedTuple):
    """What the user may do, the more often the more it weighs."""

    weight: int
    run: Callable[[User], None]


@dataclass
class Sent:
    """A word that was sent.

    `wiped`: the user has deleted the buffers; `orphaned`: the host that had the text was killed.
    Who does both has no copy any more.
    """

    word: str
    wiped: bool = False
    orphaned: bool = False


@dataclass
class User:
    """Acts on one Neovim. `words`: what was sent and must be found again, by chat.

    `changing`: chats whose history changes once the user answers, or sends what was edited: what
    was said in them meanwhile goes with it.
    """

    nvim: Neovim
    home: Path
    chance: random.Random = field(default_factory=random.Random)
    words: dict[str, list[Sent]] = field(default_factory=dict)
    changing: set[str] = field(default_factory=set)
    sent: int = 0
    found: int = 0
    done: deque[str] = field(default_factory=lambda: deque(maxlen=REMEMBERED))

    def note(self, line: str) -> None:
        """Remember what was done, for a failure."""
        self.done.append(f"{time.strftime('%H:%M:%S')} {line}")
        with (self.home / "actions.log").open("a") as log:
            log.write(f"{self.done[-1]}\n")

    def one_of(self, items: Sequence[Value]) -> Value:
        """Choose by chance; a text is a list with `|` between."""
        return self.chance.choice(items.split("|") if isinstance(items, str) else items)

    def normal(self) -> None:
        """Go to normal mode, from wherever."""
        self.nvim.leave_prompt()
        self.nvim.keys("<C-\\><C-n>")

    def keys(self, keys: str) -> None:
        """Type keys; a prompt that opens is left."""
        self.note(f"keys {keys}")
        self.nvim.keys(keys)
        self.nvim.leave_prompt()

    def ex(self, line: str) -> None:
        """Type a command."""
        self.normal()
        self.keys(f":{line.replace('<', '<lt>')}<CR>")

    def eca(self, line: str) -> None:
        """Type a subcommand."""
        self.ex(f"Eca {line}")

    def type(self, keys: str, line: str) -> str:
        """Type keys that write a line into this window's buffer, in insert mode. Raises Fault.

        Returns the name of the buffer.
        """
        self.normal()
        before, (_, *place) = self.nvim.explain("Before:"), self.current()
        self.note(f"type {keys}")
        self.nvim.keys(keys)
        mode = self.nvim.request("nvim_get_mode")
        if mode["mode"][0] != "i" or mode["blocking"]:
            raise Fault(f"keys went elsewhere: {place} {mode} {before} {self.nvim.explain('')}")
        _, *now = self.current()
        shown = self.nvim.buffer_lines()
        if now != place or not any(line in it for it in shown):
            raise Fault(f"keys went elsewhere: {place} {now} {shown[-5:]}")
        return str(place[1])

    def lua(self, code: str, *arguments: Value) -> Value:
        """Ask Neovim, which is at no prompt."""
        self.nvim.leave_prompt()
        assert None not in arguments, "this is vim.NIL in Lua"
        return self.nvim.lua(code, *arguments)

    def current(self) -> tuple[str, int, str]:
        """Return the mode, the window and the name of its buffer."""
        mode, window, name = self.lua(CURRENT)
        return mode, window, name

    def host(self) -> int | None:
        """Return the process id of the host."""
        pid: int | None = self.lua("return require('eca.host').pid()")
        return pid

    def processes(self, part: str) -> list[int]:
        """Return the processes of this Neovim that have a part in their command line."""
        return [pid for pid in sorted(self.nvim.child.family()) if part in command_line(pid)]

    # --- chats -----------------------------------------------------------------------------------

    def chats(self) -> list[tuple[str, str, str]]:
        """Return id, state and server of each chat."""
        return [(chat, state, server) for chat, state, server in self.lua(CHATS)]

    def chat(self) -> str | None:
        """Choose a chat, None if there is none."""
        chats = self.chats()
        return self.one_of(chats)[0] if chats else None

    def input(self) -> str | None:
        """Go to the input of a chat; return the chat if the user is there."""
        self.ex("EcaChat")
        self.keys("<Esc>")
        is_there = "eca://input/" in self.current()[2]
        return str(self.lua("return require('eca').status().chat")) if is_there else None

    def chat_of(self, buffer: str) -> str:
        """Return the chat of an input. The user may be in another one by now: a fork opens late."""
        return str(self.lua(CHAT_OF, buffer))

    def word(self) -> str:
        """Return a word that was not sent yet."""
        self.sent += 1
        return f"word{self.sent:06}"

    def expect(self, chat: str, word: str) -> None:
        """Expect to find a word in a chat, unless its history is about to change."""
        if chat not in self.changing:
            self.words.setdefault(chat, []).append(Sent(word))

    def send(self, text: str, chat: str | None = None, server: str | None = None) -> None:
        """Send a prompt with a word of its own, in a chat or a new one."""
        word, options = self.word(), {"chat": chat} if chat else {"server": server}
        self.note(f"send {text} {word} {options}")
        self.expect(self.lua("return require('eca').send(...)", f"{text} {word}", options), word)

    def mark(self, what: str) -> None:
        """Note of all that was sent that it is `wiped` or `orphaned`."""
        for sent in chain(*self.words.values()):
            setattr(sent, what, True)

    def lost(self) -> list[str]:
        """Return the words that are nowhere in their chats any more."""
        lost = []
        for chat, sent in self.words.items():
            self.lua(TRANSCRIPT, chat)
            self.nvim.wait_until("_G.soak_text ~= nil")
            text = self.lua(TEXTS, chat)
            missing = [it for it in sent if it.word not in text]
            self.found += len(sent) - len(missing)
            gone = [it for it in missing if not (it.wiped and it.orphaned)]
            lost += [f"{it} of chat {chat}: {text[-400:]!r}" for it in gone]
        return lost

    # --- what goes wrong -------------------------------------------------------------------------

    def errors(self) -> list[str]:
        """Return the errors of ours that Neovim has shown, and forget all of them."""
        self.normal()
        changed = self.lua(CHANGED)
        messages = INTERRUPTED.sub("", self.nvim.messages())
        if not FAULTS.search(f"{messages}{changed}"):
            return []
        shown = self.nvim.explain(f"errors were shown: {changed}")
        self.nvim.take_errors()
        return [shown]

    def attempt(self, action: Callable[[User], None]) -> list[str]:
        """Do one thing; return what went wrong."""
        self.note(action.__name__)
        try:
            action(self)
            return [f"{action.__name__}: {line}" for line in self.errors()]
        except (EditorError, AssertionError) as fault:  # also what was waited for in vain
            return [f"{action.__name__}: {fault}\n{self.messages_after_all()}"]

    def messages_after_all(self) -> str:
        """Return the last messages, also if Neovim waits for a key: they say why."""
        with suppress(EditorError):
            self.nvim.leave_prompt()
            return "\n".join(self.nvim.messages().splitlines()[-TOLD:])
        return ""


def eca(name: str, lines: str) -> Callable[[User], None]:
    """Return an action that types one of some subcommands, which `|` separates."""

    def run(user: User) -> None:
        user.eca(user.one_of(lines))

    run.__name__ = name
    return run
