"""Turn changes: what the calls of a turn did to files, joined to one change of each file.

A step is a call, with the files before and after it. A file's change in a turn goes from what it
was before the first step to what it was after the last:

    content     a ── W1 ── b ── user ── c ── W2 ── d
    steps       a      to  b            c    to    d     a to d, changed by others, too

Rules kept here:
- A change in between that no step made is marked: it was the user's, or another program's. Steps at
  the same time have one past: there is nothing in between.
- An agent may run a call at once and tell of it later. Of such a call is uncertain what the files
  were before: anything that was seen of a file in this turn may be, and a tree from before the turn
  tells more (`uncertain`).
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from eca_nvim.review.before_change import ReportedChange
from eca_nvim.review.snapshots import Blob, Snapshot

UNSEEN = Snapshot(fault="its original text is unknown")


class Step(Struct, eq=False):
    """What one call did to files, by path.

    began, ended: ns since 1970; ended: 0 while it runs. early: files as they were while the model
    wrote the call. is_certain: it had surely not run when `before` was seen. by_command: no call
    has named the files. doubted: files that others may have changed meanwhile. reported: those that
    it says it has changed. moved: the file that it moves, and where to.
    """

    began: int
    before: dict[str, Snapshot] = field(default_factory=dict)
    after: dict[str, Snapshot] = field(default_factory=dict)
    ended: int = 0
    early: Mapping[str, Snapshot] = field(default_factory=dict)
    is_certain: bool = False
    by_command: bool = False
    doubted: frozenset[str] = frozenset()
    reported: Mapping[str, ReportedChange] = {}
    moved: tuple[str, str] | None = None

    def seen(self, path: str) -> Iterator[Snapshot]:
        """Yield a file as it was at the moments of the step."""
        states = (self.early, self.before, self.after)
        yield from (it[path] for it in states if path in it)


class FileRecord(Struct, frozen=True, eq=False, array_like=True):
    """A file in a turn, before its first change and after its last.

    changed_by_others: somebody else changed it in between. origin: the path it was moved from.
    undone: the turn was undone in this file; `before` and `after` are swapped then. by_command: no
    call named the file, the trees before and after a command differ. Saved turns have the fields in
    this order.
    """

    before: Snapshot
    after: Snapshot
    changed_by_others: bool = False
    origin: str | None = None
    undone: bool = False
    by_command: bool = False

    @property
    def is_change(self) -> bool:
        """Whether the file has surely not stayed what it was."""
        return not self.before.same_as(self.after)

    @property
    def is_link(self) -> bool:
        """Whether it was or is a link of its own, rather than what a link leads to."""
        return self.before.is_link or self.after.is_link


class TurnChanges(Struct, eq=False):
    """The files that a turn changed, by path; `prompt` is the user's prompt, shortened to a line.

    steps: its calls that have ended, until their records are settled. unknown: why the changes of
    its commands are unknown, if they are. odd_names: files that commands changed and whose names
    cannot be shown. began: ns since 1970. saved: where it is saved. kept: the keys of the changes
    that the user has kept (`change_list.keyed_changes`). is_open: the user has begun to review it,
    and some are neither kept nor reverted.
    """

    chat: str
    number: int
    prompt: str
    files: dict[str, FileRecord] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)
    settled: dict[str, FileRecord] = field(default_factory=dict)
    unknown: str | None = None
    odd_names: set[str] = field(default_factory=set)
    began: int = 0
    saved: str | None = None
    kept: set[str] = field(default_factory=set)
    is_open: bool = False

    def compute_files(self, open_steps: Iterable[Step] = ()) -> None:
        """Compute `files` from the steps that have ended and those that are still open."""
        steps = sorted([*self.steps, *open_steps], key=lambda it: it.began)
        files, ends = dict(self.settled), dict[str, int]()
        for step in steps:
            for path in step.after:
                files[path] = _joined(files.get(path), step, path, ends.get(path, 0), steps)
                ends[path] = max(ends.get(path, 0), step.ended)
        named = {path for step in steps if not step.by_command for path in step.after}
        for path in named & files.keys():
            files[path] = replace(files[path], by_command=False)
        for path, origin in _origins(steps).items():
            if path in files:
                files[path] = replace(files[path], origin=files[path].origin or origin)
        self.files = {
            path: it for path, it in files.items() if path in self.settled or it.is_change
        }

    def settle(self) -> None:
        """Keep the records as they are now and drop the calls they were computed from."""
        self.settled = self.files
        self.steps.clear()

    def reverse_late(self, paths: Collection[str], keep: Callable[[bytes], Blob]) -> None:
        """Compute what files were before calls that had run when they were seen.

        From what the calls say of their changes, the last one first; unknown if that is not clear.
        """
        later: dict[str, Snapshot] = {}
        for step in sorted(self.steps, key=lambda it: -it.began):
            seen = {path: later.get(path, it) for path, it in step.after.items()}
            late = {it for it in seen if step.before[it].same_as(step.after[it])} & {*paths}
            if not step.is_certain:
                step.before |= {it: _reversed(step, it, seen, keep) for it in late}
                step.after |= {it: seen[it] for it in late}
            later |= {it: step.before[it] for it in step.after}

    @property
    def uncertain(self) -> Sequence[tuple[str, Step]]:
        """The files whose first step may have run before they were seen, with that step."""
        first: dict[str, Step] = {}
        for step in sorted(self.steps, key=lambda it: it.began):
            first |= {path: step for path in step.after if path not in first}
        return [(path, it) for path, it in first.items() if not it.is_certain]


def _reversed(
    step: Step, path: str, after: Mapping[str, Snapshot], keep: Callable[[bytes], Blob]
) -> Snapshot:
    """Return a file before a call that has run, from the files after it."""
    seen = after[path]
    if step.moved is not None and path == step.moved[1]:
        return Snapshot(place=seen.place)
    if step.moved is not None and path == step.moved[0]:
        return replace(after[step.moved[1]], place=seen.place)
    if path not in step.reported:
        return seen
    before = None if seen.content is None else step.reported[path].before(seen.content)
    try:
        return UNSEEN if before is None else Snapshot(keep(before), seen.mode, seen.place)
    except OSError:
        return UNSEEN


def _joined(
    known: FileRecord | None, step: Step, path: str, ended: int, steps: Sequence[Step]
) -> FileRecord:
    """Return the change of a file so far with that of one more step; `steps`: all of the turn."""
    before, after, doubted = step.before[path], step.after[path], path in step.doubted
    if known is None or known.undone:  # a change after an undo starts a new record
        return FileRecord(before, after, doubted, by_command=step.by_command)
    fits = step.began < ended or before.same_as(known.after) or before.same_as(known.before)
    if not fits and not step.is_certain:
        others = (it for it in steps if it is not step)
        fits = any(before.same_as(seen) for it in others for seen in it.seen(path))
    last = known.after if 0 < step.ended < ended else after
    by_others = known.changed_by_others or doubted or not fits
    return replace(known, after=last, changed_by_others=by_others)


def _origins(steps: Sequence[Step]) -> Mapping[str, str]:
    """Return the path that each moved file had before all moves, by its last path."""
    found: dict[str, str] = {}
    for step in steps:
        if step.moved is not None:
            source, destination = step.moved
            found[destination] = found.pop(source, source)
    return {path: origin for path, origin in found.items() if path != origin}
