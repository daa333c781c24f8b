"""Body: the lines of an open block, with marks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from eca_nvim.chat.vocabulary.ops import Mark


class Body(Struct, frozen=True):
    """Clean lines, their marks, and their language (None: Markdown, "": plain)."""

    lines: Sequence[str]
    marks: Sequence[Mark] = ()
    language: str | None = None


def joined(*bodies: Body) -> Body:
    """Stack bodies; the language is that of the last one with lines."""
    return stacked(bodies)


def stacked(bodies: Iterable[Body]) -> Body:
    """Stack any number of bodies, as `joined` does; no bodies give empty plain text."""
    lines: list[str] = []
    marks: list[Mark] = []
    language: str | None = ""
    for body in bodies:
        marks += ((row + len(lines), start, end, group) for row, start, end, group in body.marks)
        language = body.language if body.lines or not lines else language
        lines += body.lines
    return Body(lines, marks, language)
