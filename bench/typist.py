"""The user, who types into another window while text streams in."""

from __future__ import annotations

import time
from collections.abc import Callable

from bench.editor import Editor, Unmeasurable

KEYS_PER_SECOND = 10.0
LETTERS = tuple(chr(code) for code in range(0x0410, 0x0450))
"""Cyrillic letters: one cell each, and in no streamed text."""


class Typist:
    """Types one letter at a time and notes how long each takes to reach the screen."""

    def __init__(self, editor: Editor) -> None:
        self._editor = editor
        self._typed: list[tuple[str, float]] = []
        self._open: tuple[str, float] | None = None
        self._next_at = time.monotonic()
        self.latencies: list[float] = []

    def type_until(self, condition: Callable[[], object], what: str, patience: float) -> None:
        """Type until a condition is true. Raises Unmeasurable."""
        deadline = time.monotonic() + patience
        while not condition():
            now = time.monotonic()
            if now > deadline:
                raise Unmeasurable(f"still waiting for {what}\n{self._editor.explain()}")
            self._look()
            if now >= self._next_at and self._open is None:
                self._press()
            self._editor.child.channel.pump(max(0.0, min(self._next_at - now, 0.05)))
        self._editor.wait(self._look, "the last key")

    def type_for(self, seconds: float) -> None:
        """Type for a while."""
        until = time.monotonic() + seconds
        self.type_until(lambda: time.monotonic() >= until, "time", seconds + 5)

    def _press(self) -> None:
        letter = LETTERS[len(self.latencies) % len(LETTERS)]
        self._editor.screen.expect(letter)
        now = time.monotonic()
        self._open = (letter, now)
        self._next_at = now + 1 / KEYS_PER_SECOND
        self._editor.child.channel.notify("nvim_input", letter)

    def _look(self) -> bool:
        """Note the latency of the last key when it is seen; return whether no key is open."""
        if self._open is not None:
            letter, pressed = self._open
            seen = self._editor.screen.seen(letter)
            if seen is not None:
                self.latencies.append(seen - pressed)
                self._open = None
        return self._open is None
