"""Queries: what an ECA server offers to complete a prompt (`queries.Queries`).

Rules kept here:
- A method the server does not know is not called again; servers that are too old are sent none.
- A query always has its text: without one the server fails.
- The server hides contexts that a query lists as added. Ours lists none, because a prompt may name
  a file twice.
- What is said of a resource is noted: older servers want it with a prompt.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, TypeVar

from eca_nvim.agents.archive import AgentLacks, AgentRefused
from eca_nvim.agents.eca.chat_ids import ChatIds
from eca_nvim.agents.eca.dialect import Dialect, Generation
from eca_nvim.agents.eca.outbox import one_line
from eca_nvim.agents.queries import FoundCommand, FoundContext, FoundPath, FoundResource
from eca_nvim.chat.vocabulary.completion import Argument, ItemKind
from eca_nvim.jsonrpc import METHOD_NOT_FOUND
from eca_nvim.protocol.eca import DecodeError, Request, decode_result, encode
from eca_nvim.protocol.eca import contexts as eca
from eca_nvim.protocol.eca.contexts import (
    Command,
    CommandKind,
    QueryCommandsParams,
    QueryContextParams,
    QueryFilesParams,
)
from eca_nvim.transport import Connection, ConnectionClosed, RemoteError

_ResultT = TypeVar("_ResultT")

_SINCE: Final[Mapping[str, Generation]] = {
    QueryContextParams.method: Generation.BEHAVIORS,
    QueryCommandsParams.method: Generation.BEHAVIORS,
    QueryFilesParams.method: Generation.AGENTS,
}
"""The first servers that know a method."""

_KINDS: Final[Mapping[CommandKind, ItemKind]] = {
    CommandKind.MCP_PROMPT: ItemKind.PROMPT,
    CommandKind.SKILL: ItemKind.SKILL,
}


class EcaQueries:
    """The queries of one server process."""

    def __init__(
        self,
        connection: Connection,
        chats: ChatIds,
        dialect: Dialect,
        resources: dict[str, eca.McpResourceContext],
    ) -> None:
        self._connection = connection
        self._resources = resources
        self._chats = chats
        self._dialect = dialect
        self._absent: set[str] = set()

    async def contexts(self, chat_id: str, query: str) -> Sequence[FoundContext]:
        """Return files, folders and resources (chat/queryContext)."""
        params = QueryContextParams(chat_id=self._theirs(chat_id), query=query, contexts=())
        contexts = (await self._ask(params)).contexts
        listed = [it for it in contexts if isinstance(it, eca.McpResourceContext)]
        self._resources.update((it.uri, it) for it in listed)
        return list(_found(contexts))

    async def files(self, chat_id: str, query: str) -> Sequence[FoundPath]:
        """Return files, and folders where the query names one (chat/queryFiles)."""
        params = QueryFilesParams(chat_id=self._theirs(chat_id), query=query)
        found = _found((await self._ask(params)).files)
        return [it for it in found if isinstance(it, FoundPath)]

    async def commands(self, chat_id: str) -> Sequence[FoundCommand]:
        """Return all commands (chat/queryCommands)."""
        params = QueryCommandsParams(chat_id=self._theirs(chat_id), query="")
        return list(map(_command, (await self._ask(params)).commands))

    def _theirs(self, chat_id: str) -> str | None:
        """Return the server's id of a chat that it knows."""
        return self._chats.theirs(chat_id) if self._chats.was_prompted(chat_id) else None

    async def _ask(self, params: Request[_ResultT]) -> _ResultT:
        """Send a request and return its result. Raises AgentRefused."""
        method = params.method
        if method in self._absent or not self._dialect.may_be(_SINCE[method]):
            raise AgentLacks(f"this server does not know {method}")
        try:
            return decode_result(
                type(params), await self._connection.request(method, encode(params))
            )
        except RemoteError as fault:
            if fault.code == METHOD_NOT_FOUND:
                self._absent.add(method)
            raise AgentRefused(f"{method} failed: {one_line(fault.message)}") from fault
        except (ConnectionClosed, DecodeError) as fault:
            raise AgentRefused(f"{method} failed: {one_line(str(fault))}") from fault


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
