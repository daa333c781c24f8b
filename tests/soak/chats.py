"""What a user of a soak does in chats: prompts, answers, choices, history, panels."""

from __future__ import annotations

import time

from tests.soak.agents import CHAT_SERVERS
from tests.soak.user import Action, User, eca

MOST_CHATS = 40
PATIENCE = 5.0
"""Seconds in which a chat is deleted."""
PROMPTS = (
    "hello|fix the greeting|refactor|run it|replace a word|diagnostics|ask me something|"
    "show markdown|parallel|delegate|plan|stream 300|stream 5000|stream 40000|fail|crash|"
    "@src/calc.py:1-3 and @diff and @diagnostics"
)
APPROVAL_KEYS = "a|A|r|R|d|q|-|jjkk<C-d>G"
TRANSCRIPT_KEYS = (
    "zM|zR|gg<Tab>|G|]]|[[|]a|]b|[b|]w|gh|gy|ggjj<CR>|gC|gd|gf|g<CR>|gm|]f|]r|/word<CR>n|"
    "<C-d><C-u>|gx|g?"
)
OPEN = "EcaChat|tab EcaChat|Eca toggle|Eca hide|botright EcaChat"
PANELS = "server|dashboard|checkpoints|jobs|mcp|tools|providers|memory|trace"
OPTIONS = (
    "trust on|trust off|model demo/echo|agent plan|agent!|variant low|options|rename a title|"
    "add src/calc.py|add! src/calc.py|contexts"
)
LOOKS = (
    "changes|files|usage|tasks|plan|diff|review|review hide|log|history|prompts|export|grep word|"
    "conflicts|help|chats"
)
HISTORY = "rollback|fork|retry|edit|clear!|flag here|flag!|older"
APPROVALS = "approve|approve!|reject|reject not so|approve-all|choose 1"
TEMPLATES = "template explain|template why|template commit|commit|commit!"
RESTORE = """
local all = require('eca').checkpoints()
if all[1] then
  require('eca').restore({ checkpoint = all[math.random(#all)].id }, function() end)
end
"""


def prompt(user: User) -> None:
    """Send a prompt, in a chat or a new one."""
    chat = user.chat()
    if chat is None or (user.chance.random() < 0.3 and len(user.chats()) < MOST_CHATS):
        user.send(user.one_of(PROMPTS), server=user.one_of(CHAT_SERVERS))
    else:
        user.send(user.one_of(PROMPTS), chat)


def new_chats(user: User) -> None:
    """Send prompts in several new chats at once."""
    for _ in range(min(user.chance.randint(3, 8), MOST_CHATS - len(user.chats()))):
        user.send(user.one_of(PROMPTS), server=user.one_of(CHAT_SERVERS))


def show(user: User) -> None:
    """Open a chat, or hide it."""
    chat = user.chat()
    if chat and user.chance.random() < 0.6:
        user.normal()
        user.lua("require('eca').open({ chat = ... })", chat)
    else:
        user.ex(user.one_of(OPEN))


def type_prompt(user: User) -> None:
    """Type into the input while turns run, and send, queue or leave that."""
    if user.input():
        word = user.word()
        input_name = user.type(f"Go{word} hello @src", f"{word} hello @src")
        user.expect(user.chat_of(input_name), word)
        user.keys(user.one_of(("<C-e>/calc.py<C-s><Esc>", "<Esc><CR>", "<Esc>", "<M-CR><Esc>")))


