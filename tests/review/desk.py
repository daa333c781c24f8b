"""A chat whose tools change real files, with a ledger that watches."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from tests.chat.driver import ENDED, Driver
from tests.support.calls import eca_call

from eca_nvim.chat.handlers import reducer
from eca_nvim.chat.model.chat import Chat
from eca_nvim.chat.update import Update
from eca_nvim.chat.vocabulary.call_details import ToolCall
from eca_nvim.chat.vocabulary.events import ChatEvent, ToolFinished, ToolRequested
from eca_nvim.review.change_list import Present
from eca_nvim.review.checkpoint_store import CheckpointStore
from eca_nvim.review.commands import Commands, Watch
from eca_nvim.review.git import GitFailed
from eca_nvim.review.ledger import Ledger
from eca_nvim.review.snapshots import Blobs, take_snapshot
from eca_nvim.review.tree_changes import Found, TreeRequest, compare
from eca_nvim.review.turn_changes import TurnChanges
from eca_nvim.review.undo import plan_undo, undo
from eca_nvim.review.unreviewed import unreviewed

Value: TypeAlias = Any


def witnessed(driver: Driver, ledger: Ledger, event: ChatEvent) -> None:
    """Apply an event to a chat while a ledger watches."""
    event = driver.peeks.peek("", event)
    update = Update(driver.chat, driver.chat.root, driver.now)
    reducer.change(update, event)
    driver.take(update.finish())
    ledger.record(driver.chat, event, update.about)


class Trees:
    """A ledger whose trees are taken, and compared, at once; `store`: where, if anywhere."""

    def __init__(self, folder: Path, store: Path | None) -> None:
        self.folder = folder
        self.store = CheckpointStore(store, os.getpid()) if store else None
        self.blobs = Blobs(self._stored)
        self.commands = Commands(self.take, lambda path: take_snapshot(path, self.blobs))
        self.commands.ready = self._compare
        self.ledger = Ledger(self.blobs, self.commands, self._turn_ended)

    def _stored(self, digest: str) -> bytes:
        if self.store is None:
            raise OSError(digest)
        try:
            return self.store.content(digest)
        except GitFailed as fault:
            raise OSError(digest) from fault

    def take(self, until: int | None = None) -> TreeRequest:
        """Take a tree; `until`: as a prompt was sent."""
        request, roots = TreeRequest(), (str(self.folder),)
        if self.store is None:
            request.settle(None, "no store")
        else:
            request.settle(self.store.take(roots, until))
        return request

    def turn_began(self, chat: Chat) -> None:
        self.commands.turn_began(self.ledger.turn(chat), self.take())

    def _turn_ended(self, _chat: Chat, turn: TurnChanges) -> None:
        self.commands.turn_ended(turn, self.take())

    def _compare(self, watch: Watch) -> None:
        found: Found = {}
        if watch.trees is not None and self.store is not None:
            asked = [*watch.turn.unsure] if watch.is_turn else []
            found = compare(self.store, *watch.trees, asked)
        if self.commands.attribute(watch, found):
            self.ledger.is_changed(watch.turn)


class Desk:
    """A chat whose tools change real files, with a ledger that watches."""

    def __init__(self, folder: Path, store: Path | None = None) -> None:
        self.folder = folder
        self.driver = Driver((str(folder),))
        self.trees = Trees(folder, store)
        self.ledger = self.trees.ledger
        self.calls = 0
        self.edited: dict[str, str] = {}

    def turn(self, prompt: str = "do it") -> None:
        """Begin a turn, after the end of the one before."""
        if self.driver.chat.turn.number:
            self.hear(ENDED)
        self.driver.run(prompt)
        self.trees.turn_began(self.driver.chat)

    def hear(self, event: ChatEvent) -> None:
        witnessed(self.driver, self.ledger, event)

    def request(self, name: str, *, waits: bool = True, **fields: Value) -> ToolCall:
        self.calls += 1
        call = eca_call(f"call-{self.calls}", name, **fields)
        self.hear(ToolRequested(call, needs_approval=waits))
        return call

    def approved(self, call: ToolCall, tree: TreeRequest | None = None) -> None:
        """Approve a call that waits."""
        block = self.driver.chat.root.calls[call.id].id
        self.ledger.approved("chat", block, tree)

    def write(self, name: str, content: bytes | None, *, waits: bool = True) -> None:
        """Let a tool write a whole file, or delete it."""
        path = self.folder / name
        call = self.request("write_file", waits=waits, arguments={"path": str(path)})
        set_content(path, content)
        self.hear(ToolFinished(call))

    def present(self) -> dict[str, Present]:
        paths = {path for turn in self.turns() for path in turn.files}
        return {path: Present(self.ledger.present(path), self.edited.get(path)) for path in paths}

    def turns(self) -> Sequence[TurnChanges]:
        return self.ledger.turns("chat")

    def listed(self) -> list[tuple[Any, ...]]:
        return [
            (it["turn"], Path(str(it["path"])).name, it["kind"], it["line"])
            for it in self.entries()
        ]

    def entries(self) -> list[dict[str, Any]]:
        now = self.present()
        return [
            entry
            for turn in self.turns()
            for path in turn.files
            for entry in unreviewed(path, [turn], now[path])
        ]

    def plan(self, number: int = -1, only: str | None = None) -> Mapping[str, Any]:
        paths = None if only is None else [str(self.folder / only)]
        found = plan_undo([self.turn_of(number)], self.present(), paths)
        return {Path(str(it["path"])).name: it for it in found.files}

    def turn_of(self, number: int) -> TurnChanges:
        """Return a turn by its number, or the last one."""
        return [turn for turn in self.turns() if number in (-1, turn.number)][-1]

    def undo(self, number: int = -1) -> None:
        outcomes = self.outcomes(self.turn_of(number))
        assert set(outcomes.values()) == {None}, outcomes

    def outcomes(self, *turns: TurnChanges) -> Mapping[str, str | None]:
        """Undo turns (newest first) in all files; return the failures by name."""
        asked = {path: self.ledger.present(path) for turn in turns for path in turn.files}
        return {
            os.path.relpath(it.path, self.folder): it.fault
            for it in undo(turns, asked, self.ledger)
        }


def set_content(path: Path, content: bytes | None) -> None:
    if content is None:
        path.unlink()
    else:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def contents(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}
