"""Turn changes: what a turn changed, file by file.

Rules kept here:
- A turn stores each file's state before its first change and after its last. A change in between
  that no call made is marked: it was the user's, or another program's.
- Records are computed again whenever a call is added, because a later call can explain an earlier
  state, until the turn is settled.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from eca_nvim.chat.model.call_files import changed_paths
from eca_nvim.review.earlier_states import TracedFile, origins, trace
from eca_nvim.review.snapshots import MakeSnapshot, Snapshot
from eca_nvim.review.tracked_calls import TrackedCall


class FileRecord(Struct, eq=False):
    """A file in a turn, before its first change and after its last.

    changed_by_others: somebody else changed it in between. origin: the path it was moved from.
    undone: the turn was undone in this file; `before` and `after` are swapped then. by_command: no
    call named the file, a survey found the change.
    """

    before: Snapshot
    after: Snapshot
    changed_by_others: bool = False
    origin: str | None = None
    undone: bool = False
    by_command: bool = False


class TurnChanges(Struct, eq=False):
    """The files that a turn changed, by path; `prompt` is the user's prompt, shortened to a line.

    calls: its calls that have ended, in that order, until their records are settled. unknown: why
    the changes of its commands are unknown, if they are. odd_names: files that commands changed and
    whose names cannot be shown.
    """

    chat: str
    number: int
    prompt: str
    files: dict[str, FileRecord] = field(default_factory=dict)
    calls: list[TrackedCall] = field(default_factory=list)
    settled: dict[str, FileRecord] = field(default_factory=dict)
    unknown: str | None = None
    odd_names: set[str] = field(default_factory=set)

    def compute_files(self, open_calls: Sequence[TrackedCall], make_snapshot: MakeSnapshot) -> None:
        """Compute `files` from the ended calls and those that are still open."""
        self.files = dict(self.settled)
        calls = [*self.calls, *open_calls]
        moved_from = origins(calls)
        named = {path for tracked in calls for path in changed_paths(tracked.call)}
        for path, traced in trace(calls, make_snapshot).items():
            if not traced.before.same_as(traced.after):
                record = self._record(path, traced, moved_from.get(path))
                by_command = record.by_command and path not in named
                self.files[path] = replace(record, by_command=by_command)

    def _record(self, path: str, traced: TracedFile, origin: str | None) -> FileRecord:
        known = self.settled.get(path)
        if known is None or known.undone:  # a change after an undo starts a new record
            return FileRecord(
                traced.before, traced.after, traced.changed_by_others, origin, by_command=True
            )
        fits = traced.before.same_as(known.after) or traced.before.same_as(known.before)
        by_others = known.changed_by_others or traced.changed_by_others or not fits
        return replace(
            known, after=traced.after, changed_by_others=by_others, origin=origin or known.origin
        )

    def settle(self) -> None:
        """Keep the records as they are now and drop the calls they were computed from."""
        self.settled = self.files
        self.calls.clear()
