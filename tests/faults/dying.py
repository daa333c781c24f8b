"""Players of recordings that die as they write: before a message, inside of it, or right after.

Each dies once; the next one that is started with the same mark plays the recording to its end.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
from functools import partial
from pathlib import Path
from typing import Final

from tests.support import replay_acp, replay_server
from tests.support.wire import LineWire, Message, Wire

BEFORE, AFTER = 0, 1000
"""Where in a message, in thousandths of its bytes."""


class _DyingWire(Wire):
    """Writes as told and notes it, and dies by SIGKILL at one message."""

    def __init__(self, options: argparse.Namespace) -> None:
        super().__init__()
        self._options = options
        self._number: int = 0 if options.mark.exists() else options.at[0]
        self._part: int = options.at[1]
        self._has_read = False
        self._message: Message = {}

    def send(self, message: Message) -> None:
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
    parser.add_argument("--bytewise", action="store_true", help="write one byte at a time")
    options, rest = parser.parse_known_args()
    player, name, wire = _PLAYERS[options.protocol]
    setattr(player, name, partial(wire, options))
    sys.argv[1:] = rest
    player.main()
