"""Hunk choice: which hunks of a call's changes the user takes, and what files hold then.

Rules kept here:
- A hunk is one of those that the request shows, numbered through all files of the call.
- What a file is to hold is its text with the hunks that are taken, or the text as the user has
  edited it, byte for byte. If the hunks do not make of a file just what the tool makes of it, they
  cannot be taken one by one.
- What differs from what the agent has written, it gets as a diff of a limited length.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from msgspec.structs import replace

from eca_nvim.chat.text.diffs import (
    DoesNotApply,
    Hunk,
    LineKind,
    MalformedDiff,
    apply_hunks,
    change_hunks,
    hunk_places,
)
from eca_nvim.chat.text.safe_text import literal_name
from eca_nvim.chat.text.text_differences import hunks_between, parts_of, runs_of, without
from eca_nvim.chat.vocabulary.call_details import Base, FileChange, HunkChoice, PartialWrite

MOST_TOLD: Final = 200
"""Lines of diffs that the agent gets, at most."""
MOST_WAYS: Final = 64
"""Ways to read a text as hunks that are taken and left out, followed at once at most."""


ONLY_IN_PART: Final = (
    "I have allowed your change, but not just as you have written it. So the files differ from "
    "that; do not change it back:"
)


_TILDES: Final = re.compile("~~~+")


class NotInParts(Exception):
    """Raised when hunks cannot be taken one by one; the message is one line."""


class Sides(NamedTuple):
    """A file before a call, and as the call makes it; None: there is no such file.

    place: its real path. on_disk: `before` is the text on the disk.
    """

    place: str
    before: str | None
    after: str | None
    on_disk: bool


def choose(
    asked: tuple[FileChange, ...],
    changes: tuple[FileChange, ...],
    left_out: Collection[int],
    files: Mapping[str, Sides],
) -> HunkChoice | None:
    """Return the choice of hunks of `changes`; None if it is all that was asked for.

    changes: as asked, or edited. files: by the path of a change. Raises NotInParts.
    """
    out = frozenset(left_out)
    if not out and changes == asked:
        return None
    parts = parts_of(changes)
    if out >= {it.number for it in parts}:
        raise NotInParts("nothing would be left: r rejects it")
    writes: list[PartialWrite] = []
    for path, sides in files.items():
        of_file = [(at, it) for at, it in enumerate(changes) if it.path == path]
        is_edited = any(it is not asked[at] for at, it in of_file)
        gone = {at: {it.place for it in parts if it.change == at and it.number in out}
                for at, _ in of_file}  # fmt: skip
        if not is_edited and not any(gone.values()):
            continue
        _require_parts(sides, [it for it in asked if it.path == path])
        text = sides.before or ""
        for at, change in of_file:
            text = _text_with(text, change, gone[at])
        allowed = text if text or sides.before is not None else None
        writes.append(PartialWrite(path, *sides[:3], allowed, sides.on_disk))
    return HunkChoice(asked, changes, out, tuple(writes))


def texts_after(before: str | None, changes: Sequence[FileChange]) -> str:
    """Return a file after several changes. Raises NotInParts."""
    text = before or ""
    for change in changes:
        text = _text_with(text, change, ())
    return text


def standing_text(sides: Sides, change: FileChange, left_out: Collection[int]) -> str:
    """Return a file after a change without some of its parts (0-based). Raises NotInParts."""
    return _text_with(sides.before or "", change, left_out)


def _text_with(text: str, change: FileChange, left_out: Collection[int]) -> str:
    """Return a text after a change without some of its parts. Raises NotInParts."""
    if not left_out and change.whole is not None:
        return change.whole
    try:
        return apply_hunks(text, [*without(change_hunks(change, text), left_out)])
    except (MalformedDiff, DoesNotApply) as fault:
        raise NotInParts(f"one of them needs another that is left out: {fault}") from fault


def _require_parts(sides: Sides, changes: Sequence[FileChange]) -> None:
    """Raise NotInParts unless the hunks of a file make just what the tool makes of it."""
    text = sides.before or ""
    try:
        for change in changes:
            text = apply_hunks(text, change_hunks(change, text))
    except (MalformedDiff, DoesNotApply) as fault:
        raise NotInParts(f"they do not fit the file: {fault}") from fault
    if text != (sides.after or ""):
        raise NotInParts("the ends of its lines change, too: allow all of it, or reject it")


def edited(change: FileChange, before: str | None, text: str) -> FileChange:
    """Return a change that gives a file the user's own text."""
    diff, added, removed = hunks_between(before or "", text)
    return replace(change, diff=diff, added=added, removed=removed, old=None, new=text, placed=True)


# --- hunks in a text ------------------------------------------------------------------------------


class _Span(NamedTuple):
    """The lines of a file that a part replaces (0-based, `end` excluded), and by which."""

    start: int
    end: int
    lines: Sequence[str]


def _spans(text: str, change: FileChange) -> Iterator[_Span]:
    """Yield where the parts of a change are. Raises MalformedDiff and DoesNotApply."""
    hunks = change_hunks(change, text)
    for hunk, place in zip(hunks, hunk_places(text, hunks), strict=True):
        for first, last in runs_of(hunk):
            above, inside = hunk.lines[:first], hunk.lines[first : last + 1]
            start = place + len(Hunk(0, 0, above).before)
            end = start + sum(it.kind is not LineKind.ADDED for it in inside)
            after = Hunk(0, 0, inside).after
            fresh = [it.text.removesuffix("\r") + ("\n" if it.ends else "") for it in after]
            yield _Span(start, end, fresh)


