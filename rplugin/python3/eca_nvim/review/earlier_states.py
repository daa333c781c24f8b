"""Earlier states: the files before each call of a turn, and what the turn changed.

An agent reports a call and runs it at once. When we observe a file because of a call, that call and
some after it may have run already:

- The state after the last call was observed. From there each call is undone in thought, the last
  one first: a move is reversed, the state before a change is computed from its diff.
- An observation before a call is trusted only if it does not match any later state.
- A state that follows neither from an observation nor from a call is `UNSEEN`, never guessed.

Two writes, W1 and W2, with a change by the user in between:

    content     a ── W1 ── b ── user ── c ── W2 ── d
    observed    a          b            c          d

    after W2    d, observed
    before W2   c, observed; without that, d with the diff of W2 reversed
    after W1    b was observed. It is not c, nor a later state (d): somebody else changed it.
    before W1   a, observed; without that, b with the diff of W1 reversed

If the end of W1 is reported so late that we observe d then: d is a later state, so it says nothing
about W1. The state after W1 is then assumed to be c.

Rules kept here:
- A turn stores each file's state before its first change and after its last. A change in between
  that no call made is marked: it was the user's, or another program's.
- Records are computed again whenever a call is added, because a later call can explain an earlier
  state, until the turn is settled.
"""

from collections.abc import Mapping, Sequence
from enum import Enum, auto
from typing import TypeAlias

from msgspec import Struct, field
from msgspec.structs import replace

from eca_nvim.chat.model.calls import changed_paths, moved
from eca_nvim.chat.vocabulary.call_details import ToolCall
from eca_nvim.review.before_change import ReportedChange, reported_changes
from eca_nvim.review.snapshots import MakeSnapshot, Snapshot

Files: TypeAlias = Mapping[str, Snapshot]
"""Files as they were at one moment, by path."""

UNSEEN = Snapshot(fault="its original text is unknown")


class CallOutcome(Enum):
    """How a call ended, if it has."""

    OPEN = auto()
    DONE = auto()
    FAILED = auto()
    STOPPED = auto()


class Observation(Struct, frozen=True):
    """Files at one moment, and how many calls of the turn had ended by then."""

    files: Files = field(default_factory=dict)
    ended_calls: int = 0


class TrackedCall(Struct, eq=False):
    """A call that changes files, with the files as they were observed.

    early: observed while the model was writing the call. before: observed when the request was
    complete, or at the approval. before_is_certain: the call had surely not run by then. after:
    observed at its end. is_watched: it may change any file; surveys find which.
    """

    call: ToolCall
    early: Observation
    before: Observation
    before_is_certain: bool
    after: dict[str, Snapshot] = field(default_factory=dict)
    outcome: CallOutcome = CallOutcome.OPEN
    is_watched: bool = False


class TracedFile(Struct, frozen=True):
    """A file before some calls and after them; `changed_by_others`: in between."""

    before: Snapshot
    after: Snapshot
    changed_by_others: bool


def trace(calls: Sequence[TrackedCall], make_snapshot: MakeSnapshot) -> Mapping[str, TracedFile]:
    """Return the files that calls changed, by path; calls in the order in which they ended."""
    tracer = _Tracer(calls, make_snapshot)
    for number in reversed(range(len(calls))):
        tracer.step_back(number)
    last = {path: seen for tracked in calls for path, seen in tracked.after.items()}
    return {
        path: TracedFile(tracer.state[path], seen, path in tracer.changed_by_others)
        for path, seen in last.items()
    }


def origins(calls: Sequence[TrackedCall]) -> Mapping[str, str]:
    """Return the path that each moved file had before all moves, by its last path."""
    found: dict[str, str] = {}
    for tracked in calls:
        paths = moved(tracked.call) if tracked.outcome is not CallOutcome.FAILED else None
        if paths is not None:
            source, destination = paths
            found[destination] = found.pop(source, source)
    return {path: origin for path, origin in found.items() if path != origin}


class _LaterState(Struct, frozen=True):
    """A file after a call."""

    snapshot: Snapshot
    tracked: TrackedCall
    change: ReportedChange | None

    def may_be(self, seen: Snapshot) -> bool:
        """Return whether an observation may be of this state."""
        if self.snapshot != UNSEEN:
            return _same(seen, self.snapshot)
        is_done = self.tracked.outcome is CallOutcome.DONE
        if self.change is None or not is_done or seen.fault is not None:
            return True
        return self.change.may_follow(seen.content)


