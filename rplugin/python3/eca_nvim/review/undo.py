"""Undo: plans what an undo of one turn, or of several, does to files, does it, and says both.

Rules kept here:
- A row has both texts, for a file that stays and for one that is restored. The user can then choose
  in the view, which asks the host no second time.
- Only what was planned is done. The plan names each file that somebody else has changed since: the
  user decides about it.
- A file that has changed since the plan was shown stays, whatever the user has decided.
- An undo can be undone: it swaps before and after in the records of the turns.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePath

from msgspec import Struct
from msgspec.structs import replace

from eca_nvim.chat.text.safe_text import literal_name, one_line
from eca_nvim.chat.vocabulary.ops import Segment
from eca_nvim.review.change_list import Present, Table, snapshot_text
from eca_nvim.review.ledger import Ledger
from eca_nvim.review.restoring import Outcome, Restoring, fault_of, is_behind_link
from eca_nvim.review.snapshots import LINKED, Snapshot
from eca_nvim.review.text_changes import counts
from eca_nvim.review.turn_changes import FileRecord, TurnChanges

NOTHING = "nothing to undo"
ODD_NAME = "not read because of its name"
NO_FILE = "no file to restore"
_COUNTS = 8
"""Screen cells of the counts of lines."""

_PUT_BACK: Mapping[object, str] = {
    "restore": "restored",
    "create": "created again",
    "delete": "deleted",
    "link": "a link again",
}


def plan_table(
    numbers: Sequence[int],
    prompt: str,
    plan: UndoPlan,
    unkept: Sequence[str] = (),
    *,
    messages: bool = False,
    by_agent: bool = True,
) -> Table:
    """Build the answer to the intent `plan_undo`.

    numbers: the turns, the newest first. prompt: that of the oldest turn. unkept: the prompts of
    turns whose files were not kept. messages: the messages are undone, too. by_agent: the agent can
    restore the files of those turns.
    """
    act = "redo" if plan.again else "undo"
    key = "redo" if plan.again else "undo, messages too" if messages else "undo"
    rows = [*map(_file_row, plan.files), *(_prompt_row(it, by_agent=by_agent) for it in unkept)]
    return {
        "turns": numbers,
        "again": plan.again,
        "title": f"{act} {_named(numbers)}: {one_line(prompt)}",
        "verb": key,
        "rows": rows,
        "why": NO_FILE,
    }


def no_plan(why: str | None) -> Table:
    """Build the answer to the intent `plan_undo` if nothing to undo."""
    return {"rows": [], "why": why or NOTHING}


def done_line(numbers: Sequence[int], count: int, *, again: bool) -> str | None:
    """Return the message after an undo of so many files; None if there is no file."""
    files = "1 file" if count == 1 else f"{count} files"
    return f"{_named(numbers)} {'redone' if again else 'undone'} in {files}" if count else None


def _named(numbers: Sequence[int]) -> str:
    """Return the name of some turns, the newest first."""
    if not numbers:
        return "turns of earlier sessions"
    newest, oldest = numbers[0], numbers[-1]
    return f"turn {oldest}" if oldest == newest else f"turns {oldest} to {newest}"


def _file_row(file: Table) -> Table:
    kept, taken = _fates(file)
    about = {"path": file["path"], "seen": file["seen"]}
    return {**about, "kept": kept, "taken": taken}


def _fates(file: Table) -> tuple[Sequence[Segment] | None, Sequence[Segment] | None]:
    """Return the text for a file that stays, and for one that is restored; None if it cannot be."""
    if file["fault"] is not None:
        return [("  ", ""), (f"cannot be restored: {file['fault']}", "EcaError")], None
    counts, what = _counts(file), _PUT_BACK[file["what"]]
    if file["command"] is not None:
        what = f"{what}, {file['command']} by a command"
    conflict = file["conflict"]
    if conflict is None:
        return None, [*counts, (what, "EcaMuted")]
    kept = (f"{conflict}, kept as it is", "EcaToolWaiting")
    return [*counts, kept], [*counts, (f"{conflict}, {what}", "EcaMuted")]


def _counts(file: Table) -> Sequence[Segment]:
    added, removed = f"+{file['added']}", f"-{file['removed']}"
    pad = " " * (_COUNTS - len(added) - len(removed))
    counts = [(added, "EcaDiffAdd"), (" ", ""), (removed, "EcaDiffDelete")]
    return [("  ", ""), *counts, (f"{pad}  ", "")]


def _prompt_row(prompt: str, *, by_agent: bool) -> Table:
    kept = ("  no checkpoint, its files stay", "EcaToolWaiting")
    taken = ("  restored by the server, over what was saved since", "EcaError")
    choice = {"kept": [kept], "taken": [taken]} if by_agent else {"kept": [kept]}
    return {"name": f"▌ {one_line(prompt)}", **choice}


class UndoPlan(Struct, frozen=True):
    """What undoing turns does; `again`: all of it was undone before, so this does it again.

    A table of `files`: path, what (restore, create, delete, link), added and removed (lines that
    differ from the file as it is), conflict (why the user must decide), fault (why it cannot be
    done), command (made, changed or deleted by a command; None if a tool named the file), seen
    (identifies its present state).
    """

    files: list[Table]
    again: bool = False


def plan_undo(
    turns: Sequence[TurnChanges], present: Mapping[str, Present], only: Sequence[str] | None = None
) -> UndoPlan:
    """Plan the undo of turns in all files, or in `only` some and those they were moved from.

    turns: the newest first; of several turns, changes that were undone already do not count.
    """
    files = merged(turns)
    named = files.keys() if only is None else files.keys() & set(only)
    meant = {*named, *(files[path].origin for path in named)}
    changed = [
        path
        for path, it in files.items()
        if path in meant
        and (present[path].unsaved is not None or not present[path].disk.same_as(it.before))
    ]
    left = [path for path in changed if not files[path].undone]
    again = bool(changed) and not left
    planned = [_planned(files, path, present[path]) for path in left or changed]
    if only is None and not again:
        planned += [_odd(path) for path in sorted({it for turn in turns for it in turn.odd_names})]
    return UndoPlan(planned, again)


def moved_on(turn: TurnChanges, later: Iterable[TurnChanges]) -> str | None:
    """Return why a turn has nothing to undo if a later one has moved its files."""
    for other in later:
        for record in other.files.values():
            if record.origin in turn.files and not record.undone:
                name = literal_name(PurePath(record.origin or "").name)
                return f"turn {other.number} has moved {name}: undo that turn first"
    return None


def merged(turns: Sequence[TurnChanges]) -> Mapping[str, FileRecord]:
    """Merge turns, the newest first, into the changes of one turn."""
    chains = {path: _chain(turns, path) for turn in turns for path in turn.files}
    return {path: _merge([it for _, it in chain]) for path, chain in chains.items() if chain}


def _chain(turns: Sequence[TurnChanges], path: str) -> Sequence[tuple[TurnChanges, FileRecord]]:
    """Return the turns that changed a file, and its records, the newest first."""
    chain = [(turn, turn.files[path]) for turn in turns if path in turn.files]
    return chain if len(turns) == 1 else [it for it in chain if not it[1].undone]


def _merge(chain: Sequence[FileRecord]) -> FileRecord:
    whole = chain[0]
    for older in chain[1:]:
        fits = older.after.same_as(whole.before)
        whole = FileRecord(
            older.before,
            whole.after,
            changed_by_others=older.changed_by_others or whole.changed_by_others or not fits,
            origin=whole.origin or older.origin,
            by_command=older.by_command and whole.by_command,
        )
    return whole


def _planned(files: Mapping[str, FileRecord], path: str, present: Present) -> Table:
    record = files[path]
    added, removed = counts(present.text, snapshot_text(record.before))
    missing = "create" if present.disk.is_absent else "restore"
    missing = "link" if record.before.is_link else missing
    return {
        "path": path,
        "what": "delete" if record.before.is_absent else missing,
        "added": added,
        "removed": removed,
        "conflict": None if is_behind_link(files, path) else _conflict(record, present),
        "fault": fault_of(files, path),
        "command": _by_command(record),
        "seen": present.fingerprint,
    }


def _odd(path: str) -> Table:
    """Return the entry of a file that a command changed and whose name is not looked at."""
    about = {"path": literal_name(path), "what": "restore", "fault": ODD_NAME, "seen": ""}
    return {**about, "added": 0, "removed": 0, "conflict": None, "command": None}


def _by_command(record: FileRecord) -> str | None:
    if not record.by_command or record.undone:
        return None
    if record.before.is_absent:
        return "made"
    return "deleted" if record.after.is_absent else "changed"


def _conflict(record: FileRecord, present: Present) -> str | None:
    if present.unsaved is not None:
        return "unsaved changes"
    if record.after.fault is not None:
        return record.after.fault  # whether it was changed since is unknown
    if present.disk.is_elsewhere(record.after):
        return LINKED
    has_room = record.after.is_absent and Path(present.disk.place).is_dir()
    if not has_room and not present.disk.same_as(record.after):
        return "changed since"
    return "changed by others, too" if record.changed_by_others else None


def undo(
    turns: Sequence[TurnChanges],
    asked: Mapping[str, Snapshot],
    ledger: Ledger,
    changed: Collection[str] = (),
) -> Iterator[Outcome]:
    """Restore files of turns, the newest first; each step restores one file.

    asked: the files as they were when the undo was requested. Those that have `changed` since the
    plan stay.
    """
    restoring = Restoring(merged(turns), ledger.present)
    for path in sorted(asked.keys() & restoring.files.keys(), key=restoring.place_in_order):
        outcome = restoring.restore(path, None if path in changed else asked[path])
        if outcome.fault is None:
            _swap_records(turns, path, outcome.replaced)
        yield outcome
    for path in restoring.files.keys() - asked.keys():
        record = restoring.files[path]
        if record.before.same_as(record.after):  # these turns made it and deleted it again
            now = ledger.present(path)
            if now.same_as(record.before):
                _swap_records(turns, path, now)


def _swap_records(turns: Sequence[TurnChanges], path: str, now: Snapshot) -> None:
    for turn, record in _chain(turns, path):
        before, now = now, record.before
        about = {"changed_by_others": False, "undone": not record.undone}
        turn.files[path] = replace(record, before=before, after=now, **about)
        turn.seen[path] = turn.files[path]
        turn.unsure.pop(path, None)
