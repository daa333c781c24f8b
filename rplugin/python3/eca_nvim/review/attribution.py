"""Attribution: which turn's calls changed files without naming them, as a shell command does.

Two surveys, S1 and S2, two changes of one file, `*` and `+`, and the calls of three turns:

    surveys   S1├────┤                    S2├────────────┤
    changes               *                    +    └─ S2 reads the file
    turn 1         A────────────────────────────────────    gets * and +; before: as S1 read it
    turn 2                    B─────────────────────────    gets +, as it began after *
    turn 3                                   C──────────    gets +; before: unknown, unless C
                                                            surely began after S1

Rules kept here:
- The content that the others left is kept: a later change of the same file by a call is compared
  with that, so that the call is not blamed for theirs.
- Paths are compared with links resolved.
- A change between two surveys is attributed to each turn with a call running when the later survey
  began. A call that began during that survey gets only changes made after its start; the content
  before is then unknown, unless the call surely began after the earlier survey.
- A change made before a call began, or known to be somebody else's, is never attributed to it.
- What a survey finds for a turn is recorded as a call of its own, after all calls of the turn that
  have ended by then.
"""

import os.path
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from itertools import takewhile
from pathlib import Path
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from eca_nvim.chat.model.calls import is_safe_path
from eca_nvim.chat.vocabulary.call_details import ToolCall
from eca_nvim.chat.vocabulary.query_intents import FileWritten
from eca_nvim.review.earlier_states import (
    UNSEEN,
    CallOutcome,
    Observation,
    TrackedCall,
    TurnChanges,
)
from eca_nvim.review.snapshots import MakeSnapshot, Snapshot
from eca_nvim.review.survey import Difference, Survey, SurveyedFile, above, survey_file


class ChangesByOthers:
    """The files that others have changed, as they left them, for the survey in progress or next.

        record      a         b
        survey         begins     ends

    The survey has surely seen `a`, and may have seen `b`. `a` is forgotten at its end, `b` is kept
    for the next one.
    """

    def __init__(self) -> None:
        self._changed: dict[str, SurveyedFile | None] = {}
        self._before_survey: Mapping[str, SurveyedFile | None] = {}

    def record(self, paths: Iterable[str]) -> None:
        """Record that files were changed just now."""
        self._changed |= {os.path.realpath(path): survey_file(path) for path in paths}

    def added_to(self, last: Survey) -> Survey:
        """Return the last survey with the recorded changes applied."""
        files = dict(last.files)
        for path, theirs in self._changed.items():
            if theirs is None:
                files.pop(path, None)
            elif last.covers(path) and not is_linked(path, last.folders):
                seen = files.get(path)
                if seen is None or seen.stat.changed < theirs.stat.changed:
                    files[path] = theirs
        return replace(last, files=files)

    def survey_begins(self) -> None:
        """Note that a survey begins: it sees what was recorded before."""
        self._before_survey = {**self._before_survey, **self._changed}
        self._changed = {}

    def survey_ends(self) -> None:
        """Forget what was recorded before the survey began."""
        self._before_survey = {}

    def without(self, difference: Difference) -> Difference | None:
        """Return the part of a difference that others did not make, None if nothing is left."""
        known = {**self._before_survey, **self._changed}
        path = os.path.realpath(difference.path) if known else ""
        if path not in known:
            return difference
        theirs, after = known[path], difference.after
        if theirs is None or after is None:
            return None if theirs is after else replace(difference, before=theirs)
        if after.stat.changed < theirs.stat.changed:
            return difference  # the survey saw the file before they changed it
        is_theirs = theirs.same_as(after)
        return None if is_theirs else replace(difference, before=theirs, is_unknown=False)


def is_linked(path: str, folders: frozenset[str]) -> bool:
    """Return whether a path leads through a link below the surveyed folders."""
    for part in (path, *above(path)):
        if part in folders:
            return False
        with suppress(OSError):  # a path that cannot be read leads nowhere
            if Path(part).is_symlink():
                return True
    return False


REPORT_DELAY = 1_000_000_000
"""Nanoseconds that a call may have run before the agent reports it, at most."""


class _WatchedCall(Struct, eq=False):
    """A call that may change any file; `since`: when it was reported to run (ns since 1970)."""

    tracked: TrackedCall
    turn: TurnChanges
    since: int
    has_ended: bool = False


