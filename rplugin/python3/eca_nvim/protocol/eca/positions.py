"""Positions in a text.

Each message defines whether its lines and characters are 0-based or 1-based. Characters are
UTF-16 code units wherever the protocol defines them.
"""

from eca_nvim.protocol.base.types import Int, Wire


class Position(Wire, frozen=True, kw_only=True):
    """A position between two characters."""

    line: Int
    character: Int


class Range(Wire, frozen=True, kw_only=True):
    """A range of text, `end` exclusive (not defined by the protocol, but usual in editors)."""

    start: Position
    end: Position


class LinesRange(Wire, frozen=True, kw_only=True):
    """Whole lines of a file, 1-based, both ends included."""

    start: Int
    end: Int
