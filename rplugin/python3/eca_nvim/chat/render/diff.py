"""Diff: shows a change as a unified diff with marks for lines, hunks and changed words.

Marks are byte columns.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import groupby, islice, pairwise, takewhile

from msgspec.structs import replace

from eca_nvim.chat.text.diffs import CACHED, Hunk, Line, LineKind, MalformedDiff, change_hunks
from eca_nvim.chat.text.output import MORE, Body, RowPlace, cut, cut_line, joined, lines_left_out
from eca_nvim.chat.text.safe_text import literal_lines, literal_name
from eca_nvim.chat.text.text_differences import changed_part, narrowed, parts_of
from eca_nvim.chat.vocabulary.call_details import FileChange
from eca_nvim.chat.vocabulary.ops import Mark

COLUMNS = 500
LEAST = 5
"""Lines of each of several files that are shown, at least."""
LEFT_OUT = " · left out"
"""Stands behind the row of a part that the user does not take."""

_GROUPS = {LineKind.ADDED: "EcaDiffAdd", LineKind.REMOVED: "EcaDiffDelete"}
_WORD_GROUPS = {LineKind.ADDED: "EcaDiffAddText", LineKind.REMOVED: "EcaDiffDeleteText"}


# A request shows its diffs, and is drawn again as soon as it is answered.
@lru_cache(maxsize=CACHED)
def changes_body(
    changes: tuple[FileChange, ...],
    left_out: Collection[int],
    limit: int | None,
) -> Body:
    """Return the diffs of changes; several files share the `limit`, each below its path.

    The path of the only file is not part of it: `arguments_not_shown` says it if the header does
    not. left_out: the numbers of the parts that the user does not take.
    """
    files: dict[str, list[FileChange]] = {}
    for change in changes:
        files.setdefault(change.path, []).append(change)
    numbers = _numbers(changes) if limit is not None else {}
    count = sum(map(len, numbers.values()))
    if len(files) < 2:
        return _file_body(changes, limit, numbers.get(changes[0].path, ()), count, left_out)
    share = None if limit is None else max(LEAST, limit // len(files))
    bodies: list[Body] = []
    for path, of_file in files.items():
        name, place = [literal_name(path)], (0, path, 0, 0)
        bodies.append(Body(name, [(0, 0, -1, "EcaToolTarget")], "diff", places=[place]))
        bodies.append(_file_body(of_file, share, numbers.get(path, ()), count, left_out))
    return joined(*bodies)


def _numbers(changes: Sequence[FileChange]) -> Mapping[str, Sequence[int]]:
    """Return the numbers of the parts of changes, by path; none if one cannot be read."""
    numbers: dict[str, list[int]] = {}
    try:
        for part in parts_of(changes):
            numbers.setdefault(changes[part.change].path, []).append(part.number)
    except MalformedDiff:
        return {}
    return numbers


def _file_body(
    changes: Sequence[FileChange],
    limit: int | None,
    numbers: Sequence[int],
    count: int,
    left_out: Collection[int],
) -> Body:
    """Return the diffs of one file's changes as one, cut to `limit` lines and a note of the rest.

    If one of several is malformed, each is shown for itself. numbers: of its parts, of `count`.
    """
    try:
        hunks = [(it, _without_line_ends(hunk)) for it in changes for hunk in change_hunks(it)]
    except MalformedDiff:  # shown as plain text
        if len(changes) == 1:
            return cut(literal_lines(changes[0].diff), limit, language="diff")
        share = None if limit is None else max(LEAST, limit // len(changes))
        return joined(*(_file_body((it,), share, (), 0, ()) for it in changes))
    lines: list[str] = []
    marks: list[Mark] = []
    places: list[RowPlace] = []
    parts: list[tuple[int, int, int]] = []
    if limit is not None:
        hunks = [(it, piece) for it, hunk in hunks for piece in narrowed(hunk)]
    numbered = numbers or [*range(1, len(hunks) + 1)]
    headers = _headers(hunks, limit, numbered, count or len(hunks), left_out)
    total = sum(len(hunk.lines) for _, hunk in hunks) + sum(map(bool, headers))
    for (change, hunk), header, number in zip(hunks, headers, numbered, strict=True):
        if limit is not None and len(lines) >= limit:
            break
        if numbers:
            last = len(lines) + bool(header) + len(hunk.lines) - 1
            parts.append((number, len(lines), last if limit is None else min(last, limit - 1)))
        if header:
            lead = _lead(hunk) if change.placed else 0
            before, after = _start(hunk, change)
            places.append((len(lines), change.path, before + lead, after + lead))
            marks.append((len(lines), 0, -1, "EcaDiffHunk"))
            lines.append(header)
        places += islice(_places(hunk, len(lines), change), limit)
        _hunk(hunk, lines, marks, limit, is_out=number in left_out)
    is_cut = limit is not None and any(len(line) > COLUMNS + 1 for line in lines)
    if limit is not None and total > limit:
        lines = [*lines[:limit], lines_left_out(total - limit)]
        marks = [*(mark for mark in marks if mark[0] < limit), (limit, 0, -1, MORE)]
        places = [place for place in places if place[0] < limit]
        is_cut = True
    return Body(lines, marks, "diff", is_cut, places, parts)


def _without_line_ends(hunk: Hunk) -> Hunk:
    """Leave out the carriage returns of a hunk if all lines that were there have one."""
    # Any other one is shown as a picture: the user must see it.
    if not hunk.before or not all(line.text.endswith("\r") for line in hunk.before):
        return hunk
    lines = (replace(line, text=line.text.removesuffix("\r")) for line in hunk.lines)
    return Hunk(hunk.start, hunk.target, tuple(lines))


def _lead(hunk: Hunk) -> int:
    """Count the lines before a hunk's first change."""
    kinds = (line.kind for line in hunk.lines)
    return sum(1 for _ in takewhile(lambda kind: kind is LineKind.CONTEXT, kinds))


