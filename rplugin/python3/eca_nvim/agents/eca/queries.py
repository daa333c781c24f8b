"""Queries: what an ECA server offers to complete a prompt or code, and what it remembers.

A query always has its text: without one the server fails. The server leaves out contexts that a
query lists as added; ours lists none, because a prompt may name a file twice.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from eca_nvim.agents.abilities import (
    AgentLacks,
    AgentRefused,
    CodePlace,
    FoundCommand,
    FoundContext,
    FoundPath,
    FoundResource,
    Remembered,
)
from eca_nvim.agents.eca.server import EcaServer, refusal
from eca_nvim.chat.vocabulary.completion import Argument, ItemKind
from eca_nvim.protocol.eca import contexts as eca
from eca_nvim.protocol.eca.code import CompletionItem, CompletionParams
from eca_nvim.protocol.eca.contexts import (
    Command,
    CommandKind,
    QueryCommandsParams,
    QueryContextParams,
    QueryFilesParams,
)
from eca_nvim.protocol.eca.editor import Position
from eca_nvim.protocol.eca.memory import MemoryEntry, MemoryListParams

MEMORY_SECONDS: Final = 10.0
"""Time for a server to list its memory: a panel waits."""

CODE_SECONDS: Final = 35.0
"""Time to complete code: the server itself gives a model 30 s."""
_NOTHING: Final = "No suggestions found"
_REMEDY: Final = "completion.model in the server's config names its model"

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

    async def code(self, place: CodePlace) -> str:
        """Return the text of the one item (completion/inline); an item for another place is none.

        The server knows nothing of the file but its text.
        """
        at = Position(line=place.line, character=place.character)
        params = CompletionParams(doc_text=place.text, doc_version=place.version, position=at)
        try:
            result = await self._server.ask(params, CODE_SECONDS)
            if (error := result.error) is not None:
                raise refusal(params.method, error.code, error.message)
        except AgentLacks:
            raise
        except AgentRefused as fault:
            if str(fault).endswith(_NOTHING):
                return ""
            raise AgentRefused(f"{fault} ({_REMEDY})") from fault
        return next((it.text for it in result.items if _is_for(it, params)), "")

    def _theirs(self, chat_id: str) -> str | None:
        """Return the server's id of a chat that it knows."""
        return chat_id if self._server.ids.was_prompted(chat_id) else None


def _is_for(item: CompletionItem, asked: CompletionParams) -> bool:
    """Return whether an item only inserts a text, and that where and for what was asked."""
    place = item.range
    is_there = place is None or place.start == place.end == asked.position
    return is_there and item.doc_version in (None, asked.doc_version)


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
