"""Changing history: prompts wait while a request that replaces what was said has no response."""

from __future__ import annotations

from eca_nvim.chat.handlers.prompt_queue import keep_after_change, next_after_change
from eca_nvim.chat.handlers.turn import start_prompt
from eca_nvim.chat.model.changes import Changes
from eca_nvim.chat.model.chat import Chat
from eca_nvim.chat.update import Update
from eca_nvim.chat.vocabulary.states import History, Turn


def begin_change(chat: Chat) -> None:
    """Let the prompts of a chat wait from now on."""
    chat.history = History.CHANGING


def end_change(chat: Chat, now: int, *, sends: bool = True) -> Changes:
    """Send the first prompt that waited; the others follow it, one turn after the other.

    sends: else all of them stay queued. They also do while the agent runs a turn of its own.
    """
    update = Update(chat, chat.root, now)
    chat.history = History.SETTLED
    is_free = sends and chat.turn.state is Turn.IDLE
    prompt = next_after_change(update) if is_free else None
    keep_after_change(update)
    if prompt is not None:
        start_prompt(update, prompt.text, prompt.contexts)
    return update.finish()
