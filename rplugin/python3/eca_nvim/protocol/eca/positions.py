"""Places in a text.

Whether lines and characters count from 0 or 1 is each message's own affair and said there;
characters are UTF-16 code units wherever the protocol says what they are.
"""

from eca_nvim.protocol.eca.base import Int, Wire


class Position(Wire, frozen=True, kw_only=True):
    """A place between two characters."""

    line: Int
    character: Int


class Range(Wire, frozen=True, kw_only=True):
    """A stretch of text, `end` excluded (the protocol leaves this open; editors agree on it)."""

    start: Position
    end: Position


class LinesRange(Wire, frozen=True, kw_only=True):
    """Whole lines of a file, counted from 1, both ends included."""

    start: Int
    end: Int
