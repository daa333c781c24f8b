"""Output: bodies of lines with colours, from raw text, cut to a limit, also while it is printed.

Time per line and memory are bounded, however much was printed before.
"""

import json
import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import TypeAlias

from msgspec import Struct

from eca_nvim.chat.text.ansi import ColouredLines, Line, coloured_lines
from eca_nvim.chat.text.safe_text import body_lines, literal, width
from eca_nvim.chat.vocabulary.ops import Mark

TAIL_LINES = 50
LONG = 1 << 12
"""Characters of a piece of which not all lines may be kept."""


class LiveOutput:
    """Output that arrives in raw pieces, which may be cut anywhere.

    awaits_input: no more comes without input, which nobody can give.
    """

    __slots__ = ("_ended", "_kept", "_last", "_reader", "awaits_input")

    def __init__(self) -> None:
        self.awaits_input = False
        self._reader = ColouredLines(COLUMNS)
        self._kept: deque[Line] = deque(maxlen=TAIL_LINES)
        self._ended = 0  # lines that have ended, also those that are not kept any more
        self._last = ""

    def feed(self, text: str) -> None:
        """Add the next piece."""
        if len(text) > LONG:
            text = self._end_of(text)
        for line in self._reader.feed(text):
            self._kept.append(line)
            self._ended += 1
            self._last = _text(line) or self._last

    def _end_of(self, text: str) -> str:
        """Count the lines that will not be kept, and return the others: for a flood."""
        start = len(text)
        for _ in range(TAIL_LINES + 1):
            start = text.rfind("\n", 0, start)
            if start < 0:
                return text
        skipped = text.count("\n", 0, start + 1)
        self._ended += skipped
        self._reader.skip()
        return text[start + 1 :]

    @property
    def last_line(self) -> str:
        """The last line that is not blank; clean."""
        return _text(self._reader.line) or self._last

    def tail(self, most: int | None) -> tuple[int, list[Line]]:
        """Return the last lines, at most `most`, and how many were before them."""
        lines, unended = [*self._kept], self._reader.line
        if _text(unended):
            lines.append(unended)
        shown = lines[-most:] if most else lines
        return self._ended - len(self._kept) + len(lines) - len(shown), shown


def _text(line: Line) -> str:
    return "".join(piece for piece, _ in line).strip()


# The editor measures and draws a whole line for every change: an endless line that streams in would
# get slower and slower. So the view gets rows; the model keeps the line.
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


RowPlace: TypeAlias = tuple[int, str, int, int]
"""Body row, path, and its line (1-based) before and after the change; 0: no line is meant."""


class Body(Struct, frozen=True):
    """Clean lines, their marks, and their language (None: Markdown, "": plain).

    is_cut: they are not all of it; a line says how much is missing. places: rows that show a place
    of a file, in order. parts: of a call's changes, as number, first and last row (0-based).
    """

    lines: Sequence[str]
    marks: Sequence[Mark] = ()
    language: str | None = None
    is_cut: bool = False
    places: Sequence[RowPlace] = ()
    parts: Sequence[tuple[int, int, int]] = ()


def joined(*bodies: Body) -> Body:
    """Stack bodies; the language is that of the last one with lines, plain text without any."""
    lines: list[str] = []
    marks: list[Mark] = []
    places: list[RowPlace] = []
    parts: list[tuple[int, int, int]] = []
    language: str | None = ""
    for body in bodies:
        marks += ((row + len(lines), start, end, group) for row, start, end, group in body.marks)
        places += ((row + len(lines), path, old, new) for row, path, old, new in body.places)
        parts += ((it, first + len(lines), last + len(lines)) for it, first, last in body.parts)
        language = body.language if body.lines or not lines else language
        lines += body.lines
    is_cut = any(it.is_cut for it in bodies)
    return Body(lines, marks, language, is_cut, tuple(places), tuple(parts))


MORE = "EcaMore"
MOST_MARKS = 2000
COLUMNS = 2000
SHORT = 72
"""Most characters of a value that stays on one line."""
TOO_DEEP = "… nested too deeply to be shown"
DEEPEST = 200
"""Levels of a JSON value that is indented: its blanks grow with the square of them, and Python 3.14
itself takes thousands."""
_ESCAPE = re.compile(r"\\.")


def text_body(text: str, limit: int | None, language: str | None = "") -> Body:
    """Return a text as a body of at most `limit` lines and a note of how many are left out."""
    if not text:
        return Body((), language=language)
    if "\x1b[" not in text and "\r" not in text:
        return cut(body_lines(text), limit, language=language)
    rows = list(coloured_lines(text))
    filled = [place for place, row in enumerate(rows) if any(piece for piece, _ in row)]
    lines, marks = _drawn(rows[filled[0] : filled[-1] + 1] if filled else [[("", "")]])
    return cut(lines, limit, marks, language)


def tail_body(before: int, lines: Sequence[Line]) -> Body:
    """Return the last lines of an output, after a note of how many were before them."""
    note: Line = [(f"… {before} line{'' if before == 1 else 's'} before", "EcaMuted")]
    return Body(*_drawn([note, *lines] if before else lines), "")


