"""Checkpoints: the workspace before each prompt and after each turn, kept across restarts.

Rules kept here:
- One thing at a time, in a thread, and nobody waits for it but who asks for a list or an undo.
- Before files are restored, the workspace as it is becomes a checkpoint, too: that can be undone.
- If the store fails, one line says so and the chats go on. The same fault is said once, until the
  store works again.
"""

import errno
import logging
import os
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

import anyio
import anyio.lowlevel
from msgspec import Struct

from eca_nvim.digests import name_digest
from eca_nvim.path_risks import Folders, projects
from eca_nvim.review.checkpoint_store import Checkpoint, CheckpointStore, Tree
from eca_nvim.review.git import GitFailed
from eca_nvim.review.restoring import Restoring
from eca_nvim.review.snapshots import Blobs, take_snapshot
from eca_nvim.review.tree_changes import MOST_NAMED, TreeRequest, what_goes_back
from eca_nvim.review.turn_changes import FileRecord
from eca_nvim.review.turn_store import forget_turns, open_turns
from eca_nvim.threads import run_in_thread

FOLDER: Final = "checkpoints"
"""The folder of all stores, below that where everything is saved."""
MOST_BEGUN: Final = 100
MIB: Final = 1 << 20
NS_PER_DAY: Final = 86_400 * 10**9
HEAD_START: Final = 0.05
"""Seconds that a prompt has before its tree: else both would want the same processors."""
OFF: Final = "checkpoints are off: see :help eca-option-checkpoints.enabled"
NO_PROJECT: Final = "no repository: git init"

Result = TypeVar("Result")

log = logging.getLogger(__name__)


class Limits(Struct, frozen=True):
    """What is kept (the option `checkpoints`): for how many days, and MiB of all and of a file."""

    enabled: bool = True
    days: float = 14
    size: float = 1024
    max_file: float = 20


class Restored(Struct, frozen=True):
    """The files that were restored, and why others were not; `undo`: the checkpoint before that."""

    done: Sequence[str]
    failed: Mapping[str, str]
    undo: str


