"""Attribution: what calls did to files without saying which, as a shell command does.

Rules kept here:
- A change between two surveys of the workspace is attributed to each turn with a call at work when
  the later survey began. A call that began during that survey gets only what changed after its
  begin; the content before that is unknown, unless the call surely began after the earlier survey.
- What changed before a call began, or what somebody else is known to have changed, is never
  attributed to it.
- What a survey finds of a turn is a step of its own, after all that was known of the turn by then.
"""

from __future__ import annotations

import os.path
import time
from collections.abc import Iterable, Iterator, Sequence, Set
from itertools import takewhile
from typing import TypeAlias

from msgspec import Struct

from eca_nvim.chat.model.call_files import is_safe_path
from eca_nvim.chat.vocabulary.call_details import ToolCall
from eca_nvim.chat.vocabulary.review_intents import FileWritten
from eca_nvim.review.changed_by_others import Others
from eca_nvim.review.snapshots import MakeSnapshot, Snapshot
from eca_nvim.review.survey import Survey, SurveyedFile, above, keep
from eca_nvim.review.survey_differences import Difference
from eca_nvim.review.tracked_calls import UNSEEN, Fate, Observation, Step
from eca_nvim.review.turn_changes import TurnChanges

TOLD_LATE = 1_000_000_000
"""Nanoseconds by which it may be told late, at most, that a call runs."""


class _Watched(Struct, eq=False):
    """A call that may change any file, since when (ns since 1970), and whether it has ended."""

    step: Step
    turn: TurnChanges
    since: int
    has_ended: bool = False


class _Suspect(Struct, frozen=True, eq=False):
    """A call that may have made a difference; `knows_before`: it is known what was there before."""

    call: _Watched
    knows_before: bool


class _Finding(Struct, eq=False):
    """What is found of a turn at once: a step of its own, with files before and after it."""

    step: Step
    before: dict[str, Snapshot]
    after: dict[str, Snapshot]


_Findings: TypeAlias = dict[TurnChanges, _Finding]


