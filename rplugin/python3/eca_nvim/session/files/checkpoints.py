"""Checkpoints: the workspace before each prompt and after each turn, kept across restarts.

Rules kept here:
- One thing at a time, in a thread, and nobody waits for it but who asks for a list or an undo.
- Before files are restored, the workspace as it is becomes a checkpoint, too: that can be undone.
- Only what was shown is restored: a file that has changed since stays, and is named.
- If the store fails, one line says so and the chats go on.
"""

import errno
import os
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

import anyio
from msgspec import Struct

from eca_nvim.digests import name_digest
from eca_nvim.disk.replacing import remove, replace, set_mode
from eca_nvim.path_risks import Folders, is_project
from eca_nvim.review.checkpoint_store import (
    Change,
    Checkpoint,
    CheckpointStore,
    StoredFile,
)
from eca_nvim.review.git import GitFailed
from eca_nvim.review.snapshots import LINKED
from eca_nvim.threads import run_in_thread

MIB: Final = 1 << 20
NS_PER_DAY: Final = 86_400 * 10**9
MOST_NAMED: Final = 50
"""Paths that are kept beside a turn's end, at most."""

Result = TypeVar("Result")


class Limits(Struct, frozen=True):
    """What is kept (the option `checkpoints`): for how many days, and MiB of all and of a file."""

    enabled: bool = True
    days: float = 14
    size: float = 1024
    max_file: float = 20


class Restored(Struct, frozen=True):
    """The files that were restored, and why others were not."""

    done: Sequence[str]
    failed: Mapping[str, str]


