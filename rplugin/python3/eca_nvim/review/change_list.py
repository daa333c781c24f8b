"""Change list: what tools changed in files, as entries of a list.

Rules kept here:
- A file that was created, deleted or moved is one change, and so is one without lines to compare.
- Lists are plain tables; line numbers in them are 1-based.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from msgspec import Struct

from eca_nvim.chat.model.chat import Chat
from eca_nvim.chat.render.panel_rows import used_file_rows
from eca_nvim.chat.text.safe_text import one_line
from eca_nvim.review.snapshots import Snapshot
from eca_nvim.review.text_changes import (
    Change,
    changes,
    counts,
    is_latin1,
    lines_of,
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
        disk = self.disk
        parts = (disk.digest, disk.place, disk.fault, self.unsaved, disk.is_link)
        return hashlib.sha256(repr(parts).encode(errors="surrogateescape")).hexdigest()


def snapshot_text(snapshot: Snapshot) -> str | None:
    """Return the text of a snapshot, None if there is none or it can no longer be read."""
    content = None if snapshot.is_link else snapshot.content
    return None if content is None else text_of(content)


def texts_around(turn: TurnChanges, path: str) -> tuple[str, str] | None:
    """Return the text of a file before and after a turn, None if there are no two to compare."""
    record = turn.files[path]
    before = snapshot_text(turn.files.get(record.origin or "", record).before)
    after = snapshot_text(record.after)
    return None if before is None or after is None else (before, after)


def is_latin1_file(record: FileRecord) -> bool:
    """Return whether the editor decoded a file as Latin-1 before a turn."""
    return record.before.blob is not None and is_latin1(record.before.blob.read())


def keyed_changes(number: int, path: str, before: str, after: str) -> Iterator[tuple[Change, str]]:
    """Yield the changed lines of a file in a turn, with their keys.

    A key depends on the original change, not on its present place.
    """
    alike = Counter[Alike]()
    for change in changes(lines_of(before), lines_of(after)):
        same = (change.removed, change.added)
        yield change, _key(number, path, alike[same], "lines", *map(_bare, same))
        alike[same] += 1


def _key(
    number: int,
    path: str,
    above: int,
    kind: str,
    before: list[str] | None = None,
    after: list[str] | None = None,
) -> str:
    """Return the id of a change; `above`: the number of equal changes above it in its file."""
    parts = (number, path, above, kind, before, after)
    digest = hashlib.sha256(repr(parts).encode(errors="surrogateescape")).hexdigest()
    return f"{number} {digest[:16]}"


def keys_by_turn(keys: Sequence[str]) -> Mapping[int, set[str]]:
    """Return the keys of changes by the numbers of their turns."""
    found: dict[int, set[str]] = {}
    for key in keys:
        found.setdefault(int(key.partition(" ")[0]), set()).add(key)
    return found


def whole_entries(turn: TurnChanges, path: str, present: Present) -> Iterator[Table]:
    """Yield the change of a file as a whole, if its lines are not all of it; as `unreviewed`."""
    record = turn.files[path]
    if record.after.is_absent and any(it.origin == path for it in turn.files.values()):
        return  # listed under the path it was moved to
    origin = turn.files.get(record.origin or "")
    found = _of_file(record, present) if origin is None else _of_move(path, origin, record, present)
    if found is not None:
        about = {"turn": turn.number, "prompt": turn.prompt, "path": path}
        yield {**about, **found, "key": _key(turn.number, path, 0, str(found["kind"]))}


def _of_file(record: FileRecord, present: Present) -> Table | None:
    disk = present.disk
    if record.undone or (present.unsaved is None and disk.same_as(record.before)):
        return None
    before, after = snapshot_text(record.before), snapshot_text(record.after)
    if record.after.is_absent:
        is_gone = disk.is_absent or disk.fault is not None  # a folder may be there
        deleted = _whole("deleted", 0, _count(before), _with_fault("deleted", record))
        return deleted if is_gone else None
    if record.before.is_absent:
        new = "new link" if record.after.is_link else "new file"
        return None if disk.is_absent else _whole("new", _count(after), 0, new)
    if before is None or after is None or present.text is None:
        return _whole("other", 0, 0, f"changed, {_why(record, before)}")
    return None


def _of_move(path: str, origin: FileRecord, record: FileRecord, present: Present) -> Table | None:
    if record.undone or present.disk.is_absent:
        return None
    moved = one_line(f"moved from {_short(record.origin or '', path)}")
    return {**_whole("moved", 0, 0, _with_fault(moved, origin)), "origin": record.origin}


def _short(origin: str, path: str) -> str:
    """Return the name of a file that was in the same folder, else its whole path."""
    folder, _, name = origin.rpartition("/")
    return name if folder == path.rpartition("/")[0] else origin


def _with_fault(what: str, record: FileRecord) -> str:
    """Append the reason why the earlier content is unknown, if it is."""
    return what if record.before.fault is None else f"{what}, {record.before.fault}"


def _why(record: FileRecord, before: str | None) -> str:
    if fault := record.before.fault or record.after.fault:
        return fault
    if record.is_link:
        return "it was a link" if record.before.is_link else "it is a link now"
    return "binary" if before is None else "it has no lines now"


def _whole(kind: str, added: int, removed: int, text: str) -> Table:
    return {"kind": kind, "line": 1, "added": added, "removed": removed, "text": text}


def _count(text: str | None) -> int:
    return 0 if text is None else len(lines_of(text))


def lines_entry(change: Change, now: Sequence[str]) -> Table:
    """Return changed lines that are in the text now, as in `unreviewed.unreviewed`."""
    start, end = change.start, change.end
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
    }


def _bare(lines: Sequence[str]) -> list[str]:
    return [line.removesuffix("\n") for line in lines]


def _ends(lines: Sequence[str]) -> bool:
    return not lines or lines[-1].endswith("\n")


def _shown(lines: Sequence[str]) -> str:
    return next((text for line in lines if (text := one_line(line[:SHOWN]))), "")
