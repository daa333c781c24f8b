"""Argument peek: finds the main argument of a call while the model is still writing it.

Rules kept here:
- The cost of a chunk does not grow with the arguments: only the first HEAD characters are searched,
  and only until the main argument is found.
- The arguments are JSON that may be cut anywhere; they are never parsed here.
- An id names a call until its arguments are complete, or its turn is over: then another call may
  have it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

from msgspec.structs import replace

from eca_nvim.agents.eca.content.known_tools import known_so_far
from eca_nvim.chat.vocabulary.events import (
    ChatEvent,
    ToolFinished,
    ToolPreparing,
    ToolRejected,
    ToolRequested,
    ToolRunning,
)
from eca_nvim.chat.vocabulary.turn_events import TurnEvent
from eca_nvim.patterns import late_pattern

HEAD: Final = 2000
_NAMES: Final = "path|command|pattern|question|source|symbol|agent|url|file|name"
_MAIN_ARGUMENT = late_pattern(rf'"({_NAMES})"\s*:\s*("(?:[^"\\]|\\.)*")')


def main_argument(arguments: Mapping[str, object]) -> str | None:
    """Return the argument that best says what a call is about, if there is one."""
    values = (arguments.get(name) for name in _NAMES.split("|"))
    return next((value for value in values if isinstance(value, str)), None)


class ArgumentPeek:
    """The name and value of the main argument, once it is found."""

    __slots__ = ("_head", "main_argument")

    def __init__(self) -> None:
        self._head = ""
        self.main_argument: tuple[str, str] | None = None

    def feed(self, chunk: str) -> None:
        """Add the next chunk."""
        if self.main_argument is None and len(self._head) < HEAD:
            self._head += chunk[:HEAD]
            self._search()

    def _search(self) -> None:
        found = _MAIN_ARGUMENT.search(self._head)
        if found is not None:
            name, value = found.groups()
            self.main_argument = (name, _unescaped(value) if "\\" in value else value[1:-1])


def _unescaped(value: str) -> str:
    """Return the text of a JSON string; one with an unknown escape as it is written."""
    try:
        return str(json.loads(value, strict=False))
    except ValueError:
        return value.strip('"')


class Peeks:
    """Peeks at the arguments of all calls that are being written."""

    def __init__(self) -> None:
        self._peeks: dict[tuple[str, str], ArgumentPeek] = {}  # by chat and call

    def peek(self, chat_id: str, event: ChatEvent) -> ChatEvent:
        """Return an event, with what is known of the call so far if a part of it was written."""
        if type(event) is ToolPreparing:
            return self._written(chat_id, event)
        if self._peeks:
            self._forget(chat_id, event)
        return event

    def _written(self, chat_id: str, event: ToolPreparing) -> ToolPreparing:
        call, key = event.call, (chat_id, event.call.id)
        peek = self._peeks.get(key)
        if peek is None:
            peek = self._peeks[key] = ArgumentPeek()
        peek.feed(event.arguments_text)
        if peek.main_argument is None:
            return event
        return replace(event, so_far=known_so_far(call, *peek.main_argument))

    def _forget(self, chat_id: str, event: ChatEvent) -> None:
        match event:
            case ToolRequested() | ToolRunning() | ToolFinished() | ToolRejected():
                self._peeks.pop((chat_id, event.call.id), None)
            case TurnEvent():
                self._peeks = {key: peek for key, peek in self._peeks.items() if key[0] != chat_id}
