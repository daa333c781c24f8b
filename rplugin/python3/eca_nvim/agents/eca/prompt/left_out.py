"""Left out: what of a prompt's contexts is sent, and what is said about the rest.

Rules kept here:
- A context that the prompt names is reported each time; one that belongs to every prompt, once.
- The server drops silently what it does not take with a command, or in a running turn: we say it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from eca_nvim.agents.attached_files import fit
from eca_nvim.chat.vocabulary.contexts import (
    Context,
    DiffContext,
    ImageContext,
    ResourceContext,
    TextContext,
    Tokened,
)

_NOT_NAMED: Final = ImageContext | ResourceContext | TextContext | DiffContext
"""Contexts that the text of a message cannot name."""


class FittedContexts:
    """Fits the contexts of a server's prompts."""

    def __init__(self) -> None:
        self._reported: set[tuple[str, str]] = set()  # our chat id and a line

    def fit(
        self, chat_id: str, contexts: Iterable[Context]
    ) -> tuple[tuple[Context, ...], Sequence[str]]:
        """Return what of contexts is sent, and lines about what is not."""
        sent: list[Context] = []
        lines: list[str] = []
        for context in contexts:
            fitted = fit(context)
            if fitted.context is not None:
                sent.append(fitted.context)
            if fitted.message is not None and self._is_news(chat_id, context, fitted.message):
                lines.append(fitted.message)
        return tuple(sent), lines

    def _is_news(self, chat_id: str, context: Context, line: str) -> bool:
        if isinstance(context, Tokened) and context.token:
            return True
        is_known = (chat_id, line) in self._reported
        self._reported.add((chat_id, line))
        return not is_known


def with_steer(contexts: Iterable[Context]) -> str | None:
    """Return a line about the contexts that words to a running turn cannot name."""
    names = _named_in_vain(contexts)
    advice = "<M-CR> or :Eca queue sends a prompt after it"
    return f"not sent to the running turn: {names}; {advice}" if names else None


def with_command(contexts: Iterable[Context]) -> str | None:
    """Return a line about the contexts that a command cannot name."""
    names = _named_in_vain(contexts)
    return f"a command takes only names of files, not sent: {names}" if names else None


def _named_in_vain(contexts: Iterable[Context]) -> str:
    return ", ".join(it.token for it in contexts if isinstance(it, _NOT_NAMED) and it.token)
