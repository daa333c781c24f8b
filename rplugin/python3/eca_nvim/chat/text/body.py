"""Body: the lines of an open block, with marks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from eca_nvim.chat.vocabulary.ops import Mark


class Body(Struct, frozen=True):
    """Clean lines, their marks, and their language (None: Markdown, "": plain).

    is_cut: they are not all of it; a line says how much is missing.
    """

    lines: Sequence[str]
    marks: Sequence[Mark] = ()
    language: str | None = None
    is_cut: bool = False


def joined(*bodies: Body) -> Body:
    """Stack bodies; the language is that of the last one with lines."""
    return stacked(bodies)


def stacked(bodies: Iterable[Body]) -> Body:
    """Stack any number of bodies, as `joined` does; no bodies give empty plain text."""
    lines: list[str] = []
    marks: list[Mark] = []
    language: str | None = ""
    is_cut = False
    for body in bodies:
        is_cut = is_cut or body.is_cut
        marks += ((row + len(lines), start, end, group) for row, start, end, group in body.marks)
        language = body.language if body.lines or not lines else language
        lines += body.lines
    return Body(lines, marks, language, is_cut)
