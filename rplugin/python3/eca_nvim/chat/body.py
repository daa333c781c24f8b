"""Body: the lines of an open block, with marks."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from eca_nvim.chat.ops import Mark


class Body(Struct, frozen=True):
    """Clean lines, marks in them, and the language they are in (None is Markdown, "" plain)."""

    lines: Sequence[str]
    marks: Sequence[Mark] = ()
    language: str | None = None


def joined(first: Body, second: Body) -> Body:
    """Put one body under another; the language is the second's where it has lines."""
    shift = len(first.lines)
    marks = [(row + shift, start, end, group) for row, start, end, group in second.marks]
    return Body(
        [*first.lines, *second.lines],
        [*first.marks, *marks],
        second.language if second.lines else first.language,
    )
