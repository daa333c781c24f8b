"""A chat whose shell changes real files; the test decides when to survey."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, TypeAlias

from tests.review.desk import Desk, set_content

from eca_nvim.chat.vocabulary.call_details import ToolCall
from eca_nvim.chat.vocabulary.events import ToolFinished, ToolRunning
from eca_nvim.chat.vocabulary.query_intents import FileWritten
from eca_nvim.review.survey import Survey, differences, survey

Ending: TypeAlias = Literal["written", "given_up"]


class Watched(Desk):
    """A desk with a shell beside its tools."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.turn()
        self.survey()

    @contextmanager
    def surveying(self) -> Iterator[None]:
        """Survey the folder; the body of the `with` runs after the survey has begun."""
        attribution = self.ledger.attribution
        attribution.survey_begins()
        last, began = attribution.last, survey([str(self.folder)], attribution.last).began
        yield
        found = survey([str(self.folder)], last)
        new = Survey(found.files, found.folders, found.excluded, began)
        list(attribution.attribute(new, list(differences(last, new))))

    def survey(self) -> None:
        with self.surveying():
            pass

    def start(self, *, waits: bool = True) -> ToolCall:
        """Let the agent request a command, and approve it if it waits."""
        call = self.request("shell_command", waits=waits, arguments={"command": "do"})
        if waits:
            self.survey()
            self.approved(call, surveyed=True)
        self.hear(ToolRunning(call))
        return call

    def command(self, change: Callable[[], None], *, waits: bool = True) -> None:
        """Run a command to its end, and survey."""
        call = self.start(waits=waits)
        change()
        self.hear(ToolFinished(call))
        self.survey()

    def put(self, name: str, content: bytes | None) -> None:
        set_content(self.folder / name, content)

    def user_writes(self, name: str, content: bytes | None, end: Ending = "written") -> None:
        """Let the user write a file, or delete it, or fail to."""
        path = str(self.folder / name)
        self.ledger.attribution.user_writes(FileWritten(path, "begun"))
        if end == "written":
            self.put(name, content)
        self.ledger.attribution.user_writes(FileWritten(path, end))

    def change(self, **files: bytes | None) -> Callable[[], None]:
        def change() -> None:
            for name, content in files.items():
                self.put(name.replace("__", "/"), content)

        return change