class Checkpoints:
    """The checkpoints of one workspace.

    folder: where everything is saved, None to save nothing. process: that of Neovim.
    """

    def __init__(
        self,
        folder: str | None,
        folders: Folders,
        process: int,
        limits: Limits,
        warn: Callable[[str], None],
        changed: Callable[[], None] = lambda: None,
    ) -> None:
        self._store: CheckpointStore | None = None
        if folder is not None and folders and limits.enabled:
            name = name_digest(os.fsencode("\n".join(folders.first)))
            place = Path(folder, "checkpoints", name)
            self._store = CheckpointStore(place, process, int(limits.max_file * MIB))
        self._folders = folders
        self._limits = limits
        self._warn = warn
        self._changed = changed
        self.known: Sequence[Checkpoint] | None = None
        """What is kept, newest first; None: that was not asked for yet."""
        self._has_warned = False
        self._lock = anyio.Lock()
        self._wanted = deque[Mapping[str, object] | None]()  # what each tree is kept for, if it is
        self._is_wanted = anyio.Event()
        self._begun: dict[str, Checkpoint] = {}  # the last prompt of each chat

    @property
    def roots(self) -> tuple[str, ...]:
        """The folders whose files are stored: those that are projects."""
        return tuple(it for it in self._folders if is_project(it))

    def want(self, about: Mapping[str, object] | None = None) -> None:
        """Take a tree, and keep it for what it is about; None: only so that the next one is quick.

        about: `kind`: a `prompt` that is sent now, or the `end` of a turn; `chat` and `turn`; of a
        prompt the `title` of its chat, and its text, too.
        """
        if self._store is not None:
            self._wanted.append(about)
            self._is_wanted.set()

    async def run(self) -> None:
        """Take the trees that are wanted until cancelled."""
        while True:
            await self._is_wanted.wait()
            self._is_wanted = anyio.Event()
            while self._wanted:
                try:
                    async with self._lock:
                        await run_in_thread(partial(self._take, self._wanted.popleft()))
                except GitFailed as fault:
                    self._say(str(fault))
                if self.known is not None:
                    self._changed()

    def _say(self, fault: str) -> None:
        if not self._has_warned:
            self._has_warned = True
            self._warn(f"no checkpoint was made: {fault}")

    async def _do(self, work: Callable[[], Result]) -> Result:
        async with self._lock:
            return await run_in_thread(work)

    @property
    def _kept(self) -> CheckpointStore:
        if self._store is None:
            raise GitFailed("checkpoints are off: see :help eca-option-checkpoints.enabled")
        return self._store

    def _take(self, about: Mapping[str, object] | None) -> Checkpoint | None:
        """Take a tree, and keep it for what it is; blocks."""
        roots = self.roots
        if not roots:
            return None
        tree = self._kept.take(roots)
        if about is None:
            self._prune()
            return None
        chat = str(about["chat"])
        begun = self._begun.get(chat)
        if about["kind"] == "end" and begun is not None:
            changed = self._kept.changes(begun.tree, tree.id, self.roots)
            names = [_shown(path, self.roots) for path in sorted(changed)[:MOST_NAMED]]
            about = {**about, "count": len(changed), "names": names}
        kept = self._kept.keep(tree.id, time.time_ns(), about)
        self.known = None if self.known is None else [kept, *self.known]
        if about["kind"] == "prompt":
            self._begun[chat] = kept
        return kept

    def _prune(self) -> None:
        """Forget what is too old, and the oldest while all take too much; once a day."""
        if not self._kept.is_due():
            return
        kept, now = self._kept.checkpoints(), time.time_ns()
        old = [it for it in kept if now - it.time > self._limits.days * NS_PER_DAY]
        if self._kept.size() > self._limits.size * MIB:
            spared = [it for it in kept if it not in old and now - it.time < NS_PER_DAY]
            half = [it for it in kept if it not in spared][len(kept) // 2 :]
            old += [it for it in half if it not in old]
        self._kept.drop(it.id for it in old)
        self._kept.prune()

    # --- what the user asks for -------------------------------------------------------------------

    async def load(self) -> None:
        """List what is kept, also by other Neovims. Raises GitFailed."""
        self.known = await self._do(self._kept.checkpoints)

    async def plan(self, checkpoint: Checkpoint) -> Mapping[str, Change]:
        """Return the files that differ from a checkpoint: now, and then. Raises GitFailed."""

        def work() -> Mapping[str, Change]:
            now = self._kept.take(self.roots)
            return self._kept.changes(now.id, checkpoint.tree, self.roots)

        return await self._do(work)

    async def restore(self, checkpoint: Checkpoint, plan: Mapping[str, Change]) -> Restored:
        """Restore the files of a plan that are still as it says. Raises GitFailed."""
        return await self._do(partial(self._restore, checkpoint, plan))

    def _restore(self, checkpoint: Checkpoint, plan: Mapping[str, Change]) -> Restored:
        about = {"kind": "restore", "chat": str(checkpoint.about.get("chat", ""))}
        kept = self._take({**about, "prompt": f"before going back to {_words(checkpoint)}"})
        assert kept is not None
        now = self._kept.changes(kept.tree, checkpoint.tree, self.roots)
        done: list[str] = []
        failed: dict[str, str] = {}
        for path, change in plan.items():
            if path not in now:
                continue  # it is so already
            if now[path] != change:
                failed[path] = "it has changed since, and stays"
                continue
            try:
                self._write(path, change[1])
                done.append(path)
            except (OSError, GitFailed) as fault:
                failed[path] = str(fault)
        return Restored(done, failed)

    def _write(self, path: str, file: StoredFile | None) -> None:
        """Make a file what it was. Raises OSError: it is unchanged then."""
        root = next(it for it in self.roots if path.startswith(f"{it}/"))
        place = os.path.realpath(root) + path.removeprefix(root)
        if os.path.realpath(Path(path).parent) != str(Path(place).parent):
            raise OSError(errno.ELOOP, LINKED)
        if file is None:
            remove(place)
            return
        replace(place, self._kept.content(file.blob), file.mode)
        set_mode(place, file.mode)

    async def drop(self, ids: Sequence[str]) -> None:
        """Delete checkpoints. Raises GitFailed."""
        await self._do(partial(self._kept.drop, ids))
        await self.load()


def _shown(path: str, roots: Sequence[str]) -> str:
    """Return a path relative to the folder that it is in."""
    root = next((it for it in roots if path.startswith(f"{it}/")), "")
    return path.removeprefix(f"{root}/")


def _words(checkpoint: Checkpoint) -> str:
    return str(checkpoint.about.get("prompt", ""))[:60] or checkpoint.id
