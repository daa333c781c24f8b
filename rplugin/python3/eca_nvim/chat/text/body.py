"""Body: the lines of an open block, with marks, and the places of files that they show."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from msgspec import Struct

from eca_nvim.chat.vocabulary.ops import Mark

RowPlace: TypeAlias = tuple[int, str, int, int]
"""Body row, path, and its line (1-based) before and after the change; 0: no line is meant."""


class Body(Struct, frozen=True):
    """Clean lines, their marks, and their language (None: Markdown, "": plain).

    is_cut: they are not all of it; a line says how much is missing. places: rows that show a place
    of a file, in order.
    """

    lines: Sequence[str]
    marks: Sequence[Mark] = ()
    language: str | None = None
    is_cut: bool = False
    places: Sequence[RowPlace] = ()


def joined(*bodies: Body) -> Body:
    """Stack bodies; the language is that of the last one with lines, plain text without any."""
    lines: list[str] = []
    marks: list[Mark] = []
    places: list[RowPlace] = []
    language: str | None = ""
    for body in bodies:
        marks += ((row + len(lines), start, end, group) for row, start, end, group in body.marks)
        places += ((row + len(lines), path, old, new) for row, path, old, new in body.places)
        language = body.language if body.lines or not lines else language
        lines += body.lines
    return Body(lines, marks, language, any(it.is_cut for it in bodies), tuple(places))