def left_out_of(text: str, before: str | None, change: FileChange) -> frozenset[int] | None:
    """Return the parts of a change (0-based) that a text lacks; None: it is another text."""
    try:
        spans = [*_spans(before or "", change)]
    except (MalformedDiff, DoesNotApply):
        return None
    old, new = (_bare(it) for it in (before or "", text))
    ways: dict[int, tuple[int, ...]] = {0: ()}  # what is left out, by the line that is reached
    at = 0
    for number, span in enumerate(spans):
        reached: dict[int, tuple[int, ...]] = {}
        same, removed = old[at : span.start], old[span.start : span.end]
        for line, out in ways.items():
            if new[line : line + len(same)] != same:
                continue
            here = line + len(same)
            for lines, gone in ((span.lines, out), (removed, (*out, number))):
                if new[here : here + len(lines)] == lines:
                    reached.setdefault(here + len(lines), gone)
        if not reached or len(reached) > MOST_WAYS:
            return None
        ways, at = reached, span.end
    for line, out in ways.items():
        if new[line:] == old[at:] and _makes(text, before or "", change, out):
            return frozenset(out)
    return None


def _makes(text: str, before: str, change: FileChange, out: Collection[int]) -> bool:
    try:
        return _text_with(before, change, out) == text
    except NotInParts:
        return False


def _bare(text: str) -> Sequence[str]:
    """Return the lines of a text with their ends, which are plain ones."""
    *lines, last = text.replace("\r\n", "\n").split("\n")
    return [*(f"{line}\n" for line in lines), *filter(None, [last])]


def lines_of_parts(
    before: str | None, change: FileChange, left_out: Collection[int]
) -> Sequence[tuple[int, int]]:
    """Return the first line of each part in the text with the others, and how many it has there.

    Lines are 1-based; a part that is not there has none, and stands before its line.
    """
    found: list[tuple[int, int]] = []
    shift = 0
    for place, span in enumerate(_spans(before or "", change)):
        count = span.end - span.start if place in left_out else len(span.lines)
        found.append((span.start + shift + 1, count))
        shift += count - (span.end - span.start)
    return found


def marks(
    sides: Sides,
    changes: Sequence[FileChange],
    place: int,
    left_out: Collection[int],
) -> Sequence[tuple[int, int]]:
    """Return the lines of a text where hunks are left out, and the numbers of these hunks."""
    own = [it for it in parts_of(changes) if it.change == place]
    gone = {it.place for it in own if it.number in left_out}
    places = lines_of_parts(sides.before, changes[place], gone)
    return [(places[it.place][0], it.number) for it in own if it.place in gone]


def part_at(places: Sequence[tuple[int, int]], line: int) -> int | None:
    """Return the part at a line (1-based); one without lines is beside its place."""
    for number, (first, count) in enumerate(places):
        if first <= line < first + count or (not count and line in (first - 1, first)):
            return number
    return None


# --- words ----------------------------------------------------------------------------------------


def stands(chosen: HunkChoice) -> str:
    """Return what of the changes is allowed, in words."""
    count = len(parts_of(chosen.changes))
    taken = f"{count - len(chosen.left_out)} of {count} hunks" if chosen.left_out else ""
    is_edited = chosen.changes != chosen.asked
    return ", ".join(filter(None, ["as edited" if is_edited else "", taken]))


def taken_back(chosen: HunkChoice) -> str | None:
    """Return what the tool writes all the same, and what we do about it; None: we write it."""
    # An agent that reads a file through the editor also writes it so.
    if all(it.by_us or it.base is not Base.DISK for it in chosen.asked):
        return None
    count = len(parts_of(chosen.changes))
    if chosen.changes != chosen.asked:
        return "the tool writes its proposal, and what stands here replaces it at once"
    numbers = [*map(str, sorted(chosen.left_out))]
    listed = " and ".join(filter(None, [", ".join(numbers[:-1]), numbers[-1]]))
    all_of_it = f"all {count}" if count > 2 else "both"
    which = f"hunks {listed} are" if len(numbers) > 1 else f"hunk {listed} is"
    return f"{all_of_it} are written, {which} taken back at once"


def told(writes: Sequence[PartialWrite], name: Callable[[str], str]) -> str:
    """Return a message for the agent about changes allowed in part; `name`: that of a path."""
    diffs: list[str] = []
    for write in writes:
        path = literal_name(name(write.path))
        diffs.append(f"--- {path} as you have written it")
        missing = " (there is no such file)" if write.allowed is None else ""
        diffs.append(f"+++ {path} as it is now{missing}")
        diffs += hunks_between(write.proposed or "", write.allowed or "")[0].split("\n")
    if len(diffs) > MOST_TOLD:
        rest = len(diffs) - MOST_TOLD
        diffs = [*diffs[:MOST_TOLD], f"… {rest} more lines: read the files"]
    text = "\n".join(diffs)
    fence = "~" * (1 + max(map(len, _TILDES.findall(text)), default=2))
    return f"{ONLY_IN_PART}\n{fence}diff\n{text}\n{fence}"
