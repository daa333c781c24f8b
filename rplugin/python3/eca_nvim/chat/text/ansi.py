"""ANSI: turns the colours of a program's output into highlight groups."""

import sys
from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from typing import TypeAlias

from msgspec import Struct

from eca_nvim.chat.text.safe_text import IN_LINE, clean, unfinished_escape, without_other_escapes

# Each of a terminal's eight colours has one group, bright or not. One of 256 colours or a true
# colour becomes the nearest of the eight. Backgrounds, blinking and the like are ignored.
COLOURS = ("Black", "Red", "Green", "Yellow", "Blue", "Magenta", "Cyan", "White")
GROUPS = (*(f"EcaAnsi{colour}" for colour in COLOURS), "EcaBold")

_CUBE = (0, 95, 135, 175, 215, 255)
_GREY = 40
"""Components that differ by less than this are grey, not a colour."""


class _Pen(Struct):
    """The current style: an index into COLOURS, and bold."""

    colour: int | None = None
    bold: bool = False

    @property
    def group(self) -> str:
        if self.colour is not None:
            return GROUPS[self.colour]
        return "EcaBold" if self.bold else ""

    def apply(self, parameters: str) -> None:
        """Apply the numbers between `ESC [` and `m`."""
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
    """Remove `5;n` or `2;r;g;b` from the front; return the nearest of the eight colours."""
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


Line: TypeAlias = list[tuple[str, str]]
"""A line as clean (piece, group) pairs ("" for no group)."""


class ColouredLines:
    """Cuts a raw text, which may arrive in pieces, into lines; `line` has not ended yet.

    longest: characters after which a line is cut.
    """

    __slots__ = ("_cells", "_column", "_held", "_line", "_longest", "_pen", "_room")

    def __init__(self, longest: int = sys.maxsize) -> None:
        self._pen = _Pen()
        self._held = ""
        self._longest = self._room = longest
        self._line: Line = []
        self._column: int | None = None  # None: at the end of the line
        self._cells: list[tuple[str, str]] | None = None  # of a line that was written over

    @property
    def line(self) -> Line:
        """The line that has not ended."""
        return self._line if self._cells is None else _joined(self._cells)

    def feed(self, chunk: str) -> Iterator[Line]:
        """Yield the lines that end in the next piece; an escape may be cut between two pieces."""
        text = self._held + chunk
        cut = unfinished_escape(text)
        self._held = text[cut:]
        return self.read(text[:cut])

    def skip(self) -> None:
        """Go on after lines that were not read: at the start of one, without a colour."""
        self._pen, self._held = _Pen(), ""
        self._begin_line()

    def read(self, text: str) -> Iterator[Line]:
        """Yield the lines that end in a text in which no escape is cut."""
        steps = IN_LINE.split(without_other_escapes(text.replace("\r\n", "\n")))
        for place in range(0, len(steps), _STEP):
            piece, colour, erased, back = (*steps[place : place + _STEP], None, None, None)[:_STEP]
            if piece:
                yield from self._write(clean(piece))
            if colour is not None:
                self._pen.apply(colour)
            elif erased is not None:
                self._erase(erased)
            elif back:
                self._column = 0

    def _write(self, text: str) -> Iterator[Line]:
        first, *rest = text.split("\n")
        self._add(first)
        for start in rest:
            yield self.line
            self._begin_line()
            self._add(start)

    def _begin_line(self) -> None:
        self._line, self._room, self._cells, self._column = [], self._longest, None, None

    def _add(self, piece: str) -> None:
        if self._column is not None and piece:
            self._overwrite(self._column, piece)
            return
        if not piece or self._room < 0:
            return
        is_cut = len(piece) > self._room
        self._line.append((piece[: self._room] + "…" if is_cut else piece, self._pen.group))
        self._room = -1 if is_cut else self._room - len(piece)

    def _overwrite(self, column: int, piece: str) -> None:
        cells, group, shown = (
            self._as_cells(),
            self._pen.group,
            piece[: max(0, self._longest - column)],
        )
        cells[column : column + len(shown)] = [(character, group) for character in shown]
        self._column = column + len(shown)

    def _erase(self, what: str) -> None:
        """Erase the rest of the line, or all of it ("2"): nobody goes on in its middle then."""
        if what == "2":
            self._cells, self._column = [], 0
        elif self._column is not None:
            del self._as_cells()[self._column :]

    def _as_cells(self) -> list[tuple[str, str]]:
        if self._cells is None:
            self._cells = [(it, group) for piece, group in self._line for it in piece]
        return self._cells


_STEP = 4
"""Items of `IN_LINE.split` up to the next text: a text, and the three groups of the pattern."""


def _joined(cells: Iterable[tuple[str, str]]) -> Line:
    """Return the characters of a line, neighbours of one group together."""
    runs = groupby(cells, key=itemgetter(1))
    return [("".join(character for character, _ in run), group) for group, run in runs]


def coloured_lines(text: str) -> Iterator[Line]:
    """Yield the lines of a raw text."""
    lines = ColouredLines()
    yield from lines.read(text)
    yield lines.line
