"""Undoing: the files of a turn put back as they were before it.

Rules kept here:
- Nothing is done that was not planned first, and a plan tells every file that somebody else has
  changed since: what becomes of it, the user says.
- A file that is not what the plan has shown any more stays, whatever the user has said of it.
- What is put back can be put forth again: the record of the turn is turned round.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from msgspec import Struct

from eca_nvim.review.changes import counts
from eca_nvim.review.ledger import Ledger
from eca_nvim.review.listing import Present, Table, snapshot_text
from eca_nvim.review.records import FileRecord, TurnRecord
from eca_nvim.review.snapshots import Snapshot, put_back

CHANGED = "changed since it was shown: ask again"


class Plan(Struct, frozen=True):
    """What undoing a turn does; `again`: all of it was undone, so that it is done again.

    A table of `files`: path, what (restore, create, delete), added and removed (lines, as the file
    sees it), conflict (why it needs the user's word), fault (why it cannot be done), command (what
    one did to it: made, changed, deleted; None when a tool named it), seen (names what it is now).
    """

    turn: TurnRecord
    files: list[Table]
    again: bool = False


def plan(
    turn: TurnRecord, present: Mapping[str, Present], only: Sequence[str] | None = None
) -> Plan:
    """Tell what undoing a turn does to each file, or to some and where these were moved from."""
    named = turn.files.keys() if only is None else turn.files.keys() & set(only)
    meant = {*named, *(turn.files[path].origin for path in named)}
    changed = [
        path
        for path, record in turn.files.items()
        if path in meant and _differs(record, present[path])
    ]
    left = [path for path in changed if not turn.files[path].undone]
    files = [_planned(turn, path, present[path]) for path in left or changed]
    return Plan(turn, files, again=not left)


def _differs(record: FileRecord, present: Present) -> bool:
    return present.edited is not None or not present.disk.same_as(record.before)


def _planned(turn: TurnRecord, path: str, present: Present) -> Table:
    record = turn.files[path]
    added, removed = counts(present.text, snapshot_text(record.before))
    return {
        "path": path,
        "what": _what(record, present.disk),
        "added": added,
        "removed": removed,
        "conflict": _conflict(record, present),
        "fault": _fault(turn, record),
        "command": _by_command(record),
        "seen": present.seal,
    }


def _by_command(record: FileRecord) -> str | None:
    if not record.unnamed or record.undone:
        return None
    if record.before.is_absent:
        return "made"
    return "deleted" if record.after.is_absent else "changed"


def _fault(turn: TurnRecord, record: FileRecord) -> str | None:
    """Say why a file cannot be put back: one that was moved stays when it cannot go back."""
    origin = turn.files.get(record.origin or "")
    return record.before.fault or (None if origin is None else origin.before.fault)


def _what(record: FileRecord, disk: Snapshot) -> str:
    if record.before.is_absent:
        return "delete"
    return "create" if disk.is_absent else "restore"


def _conflict(record: FileRecord, present: Present) -> str | None:
    if present.edited is not None:
        return "unsaved changes"
    if record.after.fault is not None:
        return record.after.fault  # nobody can say whether it was changed since
    if not present.disk.same_as(record.after):
        return "changed since"
    return "changed by others, too" if record.mixed else None


def undo(
    turn: TurnRecord, paths: Sequence[str], ledger: Ledger, changed: Collection[str] = ()
) -> Mapping[str, str | None]:
    """Put files of a turn back; gives why it did not work, or None, by path.

    Those that have `changed` since the plan stay. A file that was moved stays where it is when it
    could not go back.
    """
    turn.settle()
    faults: dict[str, str | None] = {}
    for path in paths:
        if path in turn.files:
            fault = CHANGED if path in changed else faults.get(turn.files[path].origin or "")
            faults[path] = fault or _undo(turn, path, ledger)
    return faults


def _link(path: str, record: FileRecord, ledger: Ledger) -> str | None:
    """Say when a link is in the way: what a survey found was behind none, nor may an undo be."""
    return "a link leads elsewhere now" if record.unnamed and ledger.watch.is_linked(path) else None


def _undo(turn: TurnRecord, path: str, ledger: Ledger) -> str | None:
    record = turn.files[path]
    now = ledger.snapshot(path, record.after)
    fault = now.fault or _fault(turn, record) or _link(path, record, ledger)
    if fault is not None:
        return fault
    try:
        put_back(path, record.before)
    except OSError as error:
        return error.strerror or str(error)
    record.before, record.after = now, record.before
    record.mixed, record.undone = False, not record.undone
    return None
