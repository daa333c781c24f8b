"""Change list: all changes by the tools of a chat, by turn, with their places in the files now.

Rules kept here:
- A change that somebody reverted is not listed. One whose lines were changed again is listed, but
  can be neither kept nor reverted.
- A file that was created, deleted or moved is one change, and so is one without lines to compare.
- Lists are plain tables; line numbers in them are 1-based.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from msgspec import Struct

from eca_nvim.chat.model.chat import Chat
from eca_nvim.chat.render.panel_rows import used_file_rows
from eca_nvim.chat.text.safe_text import one_line
from eca_nvim.chat.text.text_differences import spans
from eca_nvim.review.snapshots import Snapshot
from eca_nvim.review.text_changes import (
    Change,
    changes,
    counts,
    is_latin1,
    lines_of,
    locate,
    text_of,
)
from eca_nvim.review.turn_changes import FileRecord, TurnChanges


def list_used_files(chat: Chat, turns: Sequence[TurnChanges]) -> Table:
    """Return head and rows; the lines that commands changed are counted from the files."""
    lines: dict[str, tuple[int, int]] = {}
    for turn in turns:
        for path, record in turn.files.items():
            if record.by_command and not record.undone:
                added, removed = _line_counts(record)
                known = lines.get(path, (0, 0))
                lines[path] = (known[0] + added, known[1] + removed)
    return used_file_rows(chat, lines)


def changed_lines(turns: Sequence[TurnChanges]) -> tuple[int, int]:
    """Return how many lines turns have added and removed, without what was undone."""
    records = [it for turn in turns for it in turn.files.values() if not it.undone]
    found = [_line_counts(it) for it in records]
    return sum(added for added, _ in found), sum(removed for _, removed in found)


def _line_counts(record: FileRecord) -> tuple[int, int]:
    return counts(snapshot_text(record.before), snapshot_text(record.after))


CONTEXT = 3
SHOWN = 200
"""Characters of a line that a list shows."""

Table: TypeAlias = dict[str, object]
Alike: TypeAlias = tuple[tuple[str, ...], tuple[str, ...]]
"""The lines that a change removed and added."""
Counted: TypeAlias = tuple[int, Table]
"""A change, preceded by the number of equal changes above it in its file."""


class Present(Struct, frozen=True):
    """A file as it is now: on disk, and its text in the editor if that is not saved (else None)."""

    disk: Snapshot
    unsaved: str | None = None

    @property
    def text(self) -> str | None:
        """The text, None if there is none."""
        return self.unsaved if self.unsaved is not None else snapshot_text(self.disk)

    @property
    def fingerprint(self) -> str:
        """A hash that shows later whether the file has changed."""
        digest = None if self.disk.blob is None else self.disk.blob.digest
        parts = (digest, self.disk.place, self.disk.fault, self.unsaved)
        return hashlib.sha256(repr(parts).encode(errors="surrogateescape")).hexdigest()


def snapshot_text(snapshot: Snapshot) -> str | None:
    """Return the text of a snapshot, None if there is none or it can no longer be read."""
    content = snapshot.content
    return None if content is None else text_of(content)


def entries(turn: TurnChanges, path: str, present: Present) -> Iterator[Table]:
    """Yield the changes of a turn in one of its files.

    An entry: key, turn, prompt, path, kind (lines, new, deleted, moved, other), line (1-based),
    added and removed (counts), text (a line to show). With kind `moved` also: origin (the path it
    had). With kind `lines`: count (of lines it has now), before (lines), after (lines), above and
    below (lines around it), before_ends and after_ends (false: without the last line feed), lost
    (its lines were changed again), latin1 (the file was before).
    """
    record = turn.files[path]
    if record.after.is_absent and any(it.origin == path for it in turn.files.values()):
        return  # listed under the path it was moved to
    origin = turn.files.get(record.origin or "")
    found = _of_file(record, present) if origin is None else _of_move(path, origin, record, present)
    about = {"turn": turn.number, "prompt": turn.prompt, "path": path}
    for above, entry in found:
        yield {**about, **entry, "key": _key(turn, path, above, entry)}


def _key(turn: TurnChanges, path: str, above: int, entry: Table) -> str:
    """Return the id of a change: it depends on the original change, not on its present place."""
    parts = (turn.number, path, above, entry["kind"], entry.get("before"), entry.get("after"))
    return hashlib.sha256(repr(parts).encode(errors="surrogateescape")).hexdigest()[:16]


def _of_file(record: FileRecord, present: Present) -> Iterator[Counted]:
    disk = present.disk
    if record.undone or (present.unsaved is None and disk.same_as(record.before)):
        return
    before, after = snapshot_text(record.before), snapshot_text(record.after)
    if record.after.is_absent:
        if disk.is_absent or disk.fault is not None:  # a folder may be there
            yield 0, _whole("deleted", 0, _count(before), _with_fault("deleted", record))
    elif record.before.is_absent:
        if not disk.is_absent:
            yield 0, _whole("new", _count(after), 0, "new file")
    elif before is None or after is None or present.text is None:
        yield 0, _whole("other", 0, 0, f"changed, {_why(record, before)}")
    else:
        was_latin1 = record.before.blob is not None and is_latin1(record.before.blob.read())
        for above, entry in _of_text(before, after, present.text):
            yield above, {**entry, "latin1": was_latin1}


def _of_move(
    path: str, origin: FileRecord, record: FileRecord, present: Present
) -> Iterator[Counted]:
    """Yield the move of a file, and the changes in its text."""
    if record.undone or present.disk.is_absent:
        return
    moved = one_line(f"moved from {_short(record.origin or '', path)}")
    yield 0, {**_whole("moved", 0, 0, _with_fault(moved, origin)), "origin": record.origin}
    before, after = snapshot_text(origin.before), snapshot_text(record.after)
    if before is not None and after is not None and present.text is not None:
        yield from _of_text(before, after, present.text)


def _short(origin: str, path: str) -> str:
    """Return the name of a file that was in the same folder, else its whole path."""
    folder, _, name = origin.rpartition("/")
    return name if folder == path.rpartition("/")[0] else origin


def _with_fault(what: str, record: FileRecord) -> str:
    """Append the reason why the earlier content is unknown, if it is."""
    return what if record.before.fault is None else f"{what}, {record.before.fault}"


def _why(record: FileRecord, before: str | None) -> str:
    fault = record.before.fault or record.after.fault
    return fault or ("binary" if before is None else "it has no lines now")


def _whole(kind: str, added: int, removed: int, text: str) -> Table:
    return {"kind": kind, "line": 1, "added": added, "removed": removed, "text": text}


def _count(text: str | None) -> int:
    return 0 if text is None else len(lines_of(text))


def _of_text(before: str, after: str, now: str) -> Iterator[Counted]:
    old, new, present = lines_of(before), lines_of(after), lines_of(now)
    later, alike = spans(new, present), Counter[Alike]()
    for change in changes(old, new):
        place, same = locate(change, later, present), (change.removed, change.added)
        if place is not None:
            yield alike[same], _lines(change, place.start, present, is_lost=place.is_lost)
        alike[same] += 1


def _lines(change: Change, start: int, now: Sequence[str], *, is_lost: bool) -> Table:
    end = start if is_lost else start + len(change.added)
    shown = change.added or change.removed
    return {
        "kind": "lines",
        "line": start + 1,
        "count": end - start,
        "added": len(change.added),
        "removed": len(change.removed),
        "text": _shown(shown),
        "before": _bare(change.removed),
        "after": _bare(change.added),
        "above": _bare(now[max(0, start - CONTEXT) : start]),
        "below": _bare(now[end : end + CONTEXT]),
        "before_ends": _ends(change.removed),
        "after_ends": _ends(change.added),
        "lost": is_lost,
    }


def _bare(lines: Sequence[str]) -> list[str]:
    return [line.removesuffix("\n") for line in lines]


def _ends(lines: Sequence[str]) -> bool:
    return not lines or lines[-1].endswith("\n")


def _shown(lines: Sequence[str]) -> str:
    return next((text for line in lines if (text := one_line(line[:SHOWN]))), "")
