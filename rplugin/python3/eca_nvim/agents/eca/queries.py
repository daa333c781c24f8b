"""Queries: what an ECA server offers to complete a prompt (`abilities.Queries`).

A query always has its text: without one the server fails. The server leaves out contexts that a
query lists as added; ours lists none, because a prompt may name a file twice.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from eca_nvim.agents.abilities import FoundCommand, FoundContext, FoundPath, FoundResource
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
    return FoundCommand(command.name, kind, command.description or "", arguments)
