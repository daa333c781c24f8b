"""Notes when the screen shows a character, and where the cursor is, with little work.

Neovim sends only changed cells, so a character counts when it is drawn again. It is on the screen
with the next `flush`.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any, TypeAlias

Value: TypeAlias = Any


class ScreenWatch:
    """Notes when awaited characters reach the screen."""

    def __init__(self) -> None:
        self._awaited: set[str] = set()
        self._drawn: set[str] = set()
        self._seen: dict[str, float] = {}
        self._moved: tuple[int, int] | None = None
        self.flushes = 0
        self.flushed = 0.0
        self.cursor: tuple[int, int] | None = None

    def expect(self, character: str) -> None:
        """Wait for a character from now on."""
        self._seen.pop(character, None)
        self._awaited.add(character)

    def seen(self, character: str) -> float | None:
        """Return when an expected character was on the screen, in monotonic seconds."""
        return self._seen.get(character)

    def apply(self, batches: Iterable[list[Value]]) -> None:
        """Apply the parameters of one `redraw`."""
        for event, *calls in batches:
            if event == "grid_line" and self._awaited:
                self._look(calls)
            elif event == "grid_cursor_goto":
                self._moved = calls[-1][1], calls[-1][2]
            elif event == "flush":
                self._flush()

    def _look(self, lines: list[list[Value]]) -> None:
        for line in lines:
            for cell in line[3]:
                if cell[0] in self._awaited:
                    self._awaited.discard(cell[0])
                    self._drawn.add(cell[0])

    def _flush(self) -> None:
        self.flushes += 1
        self.flushed = time.monotonic()
        self.cursor = self._moved
        if self._drawn:
            self._seen.update(dict.fromkeys(self._drawn, self.flushed))
            self._drawn.clear()
