"""Restoring: files become what they were, for an undo of turns and for the way to a checkpoint.

Rules kept here:
- A file is restored in one step, over however many turns. A failure leaves it unchanged, or the
  outcome says that it is damaged and where the copy is.
- A file that is no more as the user was shown it stays.
- A moved file is not deleted if it could not go back to its old place.
- Deleted files come last, but for those that are where a folder or a file was: they make room. A
  folder gives way if it was not there, or if only such files were in it. Nor for those with another
  name (a hard link): what is written there would be in them, too, and nothing is lost with a name.
- Of many files several are written at once: each waits for the disk, which then stores them in one
  step. No file of a plan is moved then, so none waits for another one.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import groupby, islice
from pathlib import Path, PurePath

from msgspec import Struct

from eca_nvim.disk.replacing import FileDamaged, remove_empty_folders
from eca_nvim.review.snapshots import LINKED, LOST, Snapshot, restore_file, still_leads_there
from eca_nvim.review.turn_changes import FileRecord
from eca_nvim.threads import run_at_once

CHANGED = "changed since it was shown: ask again"
ONLY_PLACE = "it was moved here, and could not be moved back"
_AT_ONCE, _PART = 8, 500
"""Files that are written at once; and those whose contents are read together."""


class Outcome(Struct, frozen=True):
    """The result for a file: with a `fault` it is unchanged, with a `copy` too it is damaged.

    replaced: what it was until now. copy: path of a file with that content.
    """

    path: str
    replaced: Snapshot
    fault: str | None = None
    copy: str | None = None

    @property
    def told(self) -> str | None:
        """The fault in a line, with the place of the copy."""
        return self.fault if self.copy is None else f"{self.fault}: its old content is {self.copy}"


class Restoring:
    """Restores files one by one; `files`: each as it shall be (`before`), and as it is (`after`).

    look: returns a file as it is now.
    """

    def __init__(self, files: Mapping[str, FileRecord], look: Callable[[str], Snapshot]) -> None:
        self.files = files
        self.look = look
        self._order = {path: place for place, path in enumerate(files)}
        self._in_the_way = frozenset(_in_the_way(files))
        self._left_folders = {str(it) for path in self._in_the_way for it in PurePath(path).parents}
        self._failed: dict[str, str] = {}
        self._unplaced: set[str | None] = set()

    def place_in_order(self, path: str) -> tuple[bool, bool, int]:
        """Return the sort key of a file."""
        is_deleted = self.files[path].before.is_absent
        return path not in self._in_the_way, is_deleted, self._order[path]

    def restore_all(self, prepare: Callable[[Sequence[str]], object]) -> Iterator[Outcome]:
        """Restore all files that are still as they were shown; blocks.

        prepare: called with each part of them before.
        """
        ordered = sorted(self.files, key=self.place_in_order)
        for (_, is_deleted), paths in groupby(ordered, lambda it: self.place_in_order(it)[:2]):
            while part := [*islice(paths, _PART)]:
                prepare(part)
                threads = 1 if is_deleted else _AT_ONCE
                yield from run_at_once(
                    lambda it: self.restore(it, self.files[it].after), part, threads
                )

    def restore(self, path: str, asked: Snapshot | None) -> Outcome:
        """Restore a file unless it differs from `asked`; None: it is known to differ."""
        before = self.files[path].before
        is_ours = path in self._left_folders or (asked is not None and asked.is_absent)
        if before.blob is not None and is_ours:
            _make_room(Path(before.place))
        now = self.look(path)
        outcome = Outcome(path, now, self._objection(path, now, asked))
        if outcome.fault is None and not now.same_as(before):
            outcome = _restored(path, now, before)
        if outcome.fault is not None:
            self._failed[path] = outcome.fault
            self._unplaced |= {before.digest} - {None}
        return outcome

    def _objection(self, path: str, now: Snapshot, asked: Snapshot | None) -> str | None:
        """Return why a file stays unchanged."""
        if asked is None:
            return CHANGED
        before = self.files[path].before
        was_other = asked.fault is not None or asked.is_elsewhere(before)
        has_room = was_other and now.is_absent  # what was there has gone back
        if not has_room and (now.fault is not None or not now.same_as(asked)):
            return asked.fault or now.fault or CHANGED
        for origin in origins(self.files, self.files[path]):
            if origin in self._failed:
                return self._failed[origin]
        if before.is_absent and now.digest in self._unplaced:
            return ONLY_PLACE
        return fault_of(self.files, path)


def origins(files: Mapping[str, FileRecord], record: FileRecord) -> Iterator[str]:
    """Yield the path a file was moved from, then where that one was moved from, and so on."""
    passed: set[str] = set()
    while (origin := record.origin) is not None and origin in files and origin not in passed:
        passed.add(origin)
        yield origin
        record = files[origin]


def fault_of(files: Mapping[str, FileRecord], path: str) -> str | None:
    """Return why a file cannot be restored; a moved one stays if it cannot go back."""
    before = files[path].before
    sources = [files[origin].before.fault for origin in origins(files, files[path])]
    lost = LOST if before.is_lost else None
    fault = next((it for it in (before.fault, lost, *sources) if it is not None), None)
    is_there = still_leads_there(path, before) or is_behind_link(files, path)
    return fault or (None if is_there else LINKED)


def is_behind_link(files: Mapping[str, FileRecord], path: str) -> bool:
    """Return whether a link that goes is where a folder above a file was."""
    above = (files.get(str(it)) for it in PurePath(path).parents)
    return any(it is not None and it.after.is_link and it.before.is_absent for it in above)


def _in_the_way(files: Mapping[str, FileRecord]) -> Iterator[str]:
    """Yield files to delete that are where a folder was, or in a folder that was a file.

    And those that have another name.
    """
    back = {path for path, it in files.items() if not it.before.is_absent}
    folders = {str(above) for path in back for above in PurePath(path).parents}
    for path in files.keys() - back:
        is_above = path in folders or any(str(it) in back for it in PurePath(path).parents)
        if is_above or _has_other_name(path):
            yield path


def _has_other_name(path: str) -> bool:
    with suppress(OSError, ValueError):
        return os.lstat(path).st_nlink > 1
    return False


def _make_room(place: Path) -> None:
    """Remove a folder in which there are no files."""
    if place.is_dir() and not place.is_symlink():
        with suppress(OSError):  # the file is not restored then, and that is said
            remove_empty_folders(str(place))


def _restored(path: str, now: Snapshot, before: Snapshot) -> Outcome:
    try:
        restore_file(path, before)
    except FileDamaged as damaged:
        return Outcome(path, now, damaged.strerror or str(damaged), damaged.copy)
    except OSError as fault:
        return Outcome(path, now, fault.strerror or str(fault))
    return Outcome(path, now)
