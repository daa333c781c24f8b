"""Diffs: parses, applies and reverses unified diffs as agents send them.

Line numbers are 1-based, as in diffs. The cost is linear in the diff and the file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from eca_nvim.chat.vocabulary.call_details import FileChange

if TYPE_CHECKING:
    from unidiff import PatchedFile
    from unidiff.patch import Line as ReadLine


class MalformedDiff(ValueError):
    """Raised when a text is not a unified diff; the message says why."""


class DoesNotApply(ValueError):
    """Raised when a hunk does not fit a file; the message names the hunk."""


class LineKind(StrEnum):
    """The kind of a line in a hunk; the value is its first character in a diff."""

    CONTEXT = " "
    ADDED = "+"
    REMOVED = "-"


class Line(Struct, frozen=True):
    """A line of a hunk; `ends` is False for a last line without a line feed."""

    kind: LineKind
    text: str
    ends: bool = True


class Hunk(Struct, frozen=True):
    """A hunk: its first line before (`start`) and after the change (`target`), and its lines."""

    start: int
    target: int
    lines: tuple[Line, ...]

    @property
    def before(self) -> list[Line]:
        """The lines the file must have."""
        return [line for line in self.lines if line.kind is not LineKind.ADDED]

    @property
    def after(self) -> list[Line]:
        """The lines the file will have instead."""
        return [line for line in self.lines if line.kind is not LineKind.REMOVED]


UNPLACED: Final = "the replaced text is not in the file, or is there more than once"
EFFORT: Final = 64
"""Most comparisons per line of file and diff that are spent to find the hunks."""
_KINDS = {kind.value: kind for kind in LineKind}
_HUNK_PREFIXES = tuple(_KINDS)
_FILE_PREFIXES = ("--- ", "+++ ")
CACHED: Final = 8
"""Number of diffs whose hunks are cached."""
_DIFF_PREFIXES = (*_HUNK_PREFIXES, "@@", "\\", "\r")
"""First characters of the lines in a diff of hunks only; a context line may also be empty."""


@lru_cache(maxsize=CACHED)
def parse_hunks(diff: str) -> tuple[Hunk, ...]:
    """Parse the hunks of one file's diff, which may have no ---/+++ lines. Raises MalformedDiff.

    The diff of a new file removes a line that never existed: see `change_hunks`. The last results
    are cached, because a call sends its diff when it is requested and again when it has run.
    """
    start = 0 if diff.startswith("@@") else diff.find("\n@@") + 1
    if not diff.startswith("@@", start):
        if diff.strip():
            raise MalformedDiff("the diff has no hunk")
        return ()
    above = (line for line in diff[:start].split("\n") if not line.startswith(_FILE_PREFIXES))
    if any(line.startswith(_HUNK_PREFIXES) for line in above):
        raise MalformedDiff("the diff has changed lines before its first hunk")
    body = diff[start:].rstrip("\n")
    hunks = _read(body)
    read = sum(len(hunk) + 1 for hunk in hunks)
    if not all(hunks) or read < body.count("\n") + 1:
        raise MalformedDiff(f"only {read} lines of the diff belong to a hunk")
    return tuple(Hunk(hunk.source_start, hunk.target_start, _lines(hunk)) for hunk in hunks)


def _read(diff: str) -> PatchedFile:
    """Parse a diff that consists of hunks only. Raises MalformedDiff.

    Other lines must not reach unidiff, because its patterns for git headers backtrack.
    """
    from unidiff import PatchSet, UnidiffParseError  # noqa: PLC0415 - no diff is in a first chat

    for line in diff.split("\n"):
        if line and not line.startswith(_DIFF_PREFIXES):
            raise MalformedDiff(f"not a line of a hunk: {line[:200]}")
    try:
        files = PatchSet("--- before\n+++ after\n" + diff)
    except (UnidiffParseError, ValueError) as fault:
        raise MalformedDiff(f"not a unified diff: {str(fault).strip()[:200]}") from fault
    if len(files) != 1:
        raise MalformedDiff("the diff is about several files")
    return files[0]


def _lines(hunk: Iterable[ReadLine]) -> tuple[Line, ...]:
    lines: list[Line] = []
    for read in hunk:
        kind = _KINDS.get(read.line_type)
        if kind is not None:
            lines.append(Line(kind, read.value.removesuffix("\n")))
        elif lines:  # "\\ No newline at end of file"
            lines[-1] = replace(lines[-1], ends=False)
    return tuple(lines)


def change_hunks(change: FileChange, before: str = "") -> tuple[Hunk, ...]:
    """Parse the hunks of a change, without the empty line that a new file never had.

    Agents write the diff of a new file as if the file had had one empty line. The diff removes that
    line, or keeps it if the new text has an empty line. It is not a new file if `before`, the
    file's text, is not empty, or if the agent counts a removed line. Raises MalformedDiff.
    """
    hunks = parse_hunks(change.diff)
    is_new = len(hunks) == 1 and hunks[0].start <= 1 and [it.text for it in hunks[0].before] == [""]
    if before or change.removed or not is_new:
        return hunks
    (hunk,) = hunks
    return (Hunk(0, 1, tuple(replace(line, kind=LineKind.ADDED) for line in hunk.after)),)


def reverse_hunks(hunks: Sequence[Hunk]) -> tuple[Hunk, ...]:
    """Return the hunks that undo a change."""
    turned = {
        LineKind.ADDED: LineKind.REMOVED,
        LineKind.REMOVED: LineKind.ADDED,
        LineKind.CONTEXT: LineKind.CONTEXT,
    }
    return tuple(
        Hunk(
            hunk.target,
            hunk.start,
            tuple(replace(line, kind=turned[line.kind]) for line in hunk.lines),
        )
        for hunk in hunks
    )


# --- applying -----------------------------------------------------------------------------------


def apply_hunks(text: str, hunks: Sequence[Hunk]) -> str:
    """Return the text after a change; a hunk that does not fit its place goes to the nearest one.

    The final line feed stays as it is unless the hunks change it; a new file ends in one. Raises
    DoesNotApply.
    """
    lines, ends = _split(text)
    result: list[str] = []
    done = 0
    for hunk, place in zip(hunks, _places(lines, hunks), strict=True):
        result += lines[done:place]
        done = place + len(hunk.before)
        result += _replaced(lines[place:done], hunk, ends.mark)
        ends = ends.after(hunk, at_end=done == len(lines))
    return ends.join([*result, *lines[done:]])


class _LineEnds(Struct, frozen=True):
    """How the lines of a file end.

    mark: a carriage return if most lines have one before their line feed, else "". last: whether
    the last line has a line feed.
    """

    mark: str
    last: bool

    def after(self, hunk: Hunk, *, at_end: bool) -> _LineEnds:
        """Return the line ends after a hunk; `at_end`: the hunk ends where the file ends."""
        if not at_end or all(line.ends for line in hunk.lines):
            return self
        return replace(self, last=all(line.ends for line in hunk.after))

    def join(self, lines: Sequence[str]) -> str:
        """Join lines, which all end in the mark, to a text."""
        if not lines:
            return ""
        text = "\n".join(lines)
        return text + "\n" if self.last else text.removesuffix(self.mark)


def _split(text: str) -> tuple[list[str], _LineEnds]:
    """Split a text at line feeds; a last line without one gets the mark, as lines may follow."""
    lines = text.split("\n")
    last = lines[-1] == ""
    if last:
        lines.pop()
    marked = sum(line.endswith("\r") for line in lines)
    mark = "\r" if marked > len(lines) // 2 else ""
    if not last:
        lines[-1] = lines[-1].removesuffix("\r") + mark
    return lines, _LineEnds(mark, last)


def hunk_places(text: str, hunks: Sequence[Hunk]) -> Iterator[int]:
    """Yield the line of a text where each hunk begins (0-based). Raises DoesNotApply."""
    return _places(_split(text)[0], hunks)


def _places(lines: Sequence[str], hunks: Sequence[Hunk]) -> Iterator[int]:
    """Yield the index where each hunk begins (0-based). Raises DoesNotApply.

    The search for a hunk starts at its line number, shifted as far as the previous hunk was.
    """
    # Line ends do not count in comparisons: added lines get those of the file.
    bare = [line.removesuffix("\r") for line in lines]
    finder = _Finder(bare, EFFORT * (len(bare) + sum(len(hunk.lines) for hunk in hunks)))
    done = drift = 0
    for number, hunk in enumerate(hunks, 1):
        wanted = [line.text.removesuffix("\r") for line in hunk.before]
        # A hunk that only adds lines gives the number of the line it follows.
        expected = drift + (hunk.start - 1 if wanted else hunk.start)
        place = finder.find(wanted, expected, done)
        if place is None:
            raise DoesNotApply(f"hunk {number} (line {hunk.start}) does not fit the file")
        drift += place - expected
        done = place + len(wanted)
        yield place


def _replaced(old: Sequence[str], hunk: Hunk, mark: str) -> list[str]:
    kept = iter(old)
    new: list[str] = []
    for line in hunk.lines:
        match line.kind:
            case LineKind.CONTEXT:
                new.append(next(kept))
            case LineKind.REMOVED:
                next(kept)
            case LineKind.ADDED:
                new.append(line.text.removesuffix("\r") + mark if mark else line.text)
    return new


class _Finder(Struct):
    """Finds lines in a file; `left` is the number of comparisons it may still make."""

    lines: Sequence[str]
    left: int

    def find(self, wanted: Sequence[str], expected: int, least: int) -> int | None:
        """Return the index of the wanted lines nearest to `expected`, at or after `least`."""
        most = len(self.lines) - len(wanted)
        if not wanted:
            return expected if least <= expected <= len(self.lines) else None
        near = max(least, min(expected, most))
        for away in range(max(most - near, near - least) + 1 if least <= most else 0):
            for place in (near + away, near - away):
                if least <= place <= most and self._has(wanted, place):
                    return place
            if self.left <= 0:
                return None
        return None

    def _has(self, wanted: Sequence[str], place: int) -> bool:
        for at, line in enumerate(wanted, place):
            self.left -= 1
            if self.lines[at] != line:
                return False
        return True


# --- a change as two files ----------------------------------------------------------------------


class Versions(Struct, frozen=True):
    """A change as two whole files.

    kind: changed, new, deleted, or moved (same text, other path). fault: why the change does not
    fit the file; `before` is then the present file and `after` the raw diff.
    """

    before: str
    after: str
    kind: str
    fault: str | None = None


def versions(current: str | None, change: FileChange, *, applied: bool) -> Versions:
    """Return a file before and after a change, from its present text (None: no such file)."""
    text = current or ""
    if not change.placed:
        return Versions(text, change.diff, "changed", UNPLACED)
    try:
        hunks = change_hunks(change, "" if applied else text)
        if applied:
            before, after = apply_hunks(text, reverse_hunks(hunks)), text
        else:
            before, after = text, apply_hunks(text, hunks)
    except (MalformedDiff, DoesNotApply) as fault:
        return Versions(text, change.diff, "changed", str(fault))
    return Versions(before, after, _kind(before, after, hunks))


def text_after(text: str, change: FileChange) -> str | None:
    """Return a text after a change as it was announced; None if it does not fit, or not clearly."""
    if change.new is not None and change.old:
        is_clear = text.count(change.old) == 1 or (change.every and change.old in text)
        return text.replace(change.old, change.new) if is_clear else None
    return text_after_shown(text, change)


def text_after_shown(text: str, change: FileChange) -> str | None:
    """Return a text after a change as its diff showed it, context included; None: it does not fit.

    An empty file gets the new text: the diff showed all of it as added.
    """
    if change.new is not None and not text and not change.old:
        return change.new
    if not change.diff or not change.placed:
        return None
    try:
        return apply_hunks(text, change_hunks(change, text))
    except (MalformedDiff, DoesNotApply):
        return None


def count_made(
    before: str,
    after: str,
    changes: Sequence[FileChange],
    text_after: Callable[[str, FileChange], str | None] = text_after,
) -> int | None:
    """Return how many changes of a file, from the first on, make the one text of the other.

    None: no number of them does. text_after: says what one makes of a text.
    """
    text = before
    for count, change in enumerate(changes, 1):
        made = text_after(text, change)
        if made is None or made == after:
            return None if made is None else count
        text = made
    return None


def rewritten(current: str | None, text: str) -> Versions:
    """Return a file before and after it is rewritten; None: no such file."""
    return Versions(current or "", text, "changed" if current else "new")


def _kind(before: str, after: str, hunks: Sequence[Hunk]) -> str:
    if not before and after:
        return "new"
    if before and not after and hunks:
        return "deleted"
    return "changed"
