"""Long rows: breaks lines that would be slow to draw.

Rules kept here:
- The editor measures and draws a whole line for every change. An endless line that streams in
  would get slower and slower, so the view breaks it into rows; the model keeps the line.
- The breaks do not depend on the chunks in which the text arrives.
"""

from __future__ import annotations

from collections.abc import Iterator

LONGEST = 8000
"""Most characters of a row."""


def break_rows(text: str, column: int = 0) -> tuple[str, int]:
    """Break a text that follows `column` characters; return it and the length of its last row."""
    if _fits(text, column):
        end = text.rfind("\n")
        return text, len(text) - end - 1 if end >= 0 else column + len(text)
    pieces = [*_pieces(text, column)]
    in_first_row = column if len(pieces) == 1 else 0
    return "\n".join(pieces), in_first_row + len(pieces[-1])


def rows_of(text: str) -> list[str]:
    """Break a whole text into rows."""
    return text.split("\n") if _fits(text, 0) else [*_pieces(text, 0)]


def _fits(text: str, column: int) -> bool:
    """Return whether no row of the text is too long."""
    start, room = 0, LONGEST - column
    while start + room < len(text):
        end = text.rfind("\n", start, start + room + 1)
        if end < 0:
            return False
        start, room = end + 1, LONGEST
    return True


def _pieces(text: str, column: int) -> Iterator[str]:
    for line in text.split("\n"):
        start = 0
        while column + len(line) - start > LONGEST:
            yield line[start : start + LONGEST - column]
            start, column = start + LONGEST - column, 0
        yield line[start:]
        column = 0
