"""Turn changes: what a turn changed, file by file.

Rules kept here:
- A turn has a file's state before its first change and after its last. What happened in between
  without a call is noted: it was the user.
- Records are worked out anew from the turn's steps, for a later step can explain what was seen at
  an earlier one; until they are settled.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from eca_nvim.chat.model.call_files import changed_paths
from eca_nvim.review.earlier_states import Traced, origins, trace
from eca_nvim.review.snapshots import MakeSnapshot, Snapshot
from eca_nvim.review.tracked_calls import Step


class FileRecord(Struct, eq=False):
    """A file in a turn: before its first change and after its last.

    mixed: somebody else changed it in between. origin: where it was moved from. undone: the turn
    was taken back in this file; then `before` and `after` are the other way round. unnamed: no
    call has said that it changes it.
    """

    before: Snapshot
    after: Snapshot
    mixed: bool = False
    origin: str | None = None
    undone: bool = False
    unnamed: bool = False


class TurnChanges(Struct, eq=False):
    """What a turn changed, by path; `prompt` is what the user said, in a line.

    steps: its calls that have ended, in that order, unless their records are settled. unknown: why
    it is not known what its commands did, if they may have changed something. odd: files that these
    changed, and that nobody looks at for their names.
    """

    chat: str
    number: int
    prompt: str
    files: dict[str, FileRecord] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)
    settled: dict[str, FileRecord] = field(default_factory=dict)
    unknown: str | None = None
    odd: set[str] = field(default_factory=set)

    def work_out(self, open_steps: Sequence[Step], make_snapshot: MakeSnapshot) -> None:
        """Work out the files from the steps, those that have not ended included."""
        self.files = dict(self.settled)
        steps = [*self.steps, *open_steps]
        came_from = origins(steps)
        named = {path for step in steps for path in changed_paths(step.call)}
        for path, traced in trace(steps, make_snapshot).items():
            if not traced.before.same_as(traced.after):
                record = self._record(path, traced, came_from.get(path))
                self.files[path] = replace(record, unnamed=record.unnamed and path not in named)

    def _record(self, path: str, traced: Traced, origin: str | None) -> FileRecord:
        known = self.settled.get(path)
        if known is None or known.undone:  # what comes after an undo is a change of its own
            return FileRecord(traced.before, traced.after, traced.mixed, origin, unnamed=True)
        fits = traced.before.same_as(known.after) or traced.before.same_as(known.before)
        mixed = known.mixed or traced.mixed or not fits
        return replace(known, after=traced.after, mixed=mixed, origin=origin or known.origin)

    def settle(self) -> None:
        """Keep the records as they are now, without the steps that led to them."""
        self.settled = self.files
        self.steps.clear()
