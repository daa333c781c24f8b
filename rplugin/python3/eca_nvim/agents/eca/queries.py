"""Queries: what an ECA server offers to complete a prompt, and what it remembers.

A query always has its text: without one the server fails. The server leaves out contexts that a
query lists as added; ours lists none, because a prompt may name a file twice.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from eca_nvim.agents.abilities import (
    FoundCommand,
    FoundContext,
    FoundPath,
    FoundResource,
    Remembered,
)
from eca_nvim.agents.eca.server import EcaServer
from eca_nvim.chat.vocabulary.completion import Argument, ItemKind
from eca_nvim.protocol.eca import contexts as eca
from eca_nvim.protocol.eca.contexts import (
    Command,
    CommandKind,
    QueryCommandsParams,
    QueryContextParams,
    QueryFilesParams,
)
from eca_nvim.protocol.eca.memory import MemoryEntry, MemoryListParams

MEMORY_SECONDS: Final = 10.0
"""Time for a server to list its memory: a panel waits."""

_KINDS: Final[Mapping[CommandKind, ItemKind]] = {
    CommandKind.MCP_PROMPT: ItemKind.PROMPT,
    CommandKind.SKILL: ItemKind.SKILL,
}


class EcaQueries:
    """The queries of one server process."""

    def __init__(self, server: EcaServer) -> None:
        self._server = server

    async def contexts(self, chat_id: str, query: str) -> Sequence[FoundContext]:
        """Return files, folders and resources (chat/queryContext)."""
        params = QueryContextParams(chat_id=self._theirs(chat_id), query=query, contexts=())
        return list(_found((await self._server.ask(params)).contexts))

    async def files(self, chat_id: str, query: str) -> Sequence[FoundPath]:
        """Return files, and folders where the query names one (chat/queryFiles)."""
        params = QueryFilesParams(chat_id=self._theirs(chat_id), query=query)
        found = _found((await self._server.ask(params)).files)
        return [it for it in found if isinstance(it, FoundPath)]

    async def commands(self, chat_id: str) -> Sequence[FoundCommand]:
        """Return all commands (chat/queryCommands)."""
        params = QueryCommandsParams(chat_id=self._theirs(chat_id), query="")
        return list(map(_command, (await self._server.ask(params)).commands))

    def _theirs(self, chat_id: str) -> str | None:
        """Return the server's id of a chat that it knows."""
        return chat_id if self._server.ids.was_prompted(chat_id) else None


class EcaMemory:
    """What one server process remembers (`abilities.Memory`)."""

    def __init__(self, server: EcaServer) -> None:
        self._server = server

    async def entries(self) -> Sequence[Remembered]:
        """Return all entries (memory/list). Raises AgentRefused."""
        return [
            *map(_remembered, (await self._server.ask(MemoryListParams(), MEMORY_SECONDS)).entries)
        ]


def _remembered(entry: MemoryEntry) -> Remembered:
    return Remembered(
        path=entry.path,
        name=entry.name or "",
        label=entry.label or entry.tier or "",
        kind=entry.type or "",
        description=entry.description or "",
        tags=entry.tags or (),
        changed_ms=entry.mtime_ms,
    )


def _found(contexts: Iterable[eca.Context]) -> Iterator[FoundContext]:
    """Yield the contexts of kinds that a prompt can name; the user's cursor is known here."""
    for context in contexts:
        match context:
            case eca.FileContext(path=path) | eca.DirectoryContext(path=path):
                yield FoundPath(path)
            case eca.McpResourceContext():
                yield FoundResource(
                    context.uri,
                    context.name or "",
                    context.description or "",
                    context.server or "",
                )
            case _:
                pass


def _command(command: Command) -> FoundCommand:
    arguments = tuple(
        Argument(it.name, it.description or "", bool(it.required)) for it in command.arguments or ()
    )
    kind = _KINDS.get(command.type, ItemKind.COMMAND)
    is_custom = command.type is CommandKind.CUSTOM_PROMPT
    return FoundCommand(command.name, kind, command.description or "", arguments, is_custom)
