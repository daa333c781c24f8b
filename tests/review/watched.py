"""A chat whose shell changes real files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Literal, TypeAlias

from tests.review.desk import Desk, set_content

from eca_nvim.chat.vocabulary.call_details import ToolCall
from eca_nvim.chat.vocabulary.events import ToolFinished, ToolRunning
from eca_nvim.chat.vocabulary.query_intents import FileWritten

Ending: TypeAlias = Literal["written", "given_up"]


class Watched(Desk):
    """A desk with a shell beside its tools."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, folder.with_name(f"{folder.name}-store"))
        self.turn()

    def start(self, *, waits: bool = True) -> ToolCall:
        """Let the agent request a command, and approve it if it waits."""
        call = self.request("shell_command", waits=waits, arguments={"command": "do"})
        if waits:
            self.approved(call, self.trees.take())
        self.hear(ToolRunning(call))
        return call

    def command(self, change: Callable[[], None], *, waits: bool = True) -> None:
        """Run a command to its end."""
        call = self.start(waits=waits)
        change()
        self.hear(ToolFinished(call))

    def put(self, name: str, content: bytes | None) -> None:
        set_content(self.folder / name, content)

    def user_writes(self, name: str, content: bytes | None, end: Ending = "written") -> None:
        """Let the user write a file, or delete it, or fail to."""
        path = str(self.folder / name)
        self.trees.commands.user_writes(FileWritten(path, "begun"))
        if end == "written":
            self.put(name, content)
        self.trees.commands.user_writes(FileWritten(path, end))

    def change(self, **files: bytes | None) -> Callable[[], None]:
        def change() -> None:
            for name, content in files.items():
                self.put(name.replace("__", "/"), content)

        return change

    def user_wrote(self, name: str) -> None:
        """Note that the user has written a file."""
        self.trees.commands.user_writes(FileWritten(str(self.folder / name), "written"))

    def look(self) -> None:
        """Ask what the running calls have changed so far."""
        self.trees.commands.look("chat")
