r"""ANSI: the colours of a program's output, as highlight groups.

Rules kept here:
- Only colours and bold (SGR, `ESC [ … m`) mean something; every other escape is gone before.
- The eight colours of a terminal have one group each, bright or not; of 256 or true colours the
  nearest of the eight is taken. Backgrounds, blinking and the like are left out.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from eca_nvim.chat.text.safe_text import COLOUR, clean, without_other_escapes

COLOURS = ("Black", "Red", "Green", "Yellow", "Blue", "Magenta", "Cyan", "White")
GROUPS = (*(f"EcaAnsi{colour}" for colour in COLOURS), "EcaBold")

_CUBE = (0, 95, 135, 175, 215, 255)
_GREY = 40
"""Least distance between the components of what is a colour at all."""


class _Pen(Struct):
    """What text is written with: a place in COLOURS, and bold."""

    colour: int | None = None
    bold: bool = False

    @property
    def group(self) -> str:
        if self.colour is not None:
            return GROUPS[self.colour]
        return "EcaBold" if self.bold else ""

    def take(self, parameters: str) -> None:
        """Take the numbers between `ESC [` and `m`."""
        codes = [
            int(code or 0) for code in parameters.replace(":", ";").split(";") if len(code) <= 3
        ]
        while codes:
            code = codes.pop(0)
            if code in (38, 48):
                colour = _extended(codes)
                self.colour = colour if code == 38 else self.colour
            else:
                self._simple(code)

    def _simple(self, code: int) -> None:
        match code:
            case 0:
                self.colour, self.bold = None, False
            case 1:
                self.bold = True
            case 22:
                self.bold = False
            case 39:
                self.colour = None
            case _ if 30 <= code <= 37 or 90 <= code <= 97:
                self.colour = code % 10


def _extended(codes: list[int]) -> int | None:
    """Take `5;n` or `2;r;g;b` from the front; gives the nearest of the eight."""
    kind = codes.pop(0) if codes else 0
    if kind == 5 and codes:
        return _of_index(codes.pop(0))
    if kind == 2 and len(codes) >= 3:
        red, green, blue = codes[:3]
        del codes[:3]
        return _nearest(red, green, blue)
    codes.clear()
    return None


def _of_index(index: int) -> int | None:
    if index < 16:
        return index % 8
    if index < 232:
        place = index - 16
        return _nearest(_CUBE[place // 36 % 6], _CUBE[place // 6 % 6], _CUBE[place % 6])
    return 0 if index < 244 else None


def _nearest(red: int, green: int, blue: int) -> int | None:
    most = max(red, green, blue)
    if most - min(red, green, blue) < _GREY:
        return 0 if most < 160 else None
    bits = (component * 10 >= most * 6 for component in (red, green, blue))
    return sum(bit << place for place, bit in enumerate(bits))


def coloured_lines(text: str) -> Iterator[list[tuple[str, str]]]:
    """Yield the lines of a raw text, each as clean pieces with their groups ("" for none)."""
    pen = _Pen()
    line: list[tuple[str, str]] = []
    for place, piece in enumerate(COLOUR.split(without_other_escapes(text))):
        if place % 2:
            pen.take(piece)
            continue
        first, *rest = clean(piece).split("\n")
        line.append((first, pen.group))
        for start in rest:
            yield line
            line = [(start, pen.group)]
    yield line
