"""Players of recordings with a fault: they die as they write, or write too much, or all twice.

Each dies once: before a message, inside of it, or right after. The next one that is started with
the same mark plays the recording to its end.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Final

from tests.support import replay_acp, replay_server
from tests.support.wire import LineWire, Message, Wire

BEFORE, AFTER = 0, 1000
"""Where in a message, in thousandths of its bytes."""
MANY: Final = 100_000
LONG_LINE: Final = "x" * 200_000


def large_text() -> str:
    """Return a text of 50 MB."""
    return "".join(f"line {it} of a message of 50 MB\n" for it in range(1_500_000))


def answer_text(message: Message) -> str | None:
    """Return the text that a message of the server adds to the answer."""
    match message:
        case {
            "method": "chat/contentReceived",
            "params": {"role": "assistant", "content": {"type": "text", "text": str(text)}} as it,
        } if "parentChatId" not in it:
            return text
        case {
            "method": "session/update",
            "params": {
                "update": {
                    "sessionUpdate": "agent_message_chunk",
                    "content": {"type": "text", "text": str(text)},
                }
            },
        }:
            return text
        case _:
            return None


FLOODS: Final[Mapping[str, Callable[[], Iterable[str]]]] = {
    "many": lambda: (f"{it} " for it in range(MANY)),
    "line": lambda: [f"\n\n{LONG_LINE}\n\n"],
    "large": lambda: [f"\n\n{large_text()}\n\n"],
}
"""Texts that come before the first one of an answer."""
TWICE: Final = "twice"
"""Each request and each answer comes twice."""


class _DyingWire(Wire):
    """Keeps a list of what it writes, and dies by SIGKILL at one message."""

    def __init__(self, options: argparse.Namespace) -> None:
        super().__init__()
        self._options = options
        self._number: int = 0 if options.mark.exists() else options.at[0]
        self._part: int = options.at[1]
        self._has_read = False
        self._message: Message = {}

    def send(self, message: Message) -> None:
        text, flood = answer_text(message), self._options.flood
        if flood in FLOODS and text is not None:
            self._options.flood = None
            head, _, tail = json.dumps(message).partition(json.dumps(text))
            bodies = (head + json.dumps(it) + tail for it in FLOODS[flood]())
            self._write(b"".join(map(self.frame, bodies)))
        for _ in range(2 if flood == TWICE and "id" in message else 1):
            self._message = message
            super().send(message)

    def write(self, data: bytes) -> None:
        self._number -= 1
        if self._number != 0 or self._part == AFTER:
            self._note()
            self._write(data)
        if self._number == 0:
            self._options.mark.touch()
            self._write(data[: self._size(len(data))])
            os.kill(os.getpid(), signal.SIGKILL)

    def receive(self, timeout: float | None = None) -> Message | None:
        self._has_read = True
        return super().receive(timeout)

    def _write(self, data: bytes) -> None:
        size = 1 if self._options.bytewise else len(data) or 1
        for start in range(0, len(data), size):
            super().write(data[start : start + size])

    def _size(self, whole: int) -> int:
        """Return how many bytes of the message are still to be written."""
        if self._part in (BEFORE, AFTER):
            return 0
        return min(max(1, whole * self._part // AFTER), whole - 1)

    def _note(self) -> None:
        with self._options.said.open("a") as file:
            file.write(json.dumps([self._has_read, self._message]) + "\n")
        self._has_read = False


class _DyingLines(_DyingWire, LineWire):
    """The same with one message a line."""


_PLAYERS: Final = {
    "eca": (replay_server, "Wire", _DyingWire),
    "acp": (replay_acp, "LineWire", _DyingLines),
}


def main() -> None:
    """Run as a module; the arguments that it does not know are the player's."""
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("protocol", choices=_PLAYERS)
    parser.add_argument("mark", type=Path, help="there once it has died")
    parser.add_argument("said", type=Path, help="what was written whole, and if it read before")
    parser.add_argument("--at", type=int, nargs=2, default=(0, 0), metavar=("NUMBER", "PART"))
    parser.add_argument("--flood", choices=[*FLOODS, TWICE], help="what it writes too much")
    parser.add_argument("--bytewise", action="store_true", help="write one byte at a time")
    options, rest = parser.parse_known_args()
    player, name, wire = _PLAYERS[options.protocol]
    setattr(player, name, partial(wire, options))
    sys.argv[1:] = rest
    player.main()
