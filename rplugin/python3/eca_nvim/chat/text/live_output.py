"""Live output: the end of what a call prints while it runs.

Rule kept here: time per line and memory are bounded, however much was printed before. Only the last
TAIL_LINES lines are kept, each cut to COLUMNS characters. Of a piece with more lines the first ones
are only counted, so that a flood costs little more than to receive it.
"""

from __future__ import annotations

from collections import deque

from eca_nvim.chat.text.ansi import ColouredLines, Line
from eca_nvim.chat.text.output import COLUMNS

TAIL_LINES = 50
LONG = 1 << 12
"""Characters of a piece of which not all lines may be kept."""


class LiveOutput:
    """Output that arrives in raw pieces, which may be cut anywhere."""

    __slots__ = ("_ended", "_kept", "_last", "_reader")

    def __init__(self) -> None:
        self._reader = ColouredLines(COLUMNS)
        self._kept: deque[Line] = deque(maxlen=TAIL_LINES)
        self._ended = 0  # lines that have ended, also those that are not kept any more
        self._last = ""

    def feed(self, text: str) -> None:
        """Add the next piece."""
        if len(text) > LONG:
            text = self._end_of(text)
        for line in self._reader.feed(text):
            self._kept.append(line)
            self._ended += 1
            self._last = _text(line) or self._last

    def _end_of(self, text: str) -> str:
        """Count the lines that will not be kept, and return the others."""
        start = len(text)
        for _ in range(TAIL_LINES + 1):
            start = text.rfind("\n", 0, start)
            if start < 0:
                return text
        skipped = text.count("\n", 0, start + 1)
        self._ended += skipped
        self._reader.skip()
        return text[start + 1 :]

    @property
    def last_line(self) -> str:
        """The last line that is not blank; clean."""
        return _text(self._reader.line) or self._last

    def tail(self, most: int | None) -> tuple[int, list[Line]]:
        """Return the last lines, at most `most`, and how many were before them."""
        lines, unended = [*self._kept], self._reader.line
        if _text(unended):
            lines.append(unended)
        shown = lines[-most:] if most else lines
        return self._ended - len(self._kept) + len(lines) - len(shown), shown


def _text(line: Line) -> str:
    return "".join(piece for piece, _ in line).strip()
