"""Files that a prompt names, where the server will really read them.

The server puts the contexts of a chat's first prompt into the system prompt and keeps that for the
whole chat: what later prompts add is announced and not read. What a message itself names as
`@/path:L10-L20` is read with that message, always.

Rules kept here:
- The first prompt of a chat sends what it names as contexts, its words untouched. Later prompts
  name it in the message, and repeat the first one's contexts, so that nothing seems changed.
- The server echoes what it was sent, and replays it; the chat is told what the user typed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from eca_nvim.agents.base import Prompt
from eca_nvim.chat.contexts import Context, DirectoryContext, FileContext

_READABLE = re.compile(r"/[^\s:]+")
"""Paths that the server finds in a message."""


class Mentions:
    """What the prompts of one server process named."""

    def __init__(self) -> None:
        self._opening: dict[str, tuple[Context, ...]] = {}  # by chat: named in its first prompt
        self._typed: dict[str, str] = {}  # by the words that were sent instead

    def write(self, prompt: Prompt) -> tuple[str, tuple[Context, ...]]:
        """Return the message and the contexts to send for a prompt."""
        opening = self._opening.get(prompt.chat_id)
        if opening is None:
            self._opening[prompt.chat_id] = tuple(filter(_mention, prompt.contexts))
            return prompt.text, prompt.contexts
        message, others = prompt.text, list[Context](opening)
        for context in prompt.contexts:
            mention = _mention(context)
            if mention is None:
                others.append(context)
            else:
                message = message.replace(*mention)
        self._remember(message, prompt.text)
        return message, tuple(dict.fromkeys(others))

    def write_steer(self, text: str, contexts: Sequence[Context]) -> str:
        """Return the message to send for words to a running turn: it can only name files."""
        message = text
        for mention in filter(None, map(_mention, contexts)):
            message = message.replace(*mention)
        self._remember(message, text)
        return message

    def _remember(self, sent: str, typed: str) -> None:
        if sent != typed:
            self._typed[sent.strip()] = typed

    def read(self, echo: str) -> str:
        """Return what the user typed for a message that the server echoes, or joins in an echo."""
        if (typed := self._typed.pop(echo.strip(), None)) is not None:
            return typed
        for sent in [it for it in self._typed if it in echo]:
            echo = echo.replace(sent, self._typed.pop(sent))
        return echo

    def resumed(self, chat_id: str) -> None:
        """Note that a chat had its first prompt in another life of the server."""
        self._opening.setdefault(chat_id, ())


def _mention(context: Context) -> tuple[str, str] | None:
    """Return a token of the prompt and how the server reads the same; None when it cannot."""
    if not isinstance(context, FileContext | DirectoryContext) or context.token is None:
        return None
    if not _READABLE.fullmatch(context.path):
        return None
    lines = ""
    if isinstance(context, FileContext) and context.first is not None and context.last is not None:
        lines = f":L{context.first}-L{context.last}"
    return context.token, f"@{context.path}{lines}"
