"""The rows that show what a job has printed: the end of it, with its colours."""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Final

from msgspec.structs import replace

from eca_nvim.chat.text.ansi import ColouredLines, Line
from eca_nvim.chat.text.output import tail_body
from eca_nvim.chat.vocabulary.ops import ShowOutput
from eca_nvim.chat.vocabulary.panels import Cell, Row
from eca_nvim.session.jobs import LONGEST_LINE, KnownJob, Output
from eca_nvim.session.panels.panel import LONGEST_CELL, cell
from eca_nvim.session.view import Refused

MOST_ROWS: Final = 200
"""Rows of a job's output in the panel; all that is kept is shown in a buffer."""
INDENT: Final[Cell] = ("    ", "", 0)
STDERR: Final = "EcaStderr"


def output_rows(row: Row, output: Output) -> Iterator[Row]:
    """Yield the rows of a job's output, which are about the job as its own row is.

    The last one has an id of its own: a cursor on it stays at the end, as more is printed.
    """
    left = max(0, len(output.lines) - MOST_ROWS)
    if left:
        text = f"… {left} earlier line{'' if left == 1 else 's'}: o shows all in a buffer"
        actions = ["all", *(it for it in row.actions if it != "all")]
        line = (INDENT, (text, "EcaMore", 0))
        yield replace(row, id=f"{row.id}\nbefore", line=line, actions=actions)
    lines = _coloured(tuple((it.text, it.is_fault) for it in output.lines[-MOST_ROWS:]))
    for place, coloured in enumerate(lines):
        number = "last" if place == len(lines) - 1 else str(output.first + left + place)
        pieces = ((text, group, 0) for text, group in coloured)
        yield replace(row, id=f"{row.id}\n{number}", line=(INDENT, *pieces))


def whole_output(known: KnownJob, place: str) -> ShowOutput:
    """Return the op that shows all of a job's output that is kept; place: of which row.

    Raises Refused if there is none.
    """
    output = known.output
    if output is None or not output.lines:
        raise Refused("nothing is known that it has printed")
    last = len(output.lines) - 1
    first_shown = max(0, last - MOST_ROWS)
    at = int(place) - output.first if place.isdecimal() else last
    row = first_shown if place == "before" else max(0, min(at, last))
    body = tail_body(0, _lines(((it.text, it.is_fault) for it in output.lines), LONGEST_LINE))
    title = f"{cell(known.job.title, 60)}  {len(body.lines)} lines  q closes"
    return ShowOutput(known.job.chat_id or "", 0, title, body.lines, body.marks, "", row)


@lru_cache(maxsize=32)  # panels are drawn several times a second
def _coloured(lines: Sequence[tuple[str, bool]]) -> Sequence[Line]:
    return _lines(lines)


def _lines(lines: Iterable[tuple[str, bool]], longest: int = LONGEST_CELL) -> list[Line]:
    """Colour lines; a colour lasts until the program ends it, as in a terminal."""
    reader = ColouredLines(longest)
    shown: list[Line] = []
    for text, is_fault in lines:
        (line,) = reader.read(text.replace("\n", " ") + "\n")
        group = STDERR if is_fault else ""
        shown.append([(piece, its_own or group) for piece, its_own in line] or [("", "")])
    return shown