def _drawn(rows: Sequence[Line]) -> tuple[list[str], list[Mark]]:
    texts = ["".join(piece for piece, _ in row) for row in rows]
    return texts, list(islice(_marks(rows), MOST_MARKS))


def cut(
    lines: Sequence[str],
    limit: int | None,
    marks: Iterable[Mark] = (),
    language: str | None = "",
) -> Body:
    """Cut lines to `limit` of them, and each to COLUMNS; None cuts nothing."""
    if limit is None:
        return Body(lines, tuple(marks), language)
    shown = [cut_line(line, COLUMNS) for line in lines[:limit]]
    kept = [mark for mark in marks if mark[0] < limit and mark[2] <= len(shown[mark[0]].encode())]
    left = len(lines) - limit
    if left > 0:
        shown.append(lines_left_out(left))
        kept.append((limit, 0, -1, MORE))
    is_cut = left > 0 or any(len(line) > COLUMNS for line in lines[:limit])
    return Body(shown, kept, language, is_cut)


def cut_line(line: str, columns: int) -> str:
    """Cut a line to some columns, and say how many characters are left out."""
    left = len(line) - columns
    return line if left <= 0 else f"{line[:columns]}… {left} more characters"


def cut_characters(body: Body, most: int) -> Body:
    """Cut a body to `most` characters, and say how much is left out."""
    lines: list[str] = []
    room = most
    for line in body.lines:
        if room <= 0:
            break
        lines.append(cut_line(line, room))
        room -= max(1, len(line))  # an empty line counts, too
    left = len(body.lines) - len(lines)
    if not left and room >= 0:
        return body
    widths = [len(line.encode()) for line in lines]
    kept = [mark for mark in body.marks if mark[0] < len(lines) and mark[2] <= widths[mark[0]]]
    if left:
        kept.append((len(lines), 0, -1, MORE))
        lines.append(lines_left_out(left))
    return Body(lines, kept, body.language, is_cut=True)


def table(rows: Sequence[tuple[str, Body]]) -> Body:
    """Lay out bodies as a table, with their names in the first column."""
    room = max((width(name) for name, _ in rows), default=0)
    return joined(*(_table_row(name, value, " " * (room + 2)) for name, value in rows))


def _table_row(name: str, value: Body, margin: str) -> Body:
    first, *rest = value.lines
    lines = [f"{name}{margin[width(name) :]}{first}", *(margin + line for line in rest)]
    shift = len(margin)
    moved = [
        (row, shift + start if end >= 0 else start, shift + end if end >= 0 else end, group)
        for row, start, end, group in value.marks
    ]
    return Body(lines, [(0, 0, len(name.encode()), "EcaMuted"), *moved], "")


def indented(text: str) -> str:
    """Indent a JSON document; other text, or one that has several lines, stays as it is."""
    if "\n" in text.strip():
        return text
    try:
        return document(json.loads(text))
    except (ValueError, RecursionError):
        return text


def as_line(value: object) -> str:
    """Return a JSON value on one line; a string as it is."""
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except RecursionError:
        return TOO_DEEP


def document(value: object) -> str:
    """Return a JSON value indented, one value per line; on one line if nested too deeply."""
    level: list[object] = [value]
    for _ in range(DEEPEST):
        tables = chain.from_iterable(it.values() for it in level if isinstance(it, dict))
        lists = chain.from_iterable(it for it in level if isinstance(it, list))
        level = [*tables, *lists]
    if level:
        return as_line(value)
    return json.dumps(value, ensure_ascii=False, indent=2, default=str)


def value_lines(value: object) -> list[str]:
    """Return a JSON value as clean lines: a string as its own lines, a short value as one line.

    Longer values are indented; strings within them are quoted, and their lines follow a bar.
    """
    line = as_line(value)
    if isinstance(value, str):
        return literal(value).split("\n") if value else ['""']
    if len(line) <= SHORT and "\\n" not in line:
        return [literal(line)]
    return [literal(piece) for row in document(value).split("\n") for piece in _quoted_lines(row)]


def _quoted_lines(row: str) -> list[str]:
    margin = " " * (len(row) - len(row.lstrip(" ")) + 2)
    broken = _ESCAPE.sub(lambda it: f"\\n\n{margin}│ " if it[0] == "\\n" else it[0], row)
    return broken.split("\n")


def indent_rest(lines: Sequence[str]) -> list[str]:
    """Indent all lines but the first; empty lines stay empty."""
    return [*lines[:1], *(f"  {line}" if line else "" for line in lines[1:])]


def lines_left_out(left: int) -> str:
    """Word how many lines are left out."""
    return f"… {left} more line{'' if left == 1 else 's'}"


def _marks(rows: Iterable[Line]) -> Iterable[Mark]:
    for number, row in enumerate(rows):
        start = 0
        for piece, group in row:
            end = start + len(piece.encode())
            if group and piece:
                yield number, start, end, group
            start = end
