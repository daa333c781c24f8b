"""An agent that changes real files, and a ledger that gets its messages later."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from tests.chat.driver import ENDED, Driver
from tests.review.agent import Agent, Moment
from tests.review.desk import Trees, witnessed

from eca_nvim.chat.vocabulary.events import ChatEvent
from eca_nvim.review.change_list import Present
from eca_nvim.review.turn_changes import FileRecord
from eca_nvim.review.undo import undo
from eca_nvim.review.unreviewed import unreviewed

Contents: TypeAlias = Mapping[str, bytes]


class LateDesk:
    """A working agent, and a ledger that gets its messages later."""

    def __init__(self, folder: Path, store: Path | None = None) -> None:
        self.folder = folder
        self.agent = Agent(folder)
        self.driver = Driver((str(folder),))
        self.trees = Trees(folder, store)
        self.ledger = self.trees.ledger
        self.unheard = deque[ChatEvent]()
        self.driver.run("do it")
        self.trees.turn_began(self.driver.chat)

    def end(self) -> None:
        """Hear all that is left, and the end of the turn."""
        self.hear()
        witnessed(self.driver, self.ledger, ENDED)

    def work(self, *calls: Iterable[Moment]) -> None:
        """Let the agent act, and keep its messages."""
        for call in calls:
            for moment in call:
                self.take(moment)

    def take(self, moment: Moment) -> None:
        """Perform one step."""
        if callable(moment):
            moment()
        else:
            self.unheard.append(moment)

    def hear(self, count: int | None = None) -> None:
        """Pass some messages to the ledger, or all."""
        for _ in range(len(self.unheard) if count is None else min(count, len(self.unheard))):
            event = self.unheard.popleft()
            witnessed(self.driver, self.ledger, event)

    def files(self) -> Mapping[str, FileRecord]:
        return {
            Path(path).name: record
            for turn in self.ledger.turns("chat")
            for path, record in turn.files.items()
        }

    def before(self) -> Mapping[str, bytes | str | None]:
        """Return the content of files by name: None for no file, a text if it is not known."""
        return {name: content(record) for name, record in self.files().items()}

    def listed(self) -> Sequence[str]:
        """List the changes as the user sees them."""
        shown = []
        for turn in self.ledger.turns("chat"):
            for path in turn.files:
                present = Present(self.ledger.snapshot(path))
                found = unreviewed(path, [turn], present)
                shown += [f"{Path(path).name}: {it['text']}" for it in found]
        return shown

    def undo(self) -> Mapping[str, str | None]:
        (turn,) = self.ledger.turns("chat")
        asked = {path: self.ledger.snapshot(path) for path in turn.files}
        return {Path(it.path).name: it.fault for it in undo([turn], asked, self.ledger)}


def content(record: FileRecord) -> bytes | str | None:
    before = record.before
    return before.fault if before.blob is None else before.blob.read()


def contents(folder: Path) -> Contents:
    return {path.name: path.read_bytes() for path in folder.iterdir()}
