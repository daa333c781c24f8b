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
- Names that cannot be shown or sent are only listed.
"""

import os.path
import time
from collections.abc import Callable, Mapping, Sequence
from itertools import chain

from msgspec import Struct
from msgspec.structs import replace

from eca_nvim.chat.model.calls import is_safe_path
from eca_nvim.chat.vocabulary.query_intents import FileWritten
from eca_nvim.review.checkpoint_store import Change, Tree
from eca_nvim.review.snapshots import Snapshot
from eca_nvim.review.tree_changes import Found, TreeRequest, changed_at
from eca_nvim.review.turn_changes import UNSEEN, FileRecord, TurnChanges

REPORT_DELAY = 1_000_000_000
"""Nanoseconds that a call may have run before the agent reports it, at most."""


class Watch(Struct, eq=False):
    """The time in which a turn may have changed any file: from one tree to another.

    since, until: when the call was reported to run, and to have ended (ns since 1970; 0: not yet).
    is_late: its first tree may be from after its start, or from long before. is_uncertain: so it is
    although the user was asked. is_turn: it is a whole turn; only what its calls have named is
    looked at.
    """

    turn: TurnChanges
    start: TreeRequest
    since: int
    end: TreeRequest | None = None
    until: int = 0
    is_late: bool = False
    is_uncertain: bool = False
    is_turn: bool = False

    @property
    def trees(self) -> tuple[Tree, Tree] | None:
        """The trees, if both were taken."""
        end = self.end and self.end.tree
        return (self.start.tree, end) if self.start.tree and end else None

    @property
    def is_ready(self) -> bool:
        """Whether it has ended, and its trees are there, or cannot be taken."""
        return self.end is not None and self.end.is_done and self.start.is_done


class _Write(Struct, frozen=True):
    """A file that was written, not by a command; turn: that of the call, None for the user.

    began, time: when it began and was done. before: what it was before that; None for the user: the
    host hears of a write when it is done.
    """

    path: str
    began: int
    time: int
    after: Snapshot
    before: Snapshot | None = None
    turn: TurnChanges | None = None


class Commands:
    """The commands that run, and what else was written meanwhile.

    take: asks for a tree. snapshot: reads a file. found: called with a chat and a file that was
    changed. ready: called when the trees of a watch may be there, to compare them.
    """

    def __init__(
        self,
        take: Callable[[], TreeRequest],
        snapshot: Callable[[str], Snapshot],
        found: Callable[[str, str], object] = lambda *_: None,
    ) -> None:
        self._take = take
        self._snapshot = snapshot
        self._found = found
        self.ready: Callable[[Watch], object] = lambda _: None
        self._trees: dict[TurnChanges, list[TreeRequest]] = {}  # of the turns that run
        self.watches: list[Watch] = []
        """Those that run, or are not settled."""
        self._ended: list[Watch] = []  # settled ones, while others are open
        self._writes: dict[str, list[_Write]] = {}
        self._being_written: dict[str, int] = {}

    # --- turns and calls ------------------------------------------------------------------------

    def turn_began(self, turn: TurnChanges, tree: TreeRequest) -> None:
        """Note the tree that was asked for as a turn began."""
        self._trees.setdefault(turn, []).append(tree)

    def turn_ended(self, turn: TurnChanges, tree: TreeRequest) -> None:
        """Note the tree that was asked for as a turn ended."""
        if turn in self._trees:
            watch = Watch(turn, self._trees.pop(turn)[0], turn.began, is_turn=True)
            self.watches.append(watch)
            self.end(watch, tree)

    def turns_of(self, chat: str) -> Sequence[TurnChanges]:
        """Return the turns of a chat that have begun, and whose end is not noted."""
        return [turn for turn in self._trees if turn.chat == chat]

    def forget(self, turn: TurnChanges) -> None:
        """Forget a turn whose end nobody will note."""
        self._trees.pop(turn, None)
        self._drop_writes()

    def _drop_writes(self) -> None:
        """Forget who has written what, if no turn and no command is left that it concerns."""
        if not self.watches and not self._trees:
            self._writes.clear()

    def begin(self, turn: TurnChanges, tree: TreeRequest | None = None) -> Watch:
        """Watch a call that may be running from now on; tree: from before its start."""
        start, is_late = tree, tree is None or tree.tree is None
        if is_late:
            trees = self._trees.get(turn, [])
            done = (it for it in reversed(trees) if it.tree is not None)
            start = next(chain(done, trees), tree)
        watch = Watch(turn, start or self._take(), time.time_ns(), is_late=is_late)
        watch.is_uncertain = is_late and tree is not None
        self.watches.append(watch)
        return watch

    def resume(self, turn: TurnChanges) -> None:
        """Find what the commands have changed that a kill of their Neovim has ended."""
        for tree in turn.starts:
            watch = Watch(turn, TreeRequest(), tree.began, is_uncertain=not turn.until)
            watch.start.settle(tree)
            self.watches.append(watch)
            self.end(watch, until=turn.until)

    def end(self, watch: Watch, tree: TreeRequest | None = None, until: int = 0) -> None:
        """Note that a watched call has ended: what it changed is to be found.

        until: when that was, if not now.
        """
        watch.until, watch.end = until or time.time_ns(), tree or self._take()
        self._trees.get(watch.turn, []).append(watch.end)
        for each in (watch.start, watch.end):
            each.when_done(lambda: self._check([watch]))

    def look(self, chat: str) -> None:
        """Find what the running calls of a chat have changed so far."""
        running = [it for it in self.watches if it.end is None and it.turn.chat == chat]
        tree = self._take() if running else None
        for watch in running:
            so_far = replace(watch)
            watch.start, watch.is_late = tree or watch.start, False
            self.watches.append(so_far)
            self.end(so_far, tree)

    def _check(self, watches: list[Watch]) -> None:
        """Have the trees of watches compared that are there."""
        for watch in watches:
            if watch in self.watches and watch.is_ready:
                self.ready(watch)

    @property
    def is_settled(self) -> bool:
        """Whether what ended calls have changed is known, and what others did so far."""
        return all(it.end is None for it in self.watches)

    # --- others ---------------------------------------------------------------------------------

    def user_writes(self, event: FileWritten) -> None:
        """Note that the user begins or ends to write a file."""
        path = os.path.realpath(event.path)
        if event.state == "begun":
            self._being_written[path] = time.time_ns()
            return
        began = self._being_written.pop(path, None)
        if event.state == "written":
            self.written({event.path: self._snapshot(event.path)}, began=began)
        self._check([*self.watches])

    def written(
        self,
        files: Mapping[str, Snapshot],
        turn: TurnChanges | None = None,
        before: Mapping[str, Snapshot] | None = None,
        began: int | None = None,
    ) -> None:
        """Note that files were written just now, by no command; turn: by a call of that turn.

        began: when that was begun, if it is known (ns since 1970).
        """
        if self._trees or self.watches:
            for path, after in files.items():
                now = time.time_ns()
                write = _Write(path, began or now, now, after, (before or {}).get(path), turn)
                self._writes.setdefault(os.path.realpath(path), []).append(write)

    # --- what was found -------------------------------------------------------------------------

    def attribute(self, watch: Watch, found: Found, *, is_shared: bool = False) -> bool:
        """Add what was found to the turn; is_shared: turns of other Neovims ran meanwhile.

        Returns whether that is done: it waits for files that are being written.
        """
        is_waiting = any(os.path.realpath(path) in self._being_written for path in found)
        if is_waiting or watch not in self.watches:
            return False
        self.watches.remove(watch)
        self._ended.append(watch)
        if watch.is_turn:
            self._correct(watch, found)
        elif watch.trees is None:
            faults = [it.fault for it in (watch.start, watch.end) if it is not None]
            watch.turn.unknown = next(filter(None, faults), None)
        else:
            self._add(watch, watch.trees, found, is_shared=is_shared)
        if not self.watches:
            self._ended.clear()
        self._drop_writes()
        return True

    def _correct(self, watch: Watch, found: Found) -> None:
        """Set what files were before calls that may have run before they were seen."""
        turn = watch.turn
        for path, first_ended in turn.unsure.items():
            record = turn.seen[path]
            writes = self._writes_of(path, turn.began, first_ended)
            theirs = [it.after for it in writes if it.turn is None and it.time <= first_ended]
            before = record.before
            if theirs and not theirs[-1].same_as(record.after):
                before = theirs[-1]
            elif before.fault is None and record.is_change and record.ended == first_ended:
                pass  # it had not run
            elif path in found and watch.trees is not None:
                before, is_late = found[path][0], watch.trees[0].is_late(path)
                record = replace(record, changed_by_others=record.changed_by_others or is_late)
            turn.seen[path] = replace(record, before=before)
        turn.unsure.clear()

    def _add(
        self, watch: Watch, trees: tuple[Tree, Tree], found: Found, *, is_shared: bool
    ) -> None:
        turn, (start, end) = watch.turn, trees
        is_shared = is_shared or watch.is_uncertain or self._runs_with_others(watch)
        for path, states in {**found, **self._taken_back(start, end, found)}.items():
            if not is_safe_path(path):
                turn.odd_names.add(path)
                continue
            mine = self._without_others(watch, start, end, path, states)
            if mine is None or self._is_older(watch, path, states):
                continue
            writes = self._writes_of(path, start.began, watch.until)
            doubted = is_shared or start.is_late(path)
            doubted = doubted or any(it.turn not in (None, turn) for it in writes)
            doubted = doubted or (turn.process > 0 and changed_at(path) > watch.until)
            record = FileRecord(*mine, doubted, None, False, True, start.began, end.done)
            turn.note(path, record)
            self._found(turn.chat, path)

    def _runs_with_others(self, watch: Watch) -> bool:
        """Return whether commands of other turns ran at the time of one."""
        others = (it for it in (*self.watches, *self._ended) if it.turn is not watch.turn)
        return any(_overlap(it, watch) for it in others if not (it.is_turn or it.turn.process))

    def _taken_back(self, start: Tree, end: Tree, found: Found) -> Found:
        """Return what the user wrote, and a command has undone before the later tree."""
        last = [writes[-1] for writes in self._writes.values()]
        return {
            it.path: (it.after, self._snapshot(it.path))
            for it in last
            if it.turn is None and start.began <= it.time < end.began and it.path not in found
        }

    def _writes_of(self, path: str, first: int, last: int) -> list[_Write]:
        """Return the writes of a file that were not done before a time, nor begun after another."""
        writes = self._writes.get(os.path.realpath(path), ())
        return [it for it in writes if first <= it.time and it.began <= last]

    def _without_others(
        self, watch: Watch, start: Tree, end: Tree, path: str, states: Change
    ) -> Change | None:
        """Return the part of a change that others did not make, None if nothing is left."""
        before, after = states
        for write in self._writes_of(path, start.began, end.done):
            if write.turn is watch.turn:
                continue
            if write.before is not None and watch.until < write.time:
                after = write.before  # it came later
                break
            if write.before is not None and not write.before.same_as(before):
                continue  # both have changed it
            if write.after.same_as(after):
                return None
            if write.time < end.began:  # the later tree has it, or what came after it
                before = write.after
        return None if before.same_as(after) else (before, after)

    def _is_older(self, watch: Watch, path: str, states: Change) -> bool:
        """Return whether a file was changed long before an unasked call began."""
        if not watch.is_late or states[0] == UNSEEN or any(it.is_absent for it in states):
            return False
        return 0 < changed_at(path) < watch.since - REPORT_DELAY


def _overlap(one: Watch, other: Watch) -> bool:
    """Return whether two calls ran at the same time."""
    return (not one.until or one.until > other.since) and (
        not other.until or other.until > one.since
    )
