"""Commands: what calls that name no files have changed, as shell commands do.

Two trees, T1 and T2, and what happens to a file between them:

    trees       T1                                T2
    changes        * command   w user   + command      the turn gets w to +
                   * command   w user                  the user's
                   * command              v other turn both get it, as uncertain

Rules kept here:
- A command that the user approved has changed what differs between a tree from before its start
  and one from after its end. One that runs unasked has begun before we hear of it: its first tree
  is the last of its turn.
- What this Neovim wrote meanwhile is the user's. What others may have changed, too, is marked.
- What was changed long before a call began is not its work.
"""

import os.path
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from msgspec import Struct

from eca_nvim.chat.vocabulary.query_intents import FileWritten
from eca_nvim.review.snapshots import Blob, Snapshot
from eca_nvim.review.tree_changes import Found, Moment, States, TreeRequest
from eca_nvim.review.turn_changes import Step, TurnChanges

REPORT_DELAY = 1_000_000_000
"""Nanoseconds that a call may have run before the agent reports it, at most."""


class Watch(Struct, eq=False):
    """The time in which a turn may have changed any file: from one tree to another.

    since, until: when the call was reported to run, and to have ended (ns since 1970; 0: not yet).
    is_late: its first tree may be from after its start, or from long before. is_uncertain: so it is
    although the user was asked. is_turn: it is a whole turn; only what its calls have named is
    looked at. is_asked: the user asks for its changes while it runs. step: what it did so far.
    """

    turn: TurnChanges
    start: TreeRequest | None = None
    end: TreeRequest | None = None
    since: int = 0
    until: int = 0
    is_late: bool = False
    is_uncertain: bool = False
    is_turn: bool = False
    is_asked: bool = False
    step: Step | None = None

    @property
    def moments(self) -> tuple[Moment, Moment] | None:
        """The trees, if both were taken."""
        trees = self.start and self.start.moment, self.end and self.end.moment
        return (trees[0], trees[1]) if trees[0] and trees[1] else None

    @property
    def fault(self) -> str | None:
        """Why it is not known what was changed, if it is not."""
        faults = (it.fault for it in (self.start, self.end) if it is not None)
        return next(filter(None, faults), None)


class _Write(Struct, frozen=True):
    """A file that was written, not by a command; turn: that of the call, None for the user."""

    path: str
    time: int
    before: Snapshot | None
    after: Snapshot
    turn: TurnChanges | None


