"""Text differences: where two texts differ, the diff between them, its lines, and its parts.

A part of a change is what the user takes or leaves out: a hunk as a request shows it, with one line
before and after it.
"""

from collections.abc import Container, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Final, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from eca_nvim.chat.text.diffs import Hunk, Line, LineKind, MalformedDiff, change_hunks
from eca_nvim.chat.vocabulary.call_details import FileChange

MOST_COMPARED = 1 << 24
"""Most pairs of lines (lines of one text times lines of the other) to compare in detail."""
MOST_LINES = 1 << 16
"""Most lines of either text to compare in detail."""

Lines: TypeAlias = Sequence[str]
Span: TypeAlias = tuple[int, int, int, int]
"""First and last line (exclusive) in the old text, then in the new one."""


def spans(before: Lines, after: Lines) -> list[Span]:
    """Return the spans that differ, in order."""
    head = common(before, after)
    tail = common(before[head:][::-1], after[head:][::-1])
    old, new = before[head : len(before) - tail], after[head : len(after) - tail]
    if not old and not new:
        return []
    # The time is bounded: texts that differ too much become one span.
    if len(old) * len(new) > MOST_COMPARED or max(len(old), len(new)) > MOST_LINES:
        return [(head, head + len(old), head, head + len(new))]
    from difflib import SequenceMatcher  # noqa: PLC0415 - a start has nothing to compare

    matcher = SequenceMatcher(None, old, new)  # ignores very frequent lines
    return [
        (head + first, head + last, head + new_first, head + new_last)
        for tag, first, last, new_first, new_last in matcher.get_opcodes()
        if tag != "equal"
    ]


def common(one: Lines, other: Lines) -> int:
    """Count the equal lines, or characters, at the beginning."""
    count = 0
    for first, second in zip(one, other, strict=False):
        if first != second:
            break
        count += 1
    return count


def changed_part(old: str, new: str) -> tuple[int, tuple[int, int]] | None:
    """Return where two lines begin to differ, and where that ends in each; None: all differs.

    Places are characters. The lines are different ones, rather than one that was changed, if less
    than half of the shorter is in both.
    """
    head = common(old, new)
    tail = min(common(old[::-1], new[::-1]), len(old) - head, len(new) - head)
    if (head + tail) * 2 < min(len(old), len(new)):
        return None
    return head, (len(old) - tail, len(new) - tail)


AROUND = 3
"""Context lines before and after a difference, in a diff."""


def hunks_between(before: str, after: str) -> tuple[str, int, int]:
    """Return the hunks from one text to another, and how many lines they add and remove.

    A text that ends all its lines in CRLF keeps that, so it is no difference.
    """
    old, new = (list(_marked(text)) for text in comparable(before, before, after))
    found = spans(old, new)
    lines = [line for group in _groups(found) for line in _hunk(old, new, group)]
    return "\n".join(lines), *counted(found)


def counted(found: Iterable[Span]) -> tuple[int, int]:
    """Return how many lines differences add and remove."""
    sizes = [(new_end - new, old_end - old) for old, old_end, new, new_end in found]
    return sum(added for added, _ in sizes), sum(removed for _, removed in sizes)


def added_lines(change: FileChange) -> int:
    """Count the lines a change adds, including those of a new file that its agent omits."""
    if change.removed or not change.diff.startswith(("@@ -1,1 ", "@@ -1 ")):
        return change.added
    try:
        hunks = change_hunks(change)
    except MalformedDiff:
        return change.added  # the diff is shown unparsed
    return sum(line.kind is LineKind.ADDED for hunk in hunks for line in hunk.lines)


def comparable(file: str, *texts: str) -> Sequence[str]:
    """Return texts with plain line ends, if all lines of their file end in CRLF."""
    if 0 < file.count("\r\n") == file.count("\n"):
        return [text.replace("\r\n", "\n") for text in texts]
    return texts


def _marked(text: str) -> Iterator[str]:
    """Yield the lines; a last line without a line feed has the note that diffs use."""
    if text:
        *lines, last = text.removesuffix("\n").split("\n")
        yield from lines
        yield last if text.endswith("\n") else f"{last}\n\\ No newline at end of file"


