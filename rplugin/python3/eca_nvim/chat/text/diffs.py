r"""Diffs: unified diffs as agents send them, read, applied and reversed.

Rules kept here:
- A diff may be hunks only: no ---/+++ lines, no final newline. What unidiff cannot read is a
  MalformedDiff, what does not fit a file is DoesNotApply; both say which hunk.
- Hunks are exact: lines without their line feed. A carriage return at a line's end does not count
  when lines are compared, and added lines take the line ends of the file.
- Line numbers are 1-based, as in diffs.
- The work is linear in the diff and the file, whatever they hold: reading takes each line once, and
  a place is looked for with so many comparisons and no more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from eca_nvim.chat.vocabulary.call_details import FileChange

if TYPE_CHECKING:
    from unidiff import PatchedFile


class MalformedDiff(ValueError):
    """Raised when a text is not a unified diff; the message says where."""


class DoesNotApply(ValueError):
    """Raised when a hunk finds no place in a file; the message names the hunk."""


class LineKind(StrEnum):
    """What a line of a hunk is; the value is how a diff writes it."""

    CONTEXT = " "
    ADDED = "+"
    REMOVED = "-"


class Line(Struct, frozen=True):
    """A line of a hunk; `ends` is false for a last line without a line feed."""

    kind: LineKind
    text: str
    ends: bool = True


class Hunk(Struct, frozen=True):
    """A place in the file before (`start`) and after (`target`), and its lines."""

    start: int
    target: int
    lines: tuple[Line, ...]

    @property
    def before(self) -> list[Line]:
        """Return the lines the file must have."""
        return [line for line in self.lines if line.kind is not LineKind.ADDED]

    @property
    def after(self) -> list[Line]:
        """Return the lines the file will have instead."""
        return [line for line in self.lines if line.kind is not LineKind.REMOVED]


EFFORT: Final = 64
"""Lines that are compared for each line of a file and its diff, at most, to find its hunks."""
_OF_HUNKS = tuple(kind.value for kind in LineKind)
_NAMES = ("--- ", "+++ ")
KEPT: Final = 8
"""Diffs of which the hunks are kept."""
_OF_DIFFS = (*_OF_HUNKS, "@@", "\\", "\r")
"""How the lines of a diff begin that is hunks and nothing else; a context line may be empty."""


@lru_cache(maxsize=KEPT)
def parse_hunks(diff: str) -> tuple[Hunk, ...]:
    """Read the hunks of one file's diff. Raises MalformedDiff.

    A new file's has a line that was never there: see `change_hunks`. What was read last is kept:
    a call tells its diff when it is asked for and again when it has run.
    """
    start = 0 if diff.startswith("@@") else diff.find("\n@@") + 1
    if not diff.startswith("@@", start):
        if diff.strip():
            raise MalformedDiff("a diff without a hunk")
        return ()
    above = (line for line in diff[:start].split("\n") if not line.startswith(_NAMES))
    if any(line.startswith(_OF_HUNKS) for line in above):
        raise MalformedDiff("lines of a hunk before the first one")
    body = diff[start:].rstrip("\n")
    hunks = _read(body)
    read = sum(len(hunk) + 1 for hunk in hunks)
    if not all(hunks) or read < body.count("\n") + 1:
        raise MalformedDiff(f"only {read} lines of the diff belong to a hunk")
    return tuple(Hunk(hunk.source_start, hunk.target_start, _lines(hunk)) for hunk in hunks)


def _read(diff: str) -> PatchedFile:
    """Read a diff of hunks alone. Raises MalformedDiff.

    Other lines never reach unidiff: its patterns for the headers of git backtrack.
    """
    from unidiff import PatchSet, UnidiffParseError  # noqa: PLC0415 - the start needs no diff

    for line in diff.split("\n"):
        if line and not line.startswith(_OF_DIFFS):
            raise MalformedDiff(f"no line of a hunk: {line[:200]}")
    try:
        files = PatchSet("--- before\n+++ after\n" + diff)
    except (UnidiffParseError, ValueError) as fault:
        raise MalformedDiff(f"not a unified diff: {str(fault).strip()[:200]}") from fault
    if len(files) != 1:
        raise MalformedDiff("a diff of several files")
    return files[0]


def _lines(hunk: Sequence[object]) -> tuple[Line, ...]:
    lines: list[Line] = []
    for read in hunk:
        kind, value = str(read)[:1], str(read)[1:]
        if kind == "\\":
            if lines:
                lines[-1] = replace(lines[-1], ends=False)
        else:
            lines.append(Line(LineKind(kind), value.removesuffix("\n")))
    return tuple(lines)


def change_hunks(change: FileChange, before: str = "") -> tuple[Hunk, ...]:
    """Read the hunks of a change, without the empty line a new file never had.

    Agents write a new file as if it had one empty line before, which is then taken out or, when
    the text has an empty line itself, stays as that. With `before`, a text the file has had, it
    is no new file; nor is it with a line counted as removed. Raises MalformedDiff.
    """
    hunks = parse_hunks(change.diff)
    if before or change.removed or not _from_one_empty_line(hunks):
        return hunks
    (hunk,) = hunks
    return (Hunk(0, 1, tuple(replace(line, kind=LineKind.ADDED) for line in hunk.after)),)


def _from_one_empty_line(hunks: Sequence[Hunk]) -> bool:
    """Return whether hunks read as a new file, made from one empty line."""
    return len(hunks) == 1 and hunks[0].start <= 1 and [it.text for it in hunks[0].before] == [""]


def added_lines(change: FileChange) -> int:
    """Count the lines a change adds, those of a new file that its agent does not count too."""
    if change.removed or not change.diff.startswith(("@@ -1,1 ", "@@ -1 ")):
        return change.added
    try:
        hunks = change_hunks(change)
    except MalformedDiff:
        return change.added  # it is shown as it came, with a word about that
    return sum(line.kind is LineKind.ADDED for hunk in hunks for line in hunk.lines)


def reverse_hunks(hunks: Sequence[Hunk]) -> tuple[Hunk, ...]:
    """Return the hunks that take a change back."""
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
    """Return the text after the change: each hunk at its place, else at the nearest that fits.

    A file keeps whether it ends in a line feed unless the hunks say otherwise; one made from
    nothing ends in one. Raises DoesNotApply.
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

    mark: what most lines have before the line feed, a carriage return or nothing. last: whether the
    last line has a line feed.
    """

    mark: str
    last: bool

    def after(self, hunk: Hunk, *, at_end: bool) -> _LineEnds:
        """Return the line ends after a hunk; `at_end`: no line of the file follows it."""
        if not at_end or all(line.ends for line in hunk.lines):
            return self
        return replace(self, last=all(line.ends for line in hunk.after))

    def join(self, lines: Sequence[str]) -> str:
        """Make a text of lines that all have their mark."""
        if not lines:
            return ""
        text = "\n".join(lines)
        return text + "\n" if self.last else text.removesuffix(self.mark)


def _split(text: str) -> tuple[list[str], _LineEnds]:
    """Split a text at its line feeds; a last line without one gets the mark, as it may not stay."""
    lines = text.split("\n")
    last = lines[-1] == ""
    if last:
        lines.pop()
    marked = sum(line.endswith("\r") for line in lines)
    mark = "\r" if marked > len(lines) // 2 else ""
    if not last:
        lines[-1] = lines[-1].removesuffix("\r") + mark
    return lines, _LineEnds(mark, last)


def _places(lines: Sequence[str], hunks: Sequence[Hunk]) -> Iterator[int]:
    """Find where each hunk begins (0-based). Raises DoesNotApply.

    A hunk is expected where it says, as far away as the hunk before it was found.
    """
    bare = [line.removesuffix("\r") for line in lines]
    finder = _Finder(bare, EFFORT * (len(bare) + sum(len(hunk.lines) for hunk in hunks)))
    done = drift = 0
    for number, hunk in enumerate(hunks, 1):
        wanted = [line.text.removesuffix("\r") for line in hunk.before]
        # A hunk without lines before it names the line that it follows.
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
    """Looks for places in a file; `left` is how many lines it may still compare."""

    lines: Sequence[str]
    left: int

    def find(self, wanted: Sequence[str], expected: int, least: int) -> int | None:
        """Find the place nearest to `expected`, not before `least`, where the wanted lines are."""
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

    kind: changed, new, deleted, or moved (the same text at another path). fault: why the change
    does not fit the file; then `before` is the file as it is and `after` the raw diff.
    """

    before: str
    after: str
    kind: str
    fault: str | None = None


def versions(current: str | None, change: FileChange, *, applied: bool) -> Versions:
    """Return a file before and after a change, from its text now (None: there is no such file)."""
    text = current or ""
    try:
        hunks = change_hunks(change, "" if applied else text)
        if applied:
            before, after = apply_hunks(text, reverse_hunks(hunks)), text
        else:
            before, after = text, apply_hunks(text, hunks)
    except (MalformedDiff, DoesNotApply) as fault:
        return Versions(text, change.diff, "changed", str(fault))
    return Versions(before, after, _kind(before, after, hunks))


def rewritten(current: str | None, text: str) -> Versions:
    """Return a file before and after it is written whole; None: there is no such file."""
    return Versions(current or "", text, "changed" if current else "new")


def _kind(before: str, after: str, hunks: Sequence[Hunk]) -> str:
    if not before and after:
        return "new"
    if before and not after and hunks:
        return "deleted"
    return "changed"