class Commands:
    """The commands that run, and what else was written meanwhile.

    take: asks for a tree. snapshot: reads a file. keep: stores a content. found: called with a
    chat and a file that was changed. ready: called when the trees of a watch are there, to compare
    them.
    """

    def __init__(
        self,
        take: Callable[[], TreeRequest],
        snapshot: Callable[[str], Snapshot],
        keep: Callable[[bytes], Blob],
        found: Callable[[str, str], object] = lambda *_: None,
    ) -> None:
        self._take = take
        self._snapshot = snapshot
        self._keep = keep
        self._found = found
        self.ready: Callable[[Watch], object] = lambda _: None
        self._trees: dict[TurnChanges, list[TreeRequest]] = {}  # of the turns that run
        self.watches: list[Watch] = []
        """Those that run, or are not settled."""
        self._ended: list[Watch] = []  # settled ones at the same time as others
        self._writes: dict[str, list[_Write]] = {}
        self._being_written: dict[str, Snapshot] = {}
        self._waiting: list[Callable[[], object]] = []

    # --- turns and calls ------------------------------------------------------------------------

    def turn_began(self, turn: TurnChanges, tree: TreeRequest) -> None:
        """Note the tree that was asked for as a turn began."""
        self._trees.setdefault(turn, []).append(tree)

    def turn_ended(self, turn: TurnChanges, tree: TreeRequest) -> None:
        """Note the tree that was asked for as a turn ended."""
        first = self._trees.pop(turn, [None])[0]
        if first is not None:
            watch = Watch(turn, first, since=turn.began, is_turn=True)
            self.watches.append(watch)
            self._end(watch, tree)

    def begin(self, watch: Watch, tree: TreeRequest | None = None) -> None:
        """Watch a call that may be running from now on; tree: from before its start."""
        if not watch.since:
            watch.since = time.time_ns()
            trees = self._trees.get(watch.turn, [])
            done = [it for it in trees if it.moment is not None]
            watch.is_late = tree is None or tree.moment is None
            watch.is_uncertain = tree is not None and tree.moment is None
            watch.start = tree if not watch.is_late else next(iter([*done[::-1], *trees]), tree)
            if watch.start is None:  # a turn whose begin we have not seen
                watch.start = self._take()
            self.watches.append(watch)

    def end(self, watch: Watch) -> None:
        """Note that a watched call has ended: what it changed is to be found."""
        if watch.since and not watch.until:
            tree = self._take()
            if watch.turn in self._trees:
                self._trees[watch.turn].append(tree)
            self._end(watch, tree)

    def look(self, chat: str) -> None:
        """Find what the running calls of a chat have changed so far."""
        running = [it for it in self.watches if not it.until and it.turn.chat == chat]
        tree = self._take() if running else None
        for watch in running:
            watch.is_asked, watch.end = True, tree
            self._await(watch)

    def _end(self, watch: Watch, tree: TreeRequest) -> None:
        watch.until, watch.end = time.time_ns(), tree
        self._await(watch)

    def _await(self, watch: Watch) -> None:
        for each in (watch.start, watch.end):
            if each is not None and not each.is_done:
                each.when_done(lambda: self._check(watch))
        self._check(watch)

    def _check(self, watch: Watch) -> None:
        """Have the trees of a watch compared if both are there."""
        if self.is_ready(watch):
            self.ready(watch)

    def is_ready(self, watch: Watch) -> bool:
        """Return whether the trees of a watch are there, and to be compared."""
        trees = [it for it in (watch.start, watch.end) if it is not None]
        is_wanted = watch in self.watches and (watch.is_asked or watch.until > 0)
        return is_wanted and all(it.is_done for it in trees)

    @property
    def is_settled(self) -> bool:
        """Whether what ended calls have changed is known, and what others did so far."""
        return not any(it.until or it.is_asked for it in self.watches)

    # --- others ---------------------------------------------------------------------------------

    def user_writes(self, event: FileWritten) -> None:
        """Note that the user begins or ends to write a file."""
        path = os.path.realpath(event.path)
        if event.state == "begun":
            self._being_written[path] = self._snapshot(event.path)
            return
        before = self._being_written.pop(path, None)
        if event.state == "written":
            known = {} if before is None else {event.path: before}
            self.written({event.path: self._snapshot(event.path)}, before=known)
        waiting, self._waiting = self._waiting, []
        for then in waiting:
            then()

    def written(
        self,
        files: Mapping[str, Snapshot],
        turn: TurnChanges | None = None,
        before: Mapping[str, Snapshot] | None = None,
    ) -> None:
        """Note that files were written just now, by no command; turn: by a call of that turn."""
        if not self._trees and not self.watches:
            self._writes.clear()
            return
        for path, after in files.items():
            write = _Write(path, time.time_ns(), (before or {}).get(path), after, turn)
            self._writes.setdefault(os.path.realpath(path), []).append(write)

    def when_written(self, found: Found, then: Callable[[], object]) -> bool:
        """Return whether one of some files is being written; if so, call back when one was."""
        is_being = any(os.path.realpath(path) in self._being_written for path in found.files)
        if is_being:
            self._waiting.append(then)
        return is_being

    # --- what was found -------------------------------------------------------------------------

    def attribute(self, watch: Watch, found: Found, *, is_shared: bool = False) -> None:
        """Add what was found to the turn; is_shared: turns of other Neovims ran meanwhile."""
        watch.is_asked, moments = False, watch.moments
        if watch.until:
            self.watches.remove(watch)
        if watch.is_turn:
            self._correct(watch, found)
        elif moments is None:
            watch.turn.unknown = watch.fault
        else:
            self._add(watch, moments, found, is_shared=is_shared)
        self._ended = [it for it in (*self._ended, watch) if self._overlaps_any(it)]
        if not self.watches and not self._trees:
            self._writes.clear()

    def _overlaps_any(self, watch: Watch) -> bool:
        return any(_overlap(it, watch) for it in self.watches)

    def _correct(self, watch: Watch, found: Found) -> None:
        """Set what files were before calls that may have run before they were seen."""
        unknown: list[str] = []
        for path, step in watch.turn.uncertain:
            writes = self._writes_of(path, watch.turn.began, step.ended)
            theirs = [it.after for it in writes if it.turn is None]
            if theirs and not theirs[-1].same_as(step.after[path]):
                step.before[path] = theirs[-1]
                continue
            is_seen = not step.before[path].same_as(step.after[path])
            if is_seen and sum(path in it.after for it in watch.turn.steps) == 1:
                continue  # it had not run
            last = [it.after[path] for it in watch.turn.steps if path in it.after][-1]
            if path in found.files:
                step.before[path] = found.files[path][0]
            elif path in found.known:
                step.before[path] = last  # all of it was taken back
            elif not is_seen and not (last.is_absent and watch.moments):
                unknown.append(path)
        watch.turn.reverse_late(unknown, self._keep)

    def _add(
        self, watch: Watch, moments: tuple[Moment, Moment], found: Found, *, is_shared: bool
    ) -> None:
        others = [it for it in (*self.watches, *self._ended) if _overlap(it, watch)]
        is_shared = (
            is_shared
            or watch.is_uncertain
            or any(not it.is_turn and it.turn is not watch.turn for it in others)
        )
        step = Step(moments[0].began, ended=watch.until, is_certain=True, by_command=True)
        doubted: set[str] = set()
        files = {**found.files, **self._taken_back(moments, found)}
        for path, states in files.items():
            mine = self._without_others(watch, moments, path, states)
            if mine is None or self._is_older(watch, path, states):
                continue
            step.before[path], step.after[path] = mine
            if is_shared or self._is_doubtful(watch, moments, path):
                doubted.add(path)
        step.doubted = frozenset(doubted)
        watch.turn.odd_names |= found.odd_names
        if watch.step in watch.turn.steps:  # a later look at the same call
            watch.turn.steps.remove(watch.step)
        if step.after:
            watch.turn.steps.append(step)
            watch.step = step
        for path in step.after:
            self._found(watch.turn.chat, path)

    def _taken_back(self, moments: tuple[Moment, Moment], found: Found) -> Mapping[str, States]:
        """Return what the user wrote, and a command has undone before the later tree."""
        last = [writes[-1] for writes in self._writes.values()]
        mine = [
            it for it in last if it.turn is None and moments[0].began <= it.time < moments[1].began
        ]
        return {
            it.path: (it.after, self._snapshot(it.path))
            for it in mine
            if it.path not in found.files
        }

    def _writes_of(self, path: str, first: int, last: int) -> list[_Write]:
        writes = self._writes.get(os.path.realpath(path), ())
        return [it for it in writes if first <= it.time <= last]

    def _without_others(
        self, watch: Watch, moments: tuple[Moment, Moment], path: str, states: States
    ) -> States | None:
        """Return the part of a change that others did not make, None if nothing is left."""
        before, after = states
        start, end = moments
        for write in self._writes_of(path, start.began, end.done):
            if write.turn is watch.turn:
                continue
            if write.before is not None and 0 < watch.until < write.time:
                after = write.before  # it came later
                break
            if write.turn is not None and not (write.before and write.before.same_as(before)):
                continue  # both have changed it
            if write.after.same_as(after):
                return None
            if write.time < end.began:  # the later tree has it, or what came after it
                before = write.after
        return None if before.same_as(after) else (before, after)

    def _is_doubtful(self, watch: Watch, moments: tuple[Moment, Moment], path: str) -> bool:
        """Return whether other turns have named a file while a command ran."""
        writes = self._writes_of(path, moments[0].began, watch.until or moments[1].done)
        return any(it.turn not in (None, watch.turn) for it in writes)

    def _is_older(self, watch: Watch, path: str, states: States) -> bool:
        """Return whether a file was changed long before an unasked call began."""
        if not watch.is_late or states[0].is_absent or states[1].is_absent:
            return False
        try:
            return Path(path).lstat().st_ctime_ns < watch.since - REPORT_DELAY
        except OSError:
            return False


def _overlap(one: Watch, other: Watch) -> bool:
    """Return whether two calls ran at the same time."""
    return (not one.until or one.until > other.since) and (
        not other.until or other.until > one.since
    )
