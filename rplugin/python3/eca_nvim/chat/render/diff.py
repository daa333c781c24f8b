"""Render diff: shows a change as a unified diff with marks for lines, hunks and changed words.

Rules kept here: marks are byte columns; a malformed diff is shown as plain text. A carriage return
at the end of a line is a picture, unless all lines that were there have one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby, islice, pairwise

from eca_nvim.chat.text.body import Body, RowPlace, stacked
from eca_nvim.chat.text.diffs import Hunk, Line, LineKind, MalformedDiff, change_hunks
from eca_nvim.chat.text.output import MORE, cut, cut_line, lines_left_out
from eca_nvim.chat.text.safe_text import literal_lines, literal_name
from eca_nvim.chat.vocabulary.call_details import FileChange
from eca_nvim.chat.vocabulary.ops import Mark

COLUMNS = 500
LEAST = 5
"""Lines of each of several diffs that are shown, at least."""

_GROUPS = {LineKind.ADDED: "EcaDiffAdd", LineKind.REMOVED: "EcaDiffDelete"}
_WORD_GROUPS = {LineKind.ADDED: "EcaDiffAddText", LineKind.REMOVED: "EcaDiffDeleteText"}


def changes_body(changes: Sequence[FileChange], limit: int | None) -> Body:
    """Return the diffs of changes; several share the `limit`, each below the name of its file."""
    if len(changes) == 1:
        return diff_body(changes[0], limit)
    share = None if limit is None else max(LEAST, limit // len(changes))
    return stacked(body for it in changes for body in (_file(it), diff_body(it, share)))


def _file(change: FileChange) -> Body:
    name = literal_name(change.path)
    return Body([name], [(0, 0, -1, "EcaToolTarget")], "diff", places=[(0, change.path, 0, 0)])


def diff_body(change: FileChange, limit: int | None) -> Body:
    """Return the diff of a change, cut to `limit` lines and a note of how many are left out."""
    try:
        hunks = change_hunks(change)
    except MalformedDiff:
        return cut(literal_lines(change.diff), limit, language="diff")
    lines: list[str] = []
    marks: list[Mark] = []
    places: list[RowPlace] = []
    total = sum(len(hunk.lines) + 1 for hunk in hunks)
    for hunk in hunks:
        if limit is not None and len(lines) >= limit:
            break
        places += islice(_places(hunk, len(lines), change), limit)
        _hunk(hunk, _numbers(hunk) if change.placed else "@@", lines, marks, limit)
    is_cut = limit is not None and any(len(line) > COLUMNS + 1 for line in lines)
    if limit is not None and total > limit:
        lines = [*lines[:limit], lines_left_out(total - limit)]
        marks = [*(mark for mark in marks if mark[0] < limit), (limit, 0, -1, MORE)]
        places = [place for place in places if place[0] < limit]
        is_cut = True
    return Body(lines, marks, "diff", is_cut, places)


def _places(hunk: Hunk, row: int, change: FileChange) -> Iterator[RowPlace]:
    """Yield the places of a hunk's header and lines, from its first row on."""
    before, after = (hunk.start, hunk.target) if change.placed else (0, 0)
    yield row, change.path, before, after
    for number, line in enumerate(hunk.lines, row + 1):
        yield number, change.path, before, after
        before += change.placed and line.kind is not LineKind.ADDED
        after += change.placed and line.kind is not LineKind.REMOVED


def _numbers(hunk: Hunk) -> str:
    return f"@@ -{hunk.start},{len(hunk.before)} +{hunk.target},{len(hunk.after)} @@"


def _hunk(hunk: Hunk, header: str, lines: list[str], marks: list[Mark], limit: int | None) -> None:
    marks.append((len(lines), 0, -1, "EcaDiffHunk"))
    lines.append(header)
    first = len(lines)
    has_crlf = bool(hunk.before) and all(it.text.endswith("\r") for it in hunk.before)
    shown = hunk.lines if limit is None else hunk.lines[: limit + 1]
    for line in shown:
        if line.kind is not LineKind.CONTEXT:
            marks.append((len(lines), 0, -1, _GROUPS[line.kind]))
        text = line.text.removesuffix("\r") if has_crlf else line.text
        lines.append(line.kind.value + _one(text, limit))
    marks += _words(shown, lines[first:], first)


def _one(text: str, limit: int | None) -> str:
    line = literal_name(text)
    return line if limit is None else cut_line(line, COLUMNS)


def _words(shown: Sequence[Line], texts: Sequence[str], first: int) -> list[Mark]:
    """Mark the words that differ between removed lines and the added lines that replace them."""
    runs = [
        (kind, [row for row, _ in rows])
        for kind, rows in groupby(enumerate(shown), key=lambda item: item[1].kind)
    ]
    marks: list[Mark] = []
    for (kind, removed), (next_kind, added) in pairwise(runs):
        if (kind, next_kind) == (LineKind.REMOVED, LineKind.ADDED):
            for old, new in zip(removed, added, strict=False):
                marks += _pair(old + first, texts[old], new + first, texts[new])
    return marks


def _pair(old_row: int, old: str, new_row: int, new: str) -> list[Mark]:
    head = _common(old[1:], new[1:]) + 1
    tail = min(_common(old[:0:-1], new[:0:-1]), len(old) - head, len(new) - head)
    if (head - 1 + tail) * 2 < min(len(old), len(new)) - 1:
        return []  # a different line rather than a changed one
    return [
        (row, len(text[:head].encode()), len(text[: len(text) - tail].encode()), _WORD_GROUPS[kind])
        for row, text, kind in (
            (old_row, old, LineKind.REMOVED),
            (new_row, new, LineKind.ADDED),
        )
        if len(text) - tail > head
    ]


def _common(first: str, second: str) -> int:
    count = 0
    for one, other in zip(first, second, strict=False):
        if one != other:
            break
        count += 1
    return count