class _Tracer:
    """Steps from the end of some calls back to their beginning.

    state: the files between two calls. _later_states: a file's states after the calls stepped over
    so far, the last call's first. _match_from: the first index there that an observation may match;
    the states before it are newer than anything observed at the calls still to come.
    """

    def __init__(self, calls: Sequence[TrackedCall], make_snapshot: MakeSnapshot) -> None:
        self._calls = calls
        self._make_snapshot = make_snapshot
        self._later_states: dict[str, list[_LaterState]] = {}
        self._match_from: dict[str, int] = {}
        self.state: dict[str, Snapshot] = {}
        self.changed_by_others: set[str] = set()

    def step_back(self, number: int) -> None:
        """Step back over one more call."""
        tracked = self._calls[number]
        reported = reported_changes(tracked.call)
        for path, seen in tracked.after.items():
            self._compare_after(number, path, seen)
            later = _LaterState(self.state[path], tracked, reported.get(path))
            self._later_states.setdefault(path, []).append(later)
        self.state |= {path: self._before(number, path) for path in tracked.after}

    def _compare_after(self, number: int, path: str, seen: Snapshot) -> None:
        """Compare the state after a call with what was observed at its end."""
        known = self.state.setdefault(path, seen)
        for index, later in enumerate(self._later_states.get(path, ())):
            # This later call had surely not run when the present one ended: no match with it.
            if later.tracked.before_is_certain and later.tracked.before.ended_calls > number:
                self._match_from[path] = max(self._match_from[path], index + 1)
        match = self._match(path, seen)
        states = self._later_states.get(path, ())
        self._match_from[path] = len(states) if match is None else match
        if match is not None or _same(known, seen):
            return
        if known != UNSEEN:
            self.changed_by_others.add(path)
        self.state[path] = seen

    def _match(self, path: str, seen: Snapshot) -> int | None:
        """Return the index of the newest later state that an observation may be of, or None."""
        states, first = self._later_states.get(path, ()), self._match_from.get(path, 0)
        indexes = range(first, len(states))
        return next((index for index in indexes if states[index].may_be(seen)), None)

    def _before(self, number: int, path: str) -> Snapshot:
        """Return a file before a call, from its latest observation, the call or the earliest."""
        tracked = self._calls[number]
        before, early = (self._observed(number, path, it) for it in (tracked.before, tracked.early))
        is_certain = tracked.before_is_certain
        if before is not None and (is_certain or self._may_precede(path, before)):
            return before
        computed = self._computed(tracked, path)
        if early is not None and computed == UNSEEN and self._may_precede(path, early):
            return early
        # An observation with the computed content has the permissions and the path, too.
        observed = (it for it in (before, early) if it is not None and _same(it, computed))
        return next(observed, computed)

    def _observed(self, number: int, path: str, observation: Observation) -> Snapshot | None:
        """Return a file as observed, None if another call has ended in between that changed it."""
        between = self._calls[observation.ended_calls : number]
        if any(path in tracked.after for tracked in between):
            return None
        return observation.files.get(path)

    def _computed(self, tracked: TrackedCall, path: str) -> Snapshot:
        """Return a file before a call, computed from the state after it and the call itself."""
        state = self.state[path]
        if tracked.outcome is CallOutcome.FAILED:
            return state
        if (paths := moved(tracked.call)) is not None:
            return self._reverse_move(tracked, path, *paths)
        change = self._later_states[path][-1].change
        if change is not None and state.fault is None:
            return self._reverse_change(tracked, change, state)
        return UNSEEN if tracked.outcome is CallOutcome.DONE else state

    def _reverse_move(
        self, tracked: TrackedCall, path: str, source: str, destination: str
    ) -> Snapshot:
        """Reverse a move; no tool moves a file over another one."""
        left, arrived = self.state[source], self.state[destination]
        is_done = tracked.outcome is CallOutcome.DONE
        if not is_done and not (left.is_absent and not arrived.is_absent):
            return self.state[path]
        if path == destination:
            return Snapshot(place=tracked.after[path].place)
        if arrived.blob is None:
            return UNSEEN if arrived.is_absent else arrived
        return replace(arrived, place=tracked.after[path].place)

    def _reverse_change(
        self, tracked: TrackedCall, change: ReportedChange, state: Snapshot
    ) -> Snapshot:
        content, is_done = state.content, tracked.outcome is CallOutcome.DONE
        if not is_done and not change.may_follow(content):
            return state  # the call was stopped before it changed the file
        if not is_done and change.may_precede(content):
            return UNSEEN  # it may have run or not
        before = None if content is None else change.before(content)
        return UNSEEN if before is None else self._make_snapshot(before, state.mode, state.place)

    def _may_precede(self, path: str, seen: Snapshot) -> bool:
        """Return whether an observation may be of the state before the call stepped over last."""
        change = self._later_states[path][-1].change
        fits = change is None or seen.fault is not None or change.may_precede(seen.content)
        return fits and self._match(path, seen) is None


def _same(one: Snapshot, other: Snapshot) -> bool:
    return one.same_as(other) or (one.fault is not None and one.fault == other.fault)


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
