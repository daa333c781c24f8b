"""Watch: what calls did to files without saying which, as a shell command does.

Rules kept here:
- What changed between two surveys of the workspace is laid to the calls that were at work before
  the later one began; to one that began meanwhile only what was changed meanwhile, too, and of
  that nobody knows what it was before.
- What somebody else is known to have changed is never laid to them: a file that the user wrote, or
  that another call named.
- Without such calls nothing is kept but the last survey.
"""

from __future__ import annotations

import os.path
from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

from msgspec import Struct, field
from msgspec.structs import replace

from eca_nvim.review.records import TurnRecord
from eca_nvim.review.snapshots import Snapshot
from eca_nvim.review.steps import UNSEEN, Look, Step
from eca_nvim.review.survey import Difference, Kept, Survey, keep

Store: TypeAlias = Callable[[bytes, int], Snapshot]
"""Makes a snapshot of some content and permissions."""


class _Watched(Struct, eq=False):
    """A call that may change any file; `before` and `after` are what its step has seen."""

    step: Step
    turn: TurnRecord
    before: dict[str, Snapshot] = field(default_factory=dict)
    after: dict[str, Snapshot] = field(default_factory=dict)
    has_ended: bool = False


class Watch:
    """The calls at work that may change any file, and the workspace when it was last surveyed."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._calls: list[_Watched] = []
        self._surveyed: tuple[_Watched, ...] = ()
        self._ended: tuple[_Watched, ...] = ()
        self._others: dict[str, Kept | None] = {}
        self._others_before: dict[str, Kept | None] = {}
        self._has_begun = False
        self.needs_survey = False
        self.last: Survey | None = None

    @property
    def waits(self) -> bool:
        """Say whether a call has ended of which it is not known yet what it did."""
        return any(call.has_ended for call in self._calls)

    # --- who changes files ----------------------------------------------------------------------

    def started(self, step: Step, turn: TurnRecord) -> None:
        """Take that a call may be at work from now on."""
        if any(call.step is step for call in self._calls):
            return
        call = _Watched(step, turn)
        step.before, step.after = Look(call.before, len(turn.steps)), call.after
        self._calls.append(call)

    def ended(self, step: Step) -> None:
        """Take that a call is at work no more."""
        for call in self._calls:
            if call.step is step:
                call.has_ended = self.needs_survey = True

    def others(self, paths: Iterable[str]) -> None:
        """Take that files were changed just now, and not by a call that is watched."""
        if self._has_begun:
            self._others |= {os.path.realpath(path): keep(path) for path in paths}

    # --- surveys --------------------------------------------------------------------------------

    def begin(self) -> None:
        """Take that a survey begins: it is of what the calls now at work have done by now."""
        self._has_begun, self.needs_survey = True, False
        self._others_before |= self._others
        self._others = {}
        self._surveyed = tuple(self._calls)
        self._ended = tuple(call for call in self._calls if call.has_ended)

    def take(self, new: Survey, found: Iterable[Difference]) -> Iterator[None]:
        """Take a survey and what it found; stops at each file, for others to have their turn."""
        is_first, self.last = self.last is None, new
        others = self._others_before | self._others
        self._others_before = {}
        for difference in found:
            own = _without_others(difference, others)
            if own is not None and self._calls:
                self._lay(own, is_first=is_first)
                yield
        self._forget_ended()

    def failed(self, why: str) -> None:
        """Take that there is no survey: of the calls at work it is not known what they did."""
        self.last, self._others_before = None, {}
        for call in self._calls:
            call.turn.unknown = why
        self._forget_ended()

    def _forget_ended(self) -> None:
        self._calls = [call for call in self._calls if call not in self._ended]

    def _lay(self, difference: Difference, *, is_first: bool) -> None:
        """Lay a difference to the calls that may have made it."""
        for call in self._calls:
            is_seen = call in self._surveyed and not is_first
            if is_seen or difference.is_late:
                self._note(call, difference, is_seen=is_seen)

    def _note(self, call: _Watched, difference: Difference, *, is_seen: bool) -> None:
        path = difference.path
        if path not in call.before:
            missing = difference.folders
            call.before[path] = self._snapshot(difference.before, missing) if is_seen else UNSEEN
        call.after[path] = self._snapshot(difference.after)
        if call.has_ended and call.step not in call.turn.steps:  # it was settled without this
            call.turn.steps.append(call.step)

    def _snapshot(self, kept: Kept | None, missing: tuple[str, ...] = ()) -> Snapshot:
        if kept is None:
            return Snapshot(missing=missing)
        if kept.fault is not None:
            return Snapshot(fault=kept.fault)
        return self._store(kept.content, kept.sight.mode)


def _without_others(difference: Difference, others: dict[str, Kept | None]) -> Difference | None:
    """Give what is left of a difference when what others did is known."""
    path = os.path.realpath(difference.path) if others else ""
    if path not in others:
        return difference
    left, after = others[path], difference.after
    if left is None or after is None:
        return None if left is after else replace(difference, before=left)
    return None if left.same_as(after) else replace(difference, before=left)
