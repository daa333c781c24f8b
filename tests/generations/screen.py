"""A view without Neovim: keeps blocks, statuses and lines in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import anyio
from tests.chat.view import View
from tests.session.rig import Recorder

from eca_nvim.chat.vocabulary.completion import SetCompletions
from eca_nvim.chat.vocabulary.ops import (
    Emit,
    ForgetChat,
    Notify,
    SetStatus,
    SetUsage,
    ViewOp,
)
from eca_nvim.chat.vocabulary.options import SetOptions
from eca_nvim.chat.vocabulary.panels import SetRows

Value: TypeAlias = Any
TIMEOUT = 20.0
"""Seconds until a wait fails."""
SYNC = "sync"
"""A prompt in this chat shows that the server has read everything before."""


class Screen(Recorder):
    """What is shown, by chat."""

    def __init__(self) -> None:
        super().__init__()
        self.views: dict[str, View] = {}

    def push(self, ops: Iterable[ViewOp]) -> None:
        """Apply ops, and check their rules."""
        ops = list(ops)
        for op in ops:
            if isinstance(op, ForgetChat):
                self.views.pop(op.chat)
            elif isinstance(chat := getattr(op, "chat", None), str):
                self.views.setdefault(chat, View()).draw([op])
        super().push(ops)

    def status(self, chat: str) -> Mapping[str, Value]:
        """Return the last status of a chat."""
        return self.views[chat].status if chat in self.views else {}

    def statuses(self, chat: str) -> Sequence[Mapping[str, Value]]:
        """Return all statuses that a chat had."""
        return [op.status for op in self.of(SetStatus) if op.chat == chat]

    def transcript(self, chat: str) -> str:
        """Return the lines of a chat."""
        return self.views[chat].text if chat in self.views else ""

    def last_usage(self, chat: str) -> str:
        """Return the tokens and the cost of a chat, as they are shown."""
        told = [op.rows for op in self.of(SetUsage) if op.chat == chat]
        rows = told[-1] if told else []
        return "\n".join("".join(segment[0] for segment in row) for row in rows)

    def completed(self, chat: str) -> str:
        """Return the items of the last completion, a line each."""
        told = [op.items for op in self.of(SetCompletions) if op.chat == chat]
        return "\n".join(map(_item_line, told[-1] if told else ()))

    def listed(self) -> str:
        """Return the rows of the panel."""
        rows: list[str] = []
        for op in self.of(SetRows):
            shown = (" ".join(text for text, *_ in row.line) for row in op.rows)
            rows[op.at : op.at + op.removed] = shown
        return "\n".join(rows)

    def offers(self) -> Mapping[str, Value]:
        """Return the names on offer in the last chat, by the name of the option."""
        told = self.of(SetOptions)
        rows = told[-1].options if told else ()
        return {row["name"]: tuple(it["name"] for it in row["offers"]) for row in rows}

    def lines(self) -> str:
        """Return the messages outside of chats."""
        return "\n".join(op.text for op in self.of(Notify))

    def closed(self) -> Sequence[str]:
        """Return the deleted chats."""
        return [str(op.data["chat"]) for op in self.of(Emit) if op.event == "EcaChatClosed"]

    async def until(self, condition: Callable[[], object]) -> None:
        """Wait until a condition is true. Raises TimeoutError with the screen."""
        try:
            with anyio.fail_after(TIMEOUT):
                while not condition():
                    self._arrived = anyio.Event()
                    await self._arrived.wait()
        except TimeoutError:
            lately = {str(getattr(op, "chat", SYNC)) for op in self.ops} - {SYNC}
            shown = [f"{chat}: {self.status(chat)}\n{self.transcript(chat)}" for chat in lately]
            raise TimeoutError("\n\n".join([*shown, self.lines()])) from None


def _item_line(item: Mapping[str, Value]) -> str:
    arguments = (f"{it['name']}: {it['description']}" for it in item["arguments"])
    return " ".join([item["kind"], item["text"], item["detail"], *arguments])