class _Suspect(Struct, frozen=True, eq=False):
    """A call that may have made a difference; `knows_before`: the content before is known."""

    call: _WatchedCall
    knows_before: bool


class _Finding(Struct, eq=False):
    """What one survey finds for a turn: a call of its own with its files before and after."""

    tracked: TrackedCall
    before: dict[str, Snapshot]
    after: dict[str, Snapshot]


_Findings: TypeAlias = dict[TurnChanges, _Finding]
FoundChange: TypeAlias = Callable[[str, str], None]
"""Called with the id of a chat and a file that one of its calls has changed without naming it."""


class Attribution:
    """The watched calls, and the workspace as it was last surveyed."""

    def __init__(self, make_snapshot: MakeSnapshot, found: FoundChange = lambda *_: None) -> None:
        self._make_snapshot = make_snapshot
        self._found = found
        self._calls: dict[TrackedCall, _WatchedCall] = {}
        self._running: frozenset[_WatchedCall] = frozenset()  # when the survey began
        self._ended: tuple[_WatchedCall, ...] = ()  # those of them that had ended by then
        self._others = ChangesByOthers()
        self._has_surveyed = False
        self._being_written: set[str] = set()
        self._postponed: dict[str, list[tuple[Difference, Sequence[_Suspect]]]] = {}
        self.request_survey: Callable[[], object] = lambda: None
        """Called when the changes of an ended call are to be found; set by the surveyor."""
        self.last: Survey | None = None

    @property
    def awaits_survey(self) -> bool:
        """Whether a call has ended whose changes are not known yet."""
        return any(call.has_ended for call in self._calls.values())

    # --- who changes files ----------------------------------------------------------------------

    def call_started(self, tracked: TrackedCall, turn: TurnChanges) -> None:
        """Watch a call that may be running from now on."""
        if tracked not in self._calls:
            self._calls[tracked] = _WatchedCall(tracked, turn, time.time_ns())

    def call_ended(self, tracked: TrackedCall) -> None:
        """Note that a watched call has ended: a survey is needed."""
        call = self._calls.get(tracked)
        if call is not None:
            call.has_ended = True
            self.request_survey()

    def call_did_nothing(self, tracked: TrackedCall) -> None:
        """Stop watching a call that has not begun."""
        self._calls.pop(tracked, None)

    def changed_by_others(self, paths: Iterable[str]) -> None:
        """Note that files were changed just now, not by a watched call."""
        if self._has_surveyed:
            self._others.record(paths)

    def user_writes(self, event: FileWritten) -> None:
        """Note that the user begins or ends to write a file.

        A difference found meanwhile is postponed until the write has ended.
        """
        path = os.path.realpath(event.path)
        if event.state == "begun":
            self._being_written.add(path)
            return
        postponed = self._postponed.pop(path, [])
        self._being_written.discard(path)
        if event.state == "written":
            self.changed_by_others([path])
            return
        for difference, suspects in postponed:
            self._record(difference, suspects, {})

    def call_names(self, paths: Sequence[str]) -> None:
        """Attribute what watched calls did so far to files that another call is about to change.

        To be called before the other call is tracked.
        """
        if not paths or self.last is None or not self._calls:
            return
        running = frozenset(self._calls.values())
        findings: _Findings = {}
        for path in paths:
            if (difference := _since(self.last, path)) is not None:
                self._attribute(difference, running, findings)
        self.changed_by_others(paths)

    # --- surveys --------------------------------------------------------------------------------

    def survey_begins(self) -> None:
        """Note which calls are running as a survey begins."""
        self._has_surveyed = True
        if self.last is not None:
            self.last = self._others.added_to(self.last)
        self._others.survey_begins()
        self._running = frozenset(self._calls.values())
        self._ended = tuple(call for call in self._running if call.has_ended)

    def attribute(self, new: Survey, found: Iterable[Difference]) -> Iterator[None]:
        """Attribute what a survey found; yields after each file, for other tasks to run."""
        self.last = new
        findings: _Findings = {}
        for difference in found:
            self._attribute(difference, self._running, findings)
            yield
        self._others.survey_ends()
        self._forget_ended()

    def survey_failed(self, why: str) -> None:
        """Mark the changes of all watched calls as unknown."""
        self.last = None
        self._others.survey_ends()
        for call in self._calls.values():
            call.turn.unknown = why
        self._forget_ended()

    def _forget_ended(self) -> None:
        for call in self._ended:
            self._calls.pop(call.tracked, None)

    # --- suspects -------------------------------------------------------------------------------

    def _attribute(
        self, difference: Difference, running: Set[_WatchedCall], findings: _Findings
    ) -> None:
        """Attribute a difference to turns; `running`: the calls that ran when the survey began."""
        suspects, path = self._suspects(difference, running), os.path.realpath(difference.path)
        if path in self._being_written:  # the end of the write shows whose it is
            self._postponed.setdefault(path, []).append((difference, suspects))
        elif (by_calls := self._others.without(difference)) is not None:
            self._record(by_calls, suspects, findings)

    def _record(
        self, difference: Difference, suspects: Iterable[_Suspect], findings: _Findings
    ) -> None:
        """Record a difference in the turn of each suspect."""
        for suspect in suspects:
            turn = suspect.call.turn
            if not is_safe_path(difference.path):
                turn.odd_names.add(difference.path)
                continue
            # The first difference of this turn, or the turn was settled after the one before.
            if turn not in findings or findings[turn].tracked not in turn.calls:
                findings[turn] = _new_finding(suspect.call)
            knows_before = suspect.knows_before and not difference.is_unknown
            self._add(findings[turn], difference, knows_before=knows_before)
            self._found(turn.chat, difference.path)

    def _suspects(self, difference: Difference, running: Set[_WatchedCall]) -> Sequence[_Suspect]:
        """Return the calls that may have made a difference, one for each turn.

        `*` is the change of a file:

                survey begins    file is read
            A ────────┼────── * ──────┼────   was running when the survey began
                      │  B ── * ──────┼────   began during the survey, before the change
                      │       *   C ──┼────   began after the change: no suspect

        For A the content before is that of the last survey. For B it is known only if B surely
        began after that survey, or its turn has another suspect that knows it.
        """
        suspects: dict[TurnChanges, _Suspect] = {}
        for call in self._calls.values():
            was_running = call in running
            began_before = difference.when >= call.since - REPORT_DELAY
            if began_before and (was_running or difference.during_survey):
                other = suspects.get(call.turn)
                knows = other is not None and other.knows_before
                knows = knows or was_running or call.tracked.before_is_certain
                suspects[call.turn] = _Suspect(call, knows)
        return tuple(suspects.values())

    def _add(self, finding: _Finding, difference: Difference, *, knows_before: bool) -> None:
        path, missing = difference.path, len(difference.folders)
        place = os.path.realpath(path) if self.last is None else self.last.place(path)
        before = self._snapshot(difference.before, place, missing) if knows_before else UNSEEN
        finding.before[path] = before
        finding.after[path] = self._snapshot(difference.after, place)

    def _snapshot(self, file: SurveyedFile | None, place: str, missing: int = 0) -> Snapshot:
        if file is None:
            return Snapshot(place=place, missing=missing)
        if file.fault is not None:
            return Snapshot(fault=file.fault)
        return self._make_snapshot(file.content, file.stat.mode, place)


def _new_finding(call: _WatchedCall) -> _Finding:
    """Add an empty finding to the turn of a call."""
    before: dict[str, Snapshot] = {}
    after: dict[str, Snapshot] = {}
    nameless = ToolCall(call.tracked.call.id)  # no details: it names no files
    observation = Observation(before, len(call.turn.calls))
    tracked = TrackedCall(
        nameless,
        Observation(),
        observation,
        before_is_certain=True,
        after=after,
        outcome=CallOutcome.DONE,
    )
    call.turn.calls.append(tracked)
    return _Finding(tracked, before, after)


def _since(last: Survey, path: str) -> Difference | None:
    """Return how a file differs now from the last survey, None if it does not."""
    before, after = last.files.get(path), survey_file(path)
    if before is None and (after is None or not last.covers(path)):
        return None
    if before is not None and after is not None and before.same_as(after):
        return None
    when = time.time_ns() if after is None else after.stat.changed
    is_new = before is None
    new = tuple(takewhile(lambda it: it not in last.folders, above(path))) if is_new else ()
    return Difference(path, before, after, when, folders=new)
