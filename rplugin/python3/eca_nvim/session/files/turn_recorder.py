"""Turn recorder: finds what commands have changed, and saves what is known of turns.

Rules kept here:
- A command waits for its tree, at most `WAIT_LIMIT`; so does the user who asks for changes. A
  prompt and its answer wait for nothing.
- What is known of a turn is saved whenever it changes, also while its calls run: a kill loses
  nothing but what has just begun.
- If the store fails, turns are known as long as this Neovim lives.
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeAlias

import anyio
from msgspec.structs import replace

from eca_nvim.review.checkpoint_store import CheckpointStore
from eca_nvim.review.commands import Watch
from eca_nvim.review.git import GitFailed
from eca_nvim.review.ledger import Ledger
from eca_nvim.review.tree_changes import Found, TreeRequest, compare
from eca_nvim.review.turn_changes import FileRecord, TurnChanges
from eca_nvim.review.turn_store import last_numbers, load_turns, others_ran, save_turn

if TYPE_CHECKING:
    from eca_nvim.session.files.checkpoints import Checkpoints

WAIT_LIMIT = 5.0
"""Seconds that an approved command, or the user, waits for a tree at most."""

log = logging.getLogger(__name__)

AfterTree: TypeAlias = Callable[[TreeRequest], object]
_Waiting: TypeAlias = tuple[TreeRequest, float, AfterTree]
"""A tree, the time (the loop's) after which nobody waits for it, and who does."""


class TurnRecorder:
    """Records the turns of a ledger in the store."""

    def __init__(self, ledger: Ledger, checkpoints: Callable[[], Checkpoints]) -> None:
        self._ledger = ledger
        self._checkpoints = checkpoints
        self._ready_in, self._ready = anyio.create_memory_object_stream[Watch](math.inf)
        self._waiting_in, self._waiting = anyio.create_memory_object_stream[_Waiting](math.inf)
        self.waiting_count = 0
        """How many callbacks still wait for a tree."""
        self._unsaved: dict[TurnChanges, int] = {}  # how often each has changed
        self._is_unsaved = anyio.Event()
        self._progress = anyio.Event()
        ledger.commands.ready = self._ready_in.send_nowait
        ledger.changed = self._changed

    def after_tree(self, callback: AfterTree) -> None:
        """Call back when the workspace was stored, or after `WAIT_LIMIT`; in order."""
        self.waiting_count += 1
        deadline = anyio.current_time() + WAIT_LIMIT
        self._waiting_in.send_nowait((self._checkpoints().want(), deadline, callback))

    async def run(self) -> None:
        """Record until cancelled."""
        async with (
            self._ready_in,
            self._ready,
            self._waiting_in,
            self._waiting,
            anyio.create_task_group() as tasks,
        ):
            for job in (self._approve, self._compare, self._save):
                tasks.start_soon(job)

    async def _approve(self) -> None:
        async for tree, deadline, callback in self._waiting:
            done = anyio.Event()
            tree.when_done(done.set)
            with anyio.move_on_after(max(0.0, deadline - anyio.current_time())):
                await done.wait()
            self.waiting_count -= 1
            callback(tree)

    # --- what commands changed ------------------------------------------------------------------

    async def settled(self, chat: str) -> bool:
        """Load what earlier Neovims know, and wait until the changes of ended calls are known.

        At most `WAIT_LIMIT`; returns whether they are.
        """
        self._ledger.commands.look(chat)
        with anyio.move_on_after(WAIT_LIMIT):
            try:
                await self._load(chat)
                await self._read_ahead(chat)
            except GitFailed as fault:
                log.info("turns of earlier Neovims are not loaded: %s", fault)
            while not self._ledger.commands.is_settled:
                await self._progress.wait()
        return self._ledger.commands.is_settled

    async def _read_ahead(self, chat: str) -> None:
        """Read what turns are about to be compared with; here each content takes a process."""
        records = (it for turn in self._ledger.all_turns(chat) for it in turn.files.values())
        blobs = (it.blob for record in records for it in (record.before, record.after))
        wanted = {it.digest for it in blobs if it is not None and it.content is None}
        await self._checkpoints().with_store(lambda store: store.read_ahead(wanted))

    async def _compare(self) -> None:
        async for watch in self._ready:
            if watch in self._ledger.commands.watches:
                await self._attribute(watch)
            self._go_on()

    async def _attribute(self, watch: Watch) -> None:
        try:
            found, is_shared = await self._found(watch)
        except Exception as fault:  # a bug of ours, or of the disk; the chats go on
            log.exception("what a command has changed was not found")
            found, is_shared = {}, False
            watch.turn.unknown = f"{fault}; see :Eca log"
        if self._ledger.commands.attribute(watch, found, is_shared=is_shared):
            self._ledger.is_changed(watch.turn)

    async def _found(self, watch: Watch) -> tuple[Found, bool]:
        """Return what differs, and whether turns of other Neovims ran meanwhile."""
        trees = watch.trees
        asked = [*watch.turn.unsure] if watch.is_turn else []
        if trees is None or (watch.is_turn and not asked):
            return {}, False
        (start, end), process = trees, watch.turn.process or self._checkpoints().process
        last = watch.until if watch.turn.process else end.done

        def work(store: CheckpointStore) -> tuple[Found, bool]:
            found = compare(store, start, end, asked)
            return found, bool(found) and others_ran(store, process, start.began, last)

        return await self._checkpoints().with_store(work)

    # --- turns that are kept --------------------------------------------------------------------

    async def saved(self) -> None:
        """Wait until all that is known is saved; at most `WAIT_LIMIT`."""
        with anyio.move_on_after(WAIT_LIMIT):
            while self._unsaved:
                await self._progress.wait()

    def _go_on(self) -> None:
        """Let those look again who wait for something to be found or saved."""
        progress, self._progress = self._progress, anyio.Event()
        progress.set()

    def _changed(self, turn: TurnChanges) -> None:
        self._unsaved[turn] = self._unsaved.get(turn, 0) + 1
        self._is_unsaved.set()

    async def _save(self) -> None:
        while True:
            await self._is_unsaved.wait()
            self._is_unsaved = anyio.Event()
            while self._unsaved:
                while self._ready.statistics().current_buffer_used:
                    await self._progress.wait()  # what is found next is saved with it
                turn = next(iter(self._unsaved))
                version = self._unsaved[turn]
                try:
                    await self._save_turn(turn)
                except GitFailed as fault:
                    log.info("a turn is not saved: %s", fault)
                except Exception:  # a bug of ours, or of the disk; the chats go on
                    log.exception("a turn is not saved")
                if self._unsaved[turn] == version:  # else it has changed meanwhile
                    del self._unsaved[turn]
                self._go_on()

    async def _save_turn(self, turn: TurnChanges) -> None:
        watches = [it for it in self._ledger.commands.watches if it.turn is turn and not it.is_turn]
        starts = [it.start.tree for it in watches if it.start.tree]
        ends = [0 if it.is_uncertain else it.until for it in watches if it.start.tree]
        running = {
            path: FileRecord(it, it, began=opened.began, ended=opened.began)
            for opened in self._ledger.open_calls(turn)
            for path, it in opened.before.items()
        }
        if turn.saved is None and not (turn.files or running or starts or turn.unknown):
            return
        until = 0 if running or 0 in ends else max(ends, default=time.time_ns())
        # A copy, because it is written in a thread.
        sets = {"files": {**turn.files}, "odd_names": {*turn.odd_names}, "kept": {*turn.kept}}
        more = {"running": running, "starts": starts, "until": until, "seen": {}, "unsure": {}}
        copy = replace(turn, **sets, **more, process=self._checkpoints().process)
        turn.saved, turn.commit = await self._checkpoints().with_store(
            lambda store: save_turn(store, copy)
        )

    async def last_numbers(self) -> Mapping[str, int]:
        """Return the number of the last turn of each chat of others. Raises GitFailed."""

        def work(store: CheckpointStore) -> Mapping[str, int]:
            own = {it.saved for it in self._ledger.all_turns() if not it.process}  # by now
            return last_numbers(store, own)

        return await self._checkpoints().with_store(work)

    async def _load(self, chat: str) -> None:
        """Load the turns of a chat that others have saved. Raises GitFailed."""
        process = self._checkpoints().process
        self._ledger.loading.add(chat)
        known = {it.saved: it.commit for it in self._ledger.all_turns(chat)}
        loaded = await self._checkpoints().with_store(
            lambda store: load_turns(store, chat, known, process)
        )
        if chat not in self._ledger.loading:
            return  # it was deleted meanwhile
        # What was changed here meanwhile, such as what the user has kept, is newer.
        newer = {
            it.saved
            for it in self._ledger.all_turns(chat)
            if not it.process or it in self._unsaved or known.get(it.saved) != it.commit
        }
        for turn in loaded:
            if turn.saved not in newer:
                self._ledger.add(turn)