class Attribution:
    """The calls at work that may change any file, and the workspace when it was last surveyed."""

    def __init__(self, make_snapshot: MakeSnapshot) -> None:
        self._make_snapshot = make_snapshot
        self._calls: dict[Step, _Watched] = {}
        self._surveyed: frozenset[_Watched] = frozenset()
        self._ended: tuple[_Watched, ...] = ()
        self._others = Others()
        self._has_begun = False
        self._being_written: set[str] = set()
        self._held: dict[str, list[tuple[Difference, Sequence[_Suspect]]]] = {}
        self.needs_survey = False
        self.last: Survey | None = None

    @property
    def waits(self) -> bool:
        """Say whether a call has ended of which it is not known yet what it did."""
        return any(call.has_ended for call in self._calls.values())

    # --- who changes files ----------------------------------------------------------------------

    def started(self, step: Step, turn: TurnChanges) -> None:
        """Take that a call may be at work from now on."""
        if step not in self._calls:
            self._calls[step] = _Watched(step, turn, time.time_ns())

    def ended(self, step: Step) -> None:
        """Take that a call is at work no more."""
        call = self._calls.get(step)
        if call is not None:
            call.has_ended = self.needs_survey = True

    def others(self, paths: Iterable[str]) -> None:
        """Take that files were changed just now, and not by a call that is watched."""
        if self._has_begun:
            self._others.changed(paths)

    def written(self, by_user: FileWritten) -> None:
        """Take that the user writes a file; what is found of it meanwhile waits for the end."""
        path = os.path.realpath(by_user.path)
        if by_user.state == "begun":
            self._being_written.add(path)
            return
        held = self._held.pop(path, [])
        self._being_written.discard(path)
        if by_user.state == "written":
            self.others([path])
            return
        for difference, suspects in held:
            self._record(difference, suspects, {})

    def named(self, paths: Sequence[str]) -> None:
        """Take that a call is about to change files that it names: what they are by now is not its.

        To be called before that call has a step.
        """
        if self.last is None or not self._calls:
            return
        at_work = frozenset(self._calls.values())
        findings: _Findings = {}
        for path in paths:
            if (difference := _since(self.last, path)) is not None:
                self._attribute(difference, at_work, findings)
        self.others(paths)

    # --- surveys --------------------------------------------------------------------------------

    def begin(self) -> None:
        """Take that a survey begins: it is of what the calls now at work have done by now."""
        self._has_begun, self.needs_survey = True, False
        if self.last is not None:
            self.last = self._others.added_to(self.last)
        self._others.survey_begins()
        self._surveyed = frozenset(self._calls.values())
        self._ended = tuple(call for call in self._surveyed if call.has_ended)

    def take(self, new: Survey, found: Iterable[Difference]) -> Iterator[None]:
        """Take a survey and what it found; stops at each file, for others to have their turn."""
        self.last = new
        findings: _Findings = {}
        for difference in found:
            self._attribute(difference, self._surveyed, findings)
            yield
        self._others.survey_ends()
        self._forget_ended()

    def failed(self, why: str) -> None:
        """Take that there is no survey: of the calls at work it is not known what they did."""
        self.last = None
        self._others.survey_ends()
        for call in self._calls.values():
            call.turn.unknown = why
        self._forget_ended()

    def _forget_ended(self) -> None:
        for call in self._ended:
            self._calls.pop(call.step, None)

    # --- whose it is ----------------------------------------------------------------------------

    def _attribute(
        self, difference: Difference, at_work: Set[_Watched], findings: _Findings
    ) -> None:
        """Attribute a difference to turns; `at_work`: the calls that were when the survey began."""
        suspects, path = self._suspects(difference, at_work), os.path.realpath(difference.path)
        if path in self._being_written:  # whose it is shows when that is done
            self._held.setdefault(path, []).append((difference, suspects))
        elif (own := self._others.without(difference)) is not None:
            self._record(own, suspects, findings)

    def _record(
        self, difference: Difference, suspects: Iterable[_Suspect], findings: _Findings
    ) -> None:
        """Record a difference in the turn of each suspect."""
        for suspect in suspects:
            turn = suspect.call.turn
            if not is_safe_path(difference.path):
                turn.odd.add(difference.path)
                continue
            if turn not in findings or findings[turn].step not in turn.steps:
                # the first of the turn, or the turn was settled meanwhile
                findings[turn] = _begun(suspect.call)
            is_seen = suspect.knows_before and not difference.is_unknown
            self._note(findings[turn], difference, is_seen=is_seen)

    def _suspects(self, difference: Difference, at_work: Set[_Watched]) -> Sequence[_Suspect]:
        """Give the calls that may have made a difference, one for each turn.

        `*` is the change of a file:

                survey begins    file is read
            A ────────┼────── * ──────┼────   at work when the survey began
                      │  B ── * ──────┼────   began during the survey, before the change
                      │       *   C ──┼────   began after the change: no suspect

        For A the content before is the one of the last survey. For B it is known only if B surely
        began after that one, or its turn has another suspect that knows.
        """
        suspects: dict[TurnChanges, _Suspect] = {}
        for call in self._calls.values():
            was_there = call in at_work
            if difference.when >= call.since - TOLD_LATE and (was_there or difference.is_late):
                other = suspects.get(call.turn)
                knows = was_there or call.step.certain or (other is not None and other.knows_before)
                suspects[call.turn] = _Suspect(call, knows)
        return tuple(suspects.values())

    def _note(self, finding: _Finding, difference: Difference, *, is_seen: bool) -> None:
        path, missing = difference.path, len(difference.folders)
        place = os.path.realpath(path) if self.last is None else self.last.place(path)
        before = self._snapshot(difference.before, place, missing) if is_seen else UNSEEN
        finding.before[path] = before
        finding.after[path] = self._snapshot(difference.after, place)

    def _snapshot(self, kept: SurveyedFile | None, place: str, missing: int = 0) -> Snapshot:
        if kept is None:
            return Snapshot(place=place, missing=missing)
        if kept.fault is not None:
            return Snapshot(fault=kept.fault)
        return self._make_snapshot(kept.content, kept.sight.mode, place)


def _begun(call: _Watched) -> _Finding:
    """Begin to find what became of a turn's files."""
    before: dict[str, Snapshot] = {}
    after: dict[str, Snapshot] = {}
    bare = ToolCall(call.step.call.id)  # nothing in it says which files it changes
    look = Observation(before, len(call.turn.steps))
    step = Step(bare, Observation(), look, certain=True, after=after, fate=Fate.DONE)
    call.turn.steps.append(step)
    return _Finding(step, before, after)


def _since(last: Survey, path: str) -> Difference | None:
    """Tell what became of a file by now."""
    before, after = last.files.get(path), keep(path)
    if before is None and (after is None or not last.would_have(path)):
        return None
    if before is not None and after is not None and before.same_as(after):
        return None
    when = time.time_ns() if after is None else after.sight.changed
    is_new = before is None
    made = tuple(takewhile(lambda it: it not in last.folders, above(path))) if is_new else ()
    return Difference(path, before, after, when, folders=made)