def _places(hunk: Hunk, row: int, change: FileChange) -> Iterator[RowPlace]:
    """Yield the places of a hunk's lines, from its first row on."""
    before, after = _start(hunk, change)
    for number, line in enumerate(hunk.lines, row):
        yield number, change.path, before, after
        before += change.placed and line.kind is not LineKind.ADDED
        after += change.placed and line.kind is not LineKind.REMOVED


def _start(hunk: Hunk, change: FileChange) -> tuple[int, int]:
    return (hunk.start, hunk.target) if change.placed else (0, 0)


def _headers(
    hunks: Sequence[tuple[FileChange, Hunk]],
    limit: int | None,
    numbers: Sequence[int],
    count: int,
    left_out: Collection[int],
) -> Sequence[str]:
    """Return the row before each hunk; the only one needs none, unless the whole diff is shown."""
    if limit is None:
        sizes = ((it.start, len(it.before), it.target, len(it.after)) for _, it in hunks)
        ranges = ["@@ -{},{} +{},{} @@".format(*each) for each in sizes]
        return [it if by.placed else "@@" for it, (by, _) in zip(ranges, hunks, strict=True)]
    if count < 2:
        return [""] * len(hunks)
    starts = [f"line {it.target + _lead(it)}" if by.placed else "change" for by, it in hunks]
    return [
        f"{start} · {number}/{count}{LEFT_OUT if number in left_out else ''}"
        for number, start in zip(numbers, starts, strict=True)
    ]


def _hunk(
    hunk: Hunk, lines: list[str], marks: list[Mark], limit: int | None, *, is_out: bool
) -> None:
    first = len(lines)
    shown = hunk.lines if limit is None else hunk.lines[: limit + 1]
    for line in shown:
        if line.kind is not LineKind.CONTEXT:
            marks.append((len(lines), 0, -1, "EcaMuted" if is_out else _GROUPS[line.kind]))
        text = literal_name(line.text)
        lines.append(line.kind.value + (text if limit is None else cut_line(text, COLUMNS)))
    if not is_out:
        marks += _words(shown, lines[first:], first)


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
    part = changed_part(old[1:], new[1:])
    if part is None:
        return []
    head, (old_end, new_end) = part
    return [
        (row, len(text[: head + 1].encode()), len(text[: end + 1].encode()), _WORD_GROUPS[kind])
        for row, text, end, kind in (
            (old_row, old, old_end, LineKind.REMOVED),
            (new_row, new, new_end, LineKind.ADDED),
        )
        if end > head
    ]