class Checkpoints:
    """The checkpoints of one workspace.

    folder: where everything is saved, None to save nothing. process: that of Neovim. changed: shows
    what is kept. is_treated: as in `path_risks.projects`.
    """

    def __init__(
        self,
        folder: str | None,
        folders: Folders,
        process: int,
        limits: Limits,
        warn: Callable[[str], None],
        changed: Callable[[Sequence[Checkpoint]], None] = lambda _: None,
        is_treated: Callable[[str], bool] = lambda _: False,
    ) -> None:
        most_bytes = int(min(limits.max_file, MIB) * MIB)
        self._blobs = Blobs(self.read, most_bytes)
        self._store: CheckpointStore | None = None
        if folder is not None and folders and limits.enabled:
            name = name_digest(os.fsencode("\n".join(folders.first)))
            place = Path(folder, FOLDER, name)
            self._store = CheckpointStore(place, process, most_bytes)
        self.process = process
        self._folders = folders
        self._limits = limits
        self._warn = warn
        self._changed = changed
        self.roots = partial(projects, folders, is_treated)
        """Returns the folders whose files are stored: those that are projects."""
        self.known: Sequence[Checkpoint] | None = None
        """What is kept, newest first; None: that was not asked for yet."""
        self._said: str | None = None  # the fault that was said last, None once it is over
        self._lock = anyio.Lock()
        self._wanted: list[TreeRequest] = []
        self._is_wanted = anyio.Event()
        # The last prompts, by chat and turn. One that was queued is stored before the end that it
        # follows.
        self._begun: dict[tuple[object, object], Checkpoint] = {}

    def want(self, about: Mapping[str, object] | None = None) -> TreeRequest:
        """Take a tree, and keep it for what it is about; None: it need not be kept.

        It begins after now: one that is taken now may have missed the latest changes. about:
        `kind`: a `prompt` that is sent now, or the `end` of a turn; `chat` and `turn`; of a prompt
        the `title` of its chat, and its text, too.
        """
        request = TreeRequest(about)
        if self._store is None:
            request.settle(None, OFF)
        else:
            self._wanted.append(request)
            self._is_wanted.set()
        return request

    async def run(self) -> None:
        """Take the trees that are wanted until cancelled."""
        while True:
            await self._is_wanted.wait()
            if any(it.is_prompt for it in self._wanted):
                await anyio.sleep(HEAD_START)
            self._is_wanted, before = anyio.Event(), self.known
            async with self._lock:
                wanted, self._wanted = self._wanted, []
                # A prompt waits for no tree: each has one of its own moment. All others share one.
                groups = [[it] for it in wanted if it.is_prompt]
                groups.append([it for it in wanted if not it.is_prompt])
                taken = [(it, *await self._taken(it)) for it in groups if it]
            for group, tree, fault in taken:
                for request in group:
                    request.settle(tree, fault)
            if self.known is None:
                with suppress(GitFailed):  # it was said why
                    await self.load()
            elif self.known is not before:
                self._changed(self.known)

    async def _taken(self, requests: Sequence[TreeRequest]) -> tuple[Tree | None, str | None]:
        """Take one tree for all who wait; return it, or why there is none."""
        try:
            tree = await run_in_thread(partial(self._take, requests))
        except (GitFailed, OSError) as failed:
            self._say(str(failed))
            return None, str(failed)
        except Exception as failed:  # a bug of ours, or of the disk; the chats go on
            log.exception("a checkpoint failed")
            self._say(f"{failed!r}, see :Eca log")
            return None, f"{failed!r}, see :Eca log"
        self._said = None
        return tree, None if tree else NO_PROJECT

    def _say(self, fault: str) -> None:
        if fault != self._said:
            self._said = fault
            self._warn(f"no checkpoint was made: {fault}")

    async def with_store(self, work: Callable[[CheckpointStore], Result]) -> Result:
        """Do something with the store. It is done to its end, even if nobody waits any more.

        Raises GitFailed.
        """
        async with self._lock:
            with anyio.CancelScope(shield=True):
                try:
                    done = await run_in_thread(partial(work, self._kept))
                except OSError as fault:  # as `sudo nvim` may leave a folder of another user
                    raise GitFailed(str(fault)) from fault
        await anyio.lowlevel.checkpoint_if_cancelled()
        return done

    def read(self, blob: str) -> bytes:
        """Return a stored content, by git's id. Raises OSError."""
        if self._store is None:
            raise OSError(errno.ENOENT, OFF)
        return self._store.read(blob)

    @property
    def is_busy(self) -> bool:
        """Whether something is being done with the store."""
        return self._lock.locked()

    @property
    def _kept(self) -> CheckpointStore:
        if self._store is None:
            raise GitFailed(OFF)
        return self._store

    def _take(self, requests: Sequence[TreeRequest]) -> Tree | None:
        """Take a tree of the folders that are projects, and keep it for what it is; blocks."""
        if not (roots := self.roots()):
            return None
        # After a prompt the agent may have written.
        tree = self._kept.take(roots, requests[0].asked if requests[0].is_prompt else None)
        for number, request in enumerate(requests):
            if request.about is not None:
                self._keep(tree, request.about, tree.began + number)
        try:
            self._prune()
        except GitFailed as fault:  # another Neovim does so now, maybe; the tree is kept
            log.warning("old checkpoints stay: %s", fault)
            self.known = self.known and self._kept.checkpoints()
        return tree

    def _keep(self, tree: Tree, about: Mapping[str, object], moment: int) -> Checkpoint:
        """Keep a tree; with the end of a turn, which files it has changed."""
        turn = (about["chat"], about.get("turn"))
        begun = self._begun.get(turn)
        if about["kind"] == "end" and begun is not None:
            changed = self._kept.changes(begun.tree, tree.id, tree.roots)
            about = {**about, "of": begun.id, "count": len(changed)}
            about["files"] = sorted(changed)[:MOST_NAMED]
        refused = sorted(tree.refused)[:MOST_NAMED]
        kept = self._kept.keep(tree.id, moment, {**about, "refused": refused})
        self.known = None if self.known is None else [kept, *self.known]
        if about["kind"] == "prompt":
            self._begun.pop(turn, None)
            self._begun[turn] = kept
            for old in [*self._begun][:-MOST_BEGUN]:
                del self._begun[old]
        return kept

    def _prune(self) -> None:
        """Forget what is too old, and the oldest while all take too much; once a day."""
        if not self._kept.is_due():
            return
        now, in_review = time.time_ns(), open_turns(self._kept)
        kept = [
            it
            for it in self._kept.checkpoints()
            if now - it.time > NS_PER_DAY and is_reviewed(it, in_review)
        ]
        recent = [it for it in kept if now - it.time <= self._limits.days * NS_PER_DAY]
        self._kept.drop(it.id for it in kept[len(recent) :])
        forget_turns(self._kept, now - int(self._limits.days * NS_PER_DAY))
        self._kept.prune()
        while recent and self._kept.size() > self._limits.size * MIB:
            half = len(recent) // 2
            self._kept.drop(it.id for it in recent[half:])
            forget_turns(self._kept, recent[half].time)
            self._kept.prune()
            recent = recent[:half]
        if self.known is not None:
            self.known = self._kept.checkpoints()

    # --- what the user asks for -------------------------------------------------------------------

    async def load(self) -> None:
        """List what is kept, also by other Neovims. Raises GitFailed."""
        self.known = await self.with_store(CheckpointStore.checkpoints)
        self._changed(self.known)

    async def plan(self, checkpoint: Checkpoint) -> Mapping[str, FileRecord]:
        """Return the files that differ from a checkpoint: then, and now. Raises GitFailed."""

        def work(store: CheckpointStore) -> Mapping[str, FileRecord]:
            now = store.take(tuple(self._folders))
            return what_goes_back(store, checkpoint, now)

        return await self.with_store(work)

    async def keep_before(self, chat: str, prompt: str) -> None:
        """Make a checkpoint before files go back to a prompt; a fault is said and stops nothing."""
        about = {"kind": "restore", "chat": chat, "prompt": _before(prompt)}
        request, done = self.want(about), anyio.Event()
        request.when_done(done.set)
        await done.wait()

    async def restore(self, checkpoint: Checkpoint, plan: Mapping[str, FileRecord]) -> Restored:
        """Restore the files of a plan that are still as it says. Raises GitFailed."""
        return await self.with_store(lambda _: self._restore(checkpoint, plan))

    def _restore(self, checkpoint: Checkpoint, plan: Mapping[str, FileRecord]) -> Restored:
        about = {"kind": "restore", "chat": str(checkpoint.about.get("chat", ""))}
        about["prompt"] = _name_of_return(checkpoint)
        tree = self._kept.take(tuple(self._folders))
        kept = self._keep(tree, about, tree.began)
        restoring = Restoring(plan, partial(take_snapshot, blobs=self._blobs, follow=False))

        def read_ahead(paths: Sequence[str]) -> None:
            befores = (plan[path].before.digest for path in paths)
            with suppress(GitFailed):  # each content is read alone then
                self._kept.read_ahead({it for it in befores if it is not None})

        outcomes = [*restoring.restore_all(read_ahead)]
        done = [it.path for it in outcomes if it.fault is None]
        failed = {it.path: it.told for it in outcomes if it.told is not None}
        return Restored(done, failed, kept.id)

    async def drop(self, ids: Sequence[str]) -> None:
        """Delete checkpoints. Raises GitFailed."""
        await self.with_store(lambda store: store.drop(ids))
        await self.load()


def is_reviewed(checkpoint: Checkpoint, in_review: Collection[tuple[str, int]]) -> bool:
    """Return whether its turn is not one of those (chat and number) that the user is reviewing."""
    return (checkpoint.about.get("chat"), checkpoint.about.get("turn")) not in in_review


_BEFORE, _AFTER = "before going back to ", "after going back to "


def _before(prompt: str) -> str:
    return _BEFORE + prompt[:60]


def _name_of_return(checkpoint: Checkpoint) -> str:
    """Return what the files are called that a checkpoint is about to replace."""
    name = str(checkpoint.about.get("prompt", "")) or checkpoint.id
    if checkpoint.about.get("kind") != "restore":
        return _before(name)
    if name.startswith(_BEFORE):
        return _AFTER + name.removeprefix(_BEFORE)
    return _BEFORE + name.removeprefix(_AFTER)
