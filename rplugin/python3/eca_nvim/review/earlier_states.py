"""Earlier states: the files before the calls of a turn, from what these left.

An agent tells that a call runs and runs it at once: whatever a file is when we hear of a call, the
call, and some after it, may have been made already. Rules kept here:
- The state after the last call was seen. From there each call is taken back, the last one first: a
  move is turned round, a change is worked out from its diff.
- What was seen of a file before a call counts when it is none of the states that followed.
- A state that neither tells is unseen. It is never guessed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from eca_nvim.chat.model.call_files import moved
from eca_nvim.review.before_change import ToldChange, told_change
from eca_nvim.review.snapshots import MakeSnapshot, Snapshot
from eca_nvim.review.tracked_calls import UNSEEN, Fate, Observation, Step


class Traced(Struct, frozen=True):
    """A file before some steps and after them; `mixed`: somebody else changed it in between."""

    before: Snapshot
    after: Snapshot
    mixed: bool


def trace(steps: Sequence[Step], make_snapshot: MakeSnapshot) -> Mapping[str, Traced]:
    """Trace the files that steps changed, by path; steps in the order in which they ended."""
    tracer = _Tracer(steps, make_snapshot)
    for number in reversed(range(len(steps))):
        tracer.take_back(number)
    last = {path: seen for step in steps for path, seen in step.after.items()}
    return {
        path: Traced(tracer.now[path], seen, path in tracer.mixed) for path, seen in last.items()
    }


def origins(steps: Sequence[Step]) -> Mapping[str, str]:
    """Tell where files were moved from in the end, by path."""
    found: dict[str, str] = {}
    for step in steps:
        ends = moved(step.call) if step.fate is not Fate.FAILED else None
        if ends is not None:
            source, destination = ends
            found[destination] = found.pop(source, source)
    return {path: origin for path, origin in found.items() if path != origin}


class _State(Struct, frozen=True):
    """A file after a step."""

    snapshot: Snapshot
    step: Step
    change: ToldChange | None

    def may_be(self, seen: Snapshot) -> bool:
        """Say whether what was seen may have been this."""
        if self.snapshot != UNSEEN:
            return _same(seen, self.snapshot)
        if self.change is None or self.step.fate is not Fate.DONE or seen.fault is not None:
            return True
        return self.change.may_follow(seen.content)


class _Tracer:
    """Goes from the end of some steps to their beginning.

    now: the files between two steps. later: the states of a file after the steps that were taken
    back, the last one first; those before `first` came after all that was seen so far.
    """

    def __init__(self, steps: Sequence[Step], make_snapshot: MakeSnapshot) -> None:
        self._steps = steps
        self._make_snapshot = make_snapshot
        self._later: dict[str, list[_State]] = {}
        self._first: dict[str, int] = {}
        self.now: dict[str, Snapshot] = {}
        self.mixed: set[str] = set()

    def take_back(self, number: int) -> None:
        """Go back over one more step."""
        step = self._steps[number]
        told = told_change(step.call)
        for path, seen in step.after.items():
            change = told if told is not None and told.path == path else None
            self._arrive(number, path, seen)
            state = _State(self.now[path], step, change)
            self._later.setdefault(path, []).append(state)
        self.now |= {path: self._before(number, path) for path in step.after}

    def _arrive(self, number: int, path: str, seen: Snapshot) -> None:
        """Hold the state after a step against what was seen then."""
        known = self.now.setdefault(path, seen)
        for index, state in enumerate(self._later.get(path, ())):
            if state.step.certain and state.step.before.ended > number:  # it came after that look
                self._first[path] = max(self._first[path], index + 1)
        place = self._place(path, seen)
        self._first[path] = len(self._later.get(path, ())) if place is None else place
        if place is not None or _same(known, seen):
            return
        if known != UNSEEN:
            self.mixed.add(path)
        self.now[path] = seen

    def _place(self, path: str, seen: Snapshot) -> int | None:
        """Find the last of a file's later states that may be what was seen; None for none."""
        states, first = self._later.get(path, ()), self._first.get(path, 0)
        places = range(first, len(states))
        return next((place for place in places if states[place].may_be(seen)), None)

    def _before(self, number: int, path: str) -> Snapshot:
        """Choose what a file was before a step: as it was seen last, as told, as seen first."""
        step = self._steps[number]
        seen, early = (self._seen(number, path, look) for look in (step.before, step.early))
        if seen is not None and (step.certain or self._precedes(path, seen)):
            return seen
        told = self._told(step, path)
        if early is not None and told == UNSEEN and self._precedes(path, early):
            return early
        return next((it for it in (seen, early) if it is not None and _same(it, told)), told)

    def _seen(self, number: int, path: str, look: Observation) -> Snapshot | None:
        """Give how a file was seen since the step before; None when it was not."""
        between = self._steps[look.ended : number]
        if any(path in step.after for step in between):
            return None
        return look.seen.get(path)

    def _told(self, step: Step, path: str) -> Snapshot:
        """Give what a file was before a step, as that tells by itself."""
        now = self.now[path]
        if step.fate is Fate.FAILED:
            return now
        if (ends := moved(step.call)) is not None:
            return self._moved_back(step, path, *ends)
        change = self._later[path][-1].change
        if change is not None and now.fault is None:
            return self._changed_back(step, change, now)
        return UNSEEN if step.fate is Fate.DONE else now

    def _moved_back(self, step: Step, path: str, source: str, destination: str) -> Snapshot:
        """Turn a move round; none ever goes where a file is."""
        left, arrived = self.now[source], self.now[destination]
        if step.fate is not Fate.DONE and not (left.is_absent and not arrived.is_absent):
            return self.now[path]
        if path == destination:
            return Snapshot(place=step.after[path].place)
        if arrived.blob is None:
            return UNSEEN if arrived.is_absent else arrived
        return replace(arrived, place=step.after[path].place)

    def _changed_back(self, step: Step, change: ToldChange, now: Snapshot) -> Snapshot:
        content = now.content
        if step.fate is not Fate.DONE and not change.may_follow(content):
            return now
        if step.fate is not Fate.DONE and change.may_precede(content):
            return UNSEEN
        before = None if content is None else change.before(content)
        return UNSEEN if before is None else self._make_snapshot(before, now.mode, now.place)

    def _precedes(self, path: str, seen: Snapshot) -> bool:
        """Say whether what was seen of a file is its state before the step taken back last."""
        change = self._later[path][-1].change
        fits = change is None or seen.fault is not None or change.may_precede(seen.content)
        return fits and self._place(path, seen) is None


def _same(one: Snapshot, other: Snapshot) -> bool:
    return one.same_as(other) or (one.fault is not None and one.fault == other.fault)