def answer(user: User) -> None:
    """Answer what is asked, by a command, by Lua, or by keys in the float."""
    pending = user.lua("return require('eca').pending()")
    if not pending:
        return
    one = user.one_of(pending)
    if one["kind"] == "question":
        text = user.one_of(("'Lua'", "'1'", "nil"))
        user.lua(f"require('eca').answer({text}, ...)", {"id": one["id"]})
    elif user.chance.random() < 0.4:
        user.eca(user.one_of(APPROVALS))
    elif user.chance.random() < 0.5:
        hunks = [hunk["n"] for hunk in one.get("hunks") or []]
        taken = {"hunks": user.chance.sample(hunks, 1)} if hunks else {}
        user.lua("require('eca').approve(...)", {"id": one["id"], **taken})
    else:
        user.eca("approval")
        if "eca://input/" not in user.current()[2]:  # else the request is gone, and they edit words
            user.keys(user.one_of(APPROVAL_KEYS))
            user.keys("q")


def stop(user: User) -> None:
    """Stop a turn."""
    if chat := user.chat():
        user.lua("require('eca').stop(...)", chat)


def waiting_prompts(user: User) -> None:
    """Queue, steer and take back prompts of the chat that is shown."""
    chat, word = user.input(), user.word()
    if chat:
        user.eca(user.one_of((f"queue hello {word}", f"steer hello {word}")))
        if chat == user.lua("return require('eca').status().chat"):  # else a fork has opened
            user.expect(chat, word)
        user.eca(user.one_of(("unqueue", "stop", "chats 1")))


def read(user: User) -> None:
    """Move about in a transcript, fold and search it."""
    user.ex("EcaChat")
    user.keys("<Esc><C-w>k")
    for _ in range(3):
        key = user.one_of(TRANSCRIPT_KEYS)
        user.keys(key)
        if key == "]r":  # with another answer goes all that was said after this one
            user.words.pop(user.lua("return require('eca').status().chat"), None)
        user.keys("<Esc>")


def history(user: User) -> None:
    """Change what was said; the words of that chat may be gone then, or later."""
    chat, line = user.input(), user.one_of(HISTORY)
    if chat and line in ("rollback", "edit", "clear!"):
        user.words.pop(chat, None)
        user.changing.add(chat)
    elif chat and line == "retry":  # answers to questions go with the turn that is put aside
        user.words.pop(chat, None)
    user.eca(line)


def delete(user: User) -> None:
    """Delete a chat."""
    chat = user.chat()
    if chat and len(user.chats()) > 3:
        user.normal()
        user.lua("require('eca').open({ chat = ... })", chat)
        user.words.pop(chat, None)
        user.eca("delete!")
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline and any(it == chat for it, _, _ in user.chats()):
            user.nvim.child.channel.pump(0.1)  # what is typed there meanwhile goes with it


def panel(user: User) -> None:
    """Open a panel, move in it, use it, close it."""
    user.eca(user.one_of(PANELS))
    user.keys(user.one_of(("jjk", "G<CR>", "<Tab><Tab>", "r", "/a<CR>", "g?")))
    user.keys("<Esc>")
    user.normal()
    if "eca://panel" in user.current()[2]:
        user.keys("q")


def look(user: User) -> None:
    """Open one of what shows something of a chat, and leave it."""
    user.eca(user.one_of(LOOKS))
    user.keys("jk")
    if user.chance.random() < 0.7:
        user.keys("q")
        user.ex("silent! cclose | silent! lclose | silent! helpclose")


def undo(user: User) -> None:
    """Go back to a checkpoint, or undo a turn."""
    user.lua(RESTORE)
    user.eca("undo-turn")
    if "eca://input/" not in user.current()[2]:  # else `u` undoes what was typed there
        user.keys(user.one_of(("u", "q", "d")))
    user.ex("silent! tabonly | silent! helpclose")


ACTIONS = (
    *(Action(16, prompt), Action(2, new_chats), Action(8, show), Action(10, type_prompt)),
    *(Action(26, answer), Action(4, stop), Action(4, waiting_prompts), Action(6, read)),
    *(Action(3, history), Action(2, delete), Action(8, panel), Action(6, look), Action(2, undo)),
    *(Action(6, eca("choose", OPTIONS)), Action(1, eca("resume", "resume long chat|older"))),
    Action(2, eca("template", TEMPLATES)),
)
