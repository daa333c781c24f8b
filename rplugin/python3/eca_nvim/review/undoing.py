"""Undoing: the files of a turn put back as they were before it.

Rules kept here:
- Nothing is done that was not planned first, and a plan tells every file that somebody else has
  changed since: what becomes of it, the user says.
- What is put back can be put forth again: the record of the turn is turned round.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from eca_nvim.review.changes import changes, lines_of
from eca_nvim.review.ledger import FileRecord, Ledger, TurnRecord
from eca_nvim.review.listing import Present, Table, snapshot_text
from eca_nvim.review.snapshots import Snapshot, put_back


def turn_to_undo(turns: Sequence[TurnRecord], number: int | None) -> TurnRecord | None:
    """Find a turn by its number, else the last one that is not undone."""
    for turn in reversed(turns):
        not_undone = any(not record.undone for record in turn.files.values())
        if turn.number == number or (number is None and not_undone):
            return turn
    return None


def is_undone(turn: TurnRecord) -> bool:
    """Say whether all of a turn was undone, so that undoing it would do it again."""
    return all(record.undone for record in turn.files.values())


def plan(turn: TurnRecord, present: Mapping[str, Present], only: str | None) -> list[Table]:
    """Tell what undoing a turn does to each file, or to one of them.

    A table: path, what (restore, create, delete), added and removed (lines, as the file sees it),
    conflict (why it needs the user's word), fault (why it cannot be done).
    """
    again = is_undone(turn)
    meant = turn.files.keys() if only is None else {only, turn.files[only].origin}
    return [
        _planned(path, record, present[path])
        for path, record in turn.files.items()
        if path in meant and record.undone is again and _differs(record, present[path])
    ]


def _differs(record: FileRecord, present: Present) -> bool:
    return present.edited is not None or not present.disk.same_as(record.before)


def _planned(path: str, record: FileRecord, present: Present) -> Table:
    added, removed = _counts(present.text, snapshot_text(record.before))
    return {
        "path": path,
        "what": _what(record, present.disk),
        "added": added,
        "removed": removed,
        "conflict": _conflict(record, present),
        "fault": record.before.fault,
    }


def _what(record: FileRecord, disk: Snapshot) -> str:
    if record.before.is_absent:
        return "delete"
    return "create" if disk.is_absent else "restore"


def _conflict(record: FileRecord, present: Present) -> str | None:
    if present.edited is not None:
        return "unsaved changes"
    if not present.disk.same_as(record.after):
        return "changed since"
    return "changed by others, too" if record.mixed else None


def _counts(now: str | None, before: str | None) -> tuple[int, int]:
    found = changes(lines_of(now or ""), lines_of(before or ""))
    return sum(len(it.added) for it in found), sum(len(it.removed) for it in found)


def undo(turn: TurnRecord, paths: Sequence[str], ledger: Ledger) -> Mapping[str, str | None]:
    """Put files of a turn back; gives why it did not work, or None, by path."""
    return {path: _undo(turn, path, ledger) for path in paths if path in turn.files}


def _undo(turn: TurnRecord, path: str, ledger: Ledger) -> str | None:
    record = turn.files[path]
    now = ledger.snapshot(path, record.after)
    if now.fault is not None:
        return now.fault
    try:
        put_back(path, record.before)
    except OSError as fault:
        return fault.strerror or str(fault)
    record.before, record.after = now, record.before
    record.mixed, record.undone = False, not record.undone
    return None
