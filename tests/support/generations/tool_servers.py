"""A server of the newest of the three older documents: tools have servers, chats have titles.

An approval can be remembered for the session (`save`).
"""

from collections.abc import Mapping
from typing import Any, ClassVar, TextIO, TypeAlias

from tests.support.generations.behaviors import Behaviors
from tests.support.generations.peer import run

Value: TypeAlias = Any


class ToolServers(Behaviors):
    """Remembers approvals if the client says so."""

    tool_server: ClassVar[Mapping[str, str]] = {"server": "ECA"}
    saves = ("session",)

    def __init__(self, journal: TextIO, words: list[str]) -> None:
        super().__init__(journal, words)
        self._remembers = False

    def approve(self, params: Value) -> None:
        super().approve(params)
        self._remembers = self._remembers or "save" in params

    def is_remembered(self) -> bool:
        return self._remembers

    def finish(self, chat: str) -> None:
        self.content(chat, {"type": "metadata", "title": "A talk of old"}, "system")
        super().finish(chat)


def main() -> None:
    """Serve over standard input and output."""
    run(ToolServers)
