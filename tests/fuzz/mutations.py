"""Recorded messages, changed as the bytes of the fuzzer say: odd values, lost or doubled fields.

`whole_runs.py` does so with whole recordings.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any, Final

from tests.support.servers import ACP_RECORDINGS, RECORDINGS

ODD: Final[tuple[Any, ...]] = (
    *(None, True, -1, 0, 2**63, 1e308, "", " ", "\n", "\x1b[31m", "\u202e", "\ud800", "a" * 999),
    *("/", "../..", "eca://chat/1", "%{1}", "vim: set et:", [], {}, [None], {"type": "text"}),
    *(
        0.5,
        -(2**63),
        "\0",
        "a\r\nb\n",
        "```",
        "\u0301",
        "\U0001f469\u200d\U0001f467",
        "| a |\n" * 40,
    ),
)
"""Values that nobody expects in a field."""

TEXTS: Final = tuple(it for it in ODD if isinstance(it, str) and it)
"""Texts that nobody expects inside of one."""

SPINE: Final = frozenset(
    ("jsonrpc", "method", "id", "chatId", "sessionId", "role", "type", "sessionUpdate", "taskId")
)
"""Fields without which a message is refused as a whole."""

LONGEST: Final = 20_000
"""Characters of a message that is used."""


class Choices:
    """Makes choices from bytes, the first ones for ever when they are used up."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data or b"\0", 0

    def below(self, end: int) -> int:
        """Return a number below `end`."""
        taken = bytes(self._data[(self._at + it) % len(self._data)] for it in range(2))
        self._at += 2
        return int.from_bytes(taken, "big") % end


@cache
def recorded() -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return which protocol it is, and what the server sent unasked, for each recording."""
    paths = [("eca", it) for it in sorted(RECORDINGS.glob("*.jsonl"))]
    paths += [("acp", it) for it in sorted(ACP_RECORDINGS.glob("*.jsonl"))]
    told = [(protocol, tuple(_messages(path))) for protocol, path in paths]
    return tuple(it for it in told if it[1])


def _messages(path: Path) -> Iterator[str]:
    for line in path.read_text(encoding="utf-8").split("\n")[:-1]:
        event = json.loads(line)
        message = event.get("msg")
        is_told = event.get("dir") in ("s2c", "a2c") and isinstance(message, dict)
        if is_told and "method" in message and len(line) < LONGEST:
            yield json.dumps(message)


def mutated(data: bytes) -> tuple[str, list[Mapping[str, Any]]]:
    """Return the protocol, and some messages of a recording, some of them changed."""
    choices = Choices(data)
    protocol, messages = recorded()[choices.below(len(recorded()))]
    first = choices.below(len(messages))
    told: list[Mapping[str, Any]] = []
    for text in messages[first : first + 12]:
        message = json.loads(text)
        for _ in range(choices.below(4)):
            change(message.get("params"), choices)
        told += [message] * (1 if choices.below(8) else 2)
        if not choices.below(8):
            told.pop(choices.below(len(told)))
    return protocol, told


def change(value: object, choices: Choices) -> None:
    """Change one field, at any depth."""
    while isinstance(value, (dict, list)) and value:
        keys = [*value] if isinstance(value, dict) else [*range(len(value))]
        key = keys[choices.below(len(keys))]
        if isinstance(value[key], (dict, list)) and value[key] and choices.below(4):
            value = value[key]
        elif choices.below(3):
            value[key] = deepcopy(ODD[choices.below(len(ODD))])
            return
        else:
            del value[key]
            return


def change_anywhere(value: object, choices: Choices) -> None:
    """Change one of all fields, the deepest as often as the first, or mix up two of them.

    Most texts get something odd inside of them. What tells kinds and chats apart is often left as
    it is, as else the message is refused, and what else it has is not read.
    """
    every = [*_fields(value)]
    inner = [it for it in every if it[1] not in SPINE and not _holds(it[0][it[1]])]
    fields = inner if inner and choices.below(6) else every
    if not fields:
        return
    holder, key = fields[choices.below(len(fields))]
    what, text = choices.below(8), holder[key]
    if isinstance(text, str) and what < 5:
        at, odd = choices.below(len(text) + 1), TEXTS[choices.below(len(TEXTS))]
        holder[key] = text[:at] + odd + text[at:]
    elif what < 2:
        del holder[key]
    elif what < 4:
        other, its = fields[choices.below(len(fields))]
        holder[key] = deepcopy(other[its])
    else:
        holder[key] = deepcopy(ODD[choices.below(len(ODD))])


def _holds(value: object) -> bool:
    return isinstance(value, (dict, list)) and bool(value)


def _fields(value: object) -> Iterator[tuple[Any, Any]]:
    if isinstance(value, (dict, list)):
        for key in [*value] if isinstance(value, dict) else range(len(value)):
            yield value, key
            yield from _fields(value[key])
