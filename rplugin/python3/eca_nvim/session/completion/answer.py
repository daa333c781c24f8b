"""Answer: the items for one query, which come from several sources and only grow."""

from __future__ import annotations

from collections.abc import Iterable

import anyio
from msgspec.structs import asdict

from eca_nvim.chat.vocabulary.completion import (
    MOST_ITEMS,
    Complete,
    CompletionItem,
    SetCompletions,
)
from eca_nvim.session.view import View


class Superseded(Exception):
    """Raised in a search when a newer query has come."""


class Answer:
    """The items so far; `waiting`: how many sources have not given theirs."""

    def __init__(self, query: Complete, view: View) -> None:
        self.query = query
        self.scope = anyio.CancelScope()
        self.waiting = 0
        self._view = view
        self._items: dict[str, CompletionItem] = {}

    def check(self) -> None:
        """Raise Superseded if a newer query has come; called from threads."""
        if self.scope.cancel_called:
            raise Superseded

    def add(self, items: Iterable[CompletionItem]) -> None:
        """Append what a source gave; send the answer if that changes it."""
        self.waiting -= 1
        before = len(self._items)
        for item in items:
            if len(self._items) < MOST_ITEMS:
                self._items.setdefault(item.text, item)
        if len(self._items) > before or not self.waiting:
            self._send()

    def _send(self) -> None:
        asked = self.query
        items = [_table(item) for item in self._items.values()]
        final = not self.waiting
        self._view.push([SetCompletions(asked.chat, asked.trigger, asked.query, items, final)])


def _table(item: CompletionItem) -> dict[str, object]:
    return asdict(item) | {"arguments": [asdict(it) for it in item.arguments]}
