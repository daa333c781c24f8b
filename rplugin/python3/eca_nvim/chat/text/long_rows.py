"""Long rows: lines as the view has them, none so long that drawing it takes noticeable time.

Rules kept here:
- The editor measures and draws a whole line for each change of it: one without an end that streams
  in would be drawn ever slower. So it goes on in a new row, in the view alone; the model keeps it.
- Text is broken at the same places, in whatever pieces it comes.
"""

from __future__ import annotations

from collections.abc import Iterator

LONGEST = 8000
"""Characters of a row, at most."""


def broken(text: str, column: int = 0) -> tuple[str, int]:
    """Break a text that begins in a row of so many characters; gives how many the last one has."""
    if _fits(text, column):
        end = text.rfind("\n")
        return text, len(text) - end - 1 if end >= 0 else column + len(text)
    pieces = [*_pieces(text, column)]
    in_first_row = column if len(pieces) == 1 else 0
    return "\n".join(pieces), in_first_row + len(pieces[-1])


def rows_of(text: str) -> list[str]:
    """Return the rows of a whole text."""
    return text.split("\n") if _fits(text, 0) else [*_pieces(text, 0)]


def _fits(text: str, column: int) -> bool:
    """Return whether no row is too long: a line break comes in time, again and again."""
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