def _groups(found: Iterable[Span]) -> list[list[Span]]:
    """Group differences whose context lines touch or overlap."""
    groups: list[list[Span]] = []
    for span in found:
        if groups and span[0] - groups[-1][-1][1] <= 2 * AROUND:
            groups[-1].append(span)
        else:
            groups.append([span])
    return groups


def _hunk(old: Lines, new: Lines, group: Sequence[Span]) -> Iterator[str]:
    above = min(AROUND, group[0][0])
    below = min(AROUND, len(old) - group[-1][1])
    at, old_end = group[0][0] - above, group[-1][1] + below
    yield (f"@@ -{_range(at, old_end)} +{_range(group[0][2] - above, group[-1][3] + below)} @@")
    for old_start, old_stop, new_start, new_stop in group:
        yield from (f" {line}" for line in old[at:old_start])
        yield from (f"-{line}" for line in old[old_start:old_stop])
        yield from (f"+{line}" for line in new[new_start:new_stop])
        at = old_stop
    yield from (f" {line}" for line in old[at:old_end])


def _range(start: int, end: int) -> str:
    """Format a range as diffs do: one line as its number, no lines as the line before them."""
    if end - start == 1:
        return f"{start + 1}"
    return f"{start + 1 if end > start else start},{end - start}"


# --- parts ----------------------------------------------------------------------------------------

NEAR: Final = 1
"""Lines before and after a part that are shown with it."""


class Part(Struct, frozen=True):
    """A part of a call's changes: its number, from 1 through all files, and its own hunk.

    change: which change it is of (0-based). place: which part of that change (0-based).
    """

    number: int
    change: int
    place: int
    hunk: Hunk

    @property
    def header(self) -> str:
        """The row before it in a unified diff."""
        hunk = self.hunk
        before, after = len(hunk.before), len(hunk.after)
        return f"@@ -{hunk.start},{before} +{hunk.target},{after} @@"


def parts_of(changes: Sequence[FileChange]) -> Sequence[Part]:
    """Return the parts of changes in the order in which they are shown. Raises MalformedDiff."""
    paths = dict.fromkeys(it.path for it in changes)
    in_order = [at for path in paths for at, it in enumerate(changes) if it.path == path]
    found: list[Part] = []
    for at in in_order:
        split = (part for hunk in change_hunks(changes[at]) for part in narrowed(hunk))
        found += [Part(len(found) + n, at, n - 1, part) for n, part in enumerate(split, 1)]
    return found


def narrowed(hunk: Hunk) -> Iterator[Hunk]:
    """Split a hunk into its parts."""
    for first, last in runs_of(hunk):
        start = max(0, first - NEAR)
        above = Hunk(hunk.start, hunk.target, hunk.lines[:start])
        lines = hunk.lines[start : last + NEAR + 1]
        yield Hunk(above.start + len(above.before), above.target + len(above.after), lines)


def without(hunks: Iterable[Hunk], left_out: Container[int]) -> Iterator[Hunk]:
    """Yield hunks that leave some of their parts (0-based, through all of them) as they are."""
    first = 0
    for hunk in hunks:
        runs = [*enumerate(runs_of(hunk), first)]
        lines: list[Line] = []
        for at, line in enumerate(hunk.lines):
            if not any(start <= at <= end and it in left_out for it, (start, end) in runs):
                lines.append(line)
            elif line.kind is not LineKind.ADDED:
                lines.append(replace(line, kind=LineKind.CONTEXT))
        yield Hunk(hunk.start, hunk.target, tuple(lines))
        first += len(runs)


def runs_of(hunk: Hunk) -> Sequence[tuple[int, int]]:
    """Return the first and last line of each part of a hunk (0-based); what is near is one part."""
    changed = [at for at, line in enumerate(hunk.lines) if line.kind is not LineKind.CONTEXT]
    apart = [pair for pair in pairwise(changed) if pair[1] - pair[0] > 2 * NEAR + 1]
    firsts = [*changed[:1], *(first for _, first in apart)]
    lasts = [*(last for last, _ in apart), *changed[-1:]]
    return [*zip(firsts, lasts, strict=True)]
