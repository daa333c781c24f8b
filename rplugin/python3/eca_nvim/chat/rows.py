"""Rows: lines as the view has them, none so long that drawing it takes noticeable time.

Rules kept here:
- The editor measures and draws a whole line for each change of it: one without an end that streams
  in would be drawn ever slower. So it goes on in a new row, in the view alone; the model keeps it.
- Text is broken at the same places, in whatever pieces it comes.
"""

from __future__ import annotations

from collections.abc import Iterator

LONGEST = 8000
"""Characters of a row, at most."""


class Rows:
    """Breaks a text that comes in pieces."""

    __slots__ = ("_column",)

    def __init__(self) -> None:
        self._column = 0

    def feed(self, text: str) -> str:
        """Give the next piece with breaks where rows would be too long (hot)."""
        if self._column + len(text) > LONGEST:
            return "\n".join(self._pieces(text))
        end = text.rfind("\n")
        self._column = self._column + len(text) if end < 0 else len(text) - end - 1
        return text

    def _pieces(self, text: str) -> Iterator[str]:
        for number, line in enumerate(text.split("\n")):
            column = 0 if number else self._column
            start = 0
            while column + len(line) - start > LONGEST:
                yield line[start : start + LONGEST - column]
                start, column = start + LONGEST - column, 0
            yield line[start:]
            self._column = column + len(line) - start


def broken(text: str) -> str:
    """Give a whole text with breaks where rows would be too long."""
    return Rows().feed(text)
