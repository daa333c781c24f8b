"""Completion: answers the intent `complete` with contexts, commands and paths.

Rules kept here:
- A name is offered once, as its first owner describes it.
- Every key asks again, so what an agent may announce is limited: the rest is not offered.
- An address is offered only if `lua/eca/context/tokens.lua` reads it as one.
- The first answer comes from what is known already. What the agent and a new listing of the files
  add is appended: nothing that was answered changes its place.
- A newer query of the same chat and trigger ends an older one, also its search and its request.
- Nothing is started and no chat is created. An agent that cannot answer is noted in the log alone.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Final, TypeAlias

import anyio
from msgspec.structs import asdict

from eca_nvim.agents.archive import AgentLacks, AgentRefused
from eca_nvim.agents.base import Agent, AgentFault
from eca_nvim.agents.queries import FoundCommand, FoundContext, FoundPath, FoundResource, Queries
from eca_nvim.chat.model.chat import Chat
from eca_nvim.chat.text.safe_text import literal_name, one_line
from eca_nvim.chat.vocabulary import completion
from eca_nvim.session.chats import Chats
from eca_nvim.session.completion.fuzzy import matches, ranked
from eca_nvim.session.completion.names import FolderIndex, typable
from eca_nvim.session.completion.paths import Writer, is_rooted, path_item, path_items, unescaped
from eca_nvim.session.servers import Servers
from eca_nvim.session.view import View
from eca_nvim.threads import run_in_thread

MOST_COMMANDS: Final = 1000
LONGEST_NAME: Final = 200
LONGEST_DETAIL: Final = 2000
"""Characters of a description, and of the name of an argument, that are shown."""
MOST_ARGUMENTS: Final = 100
MOST_WORDS: Final = 4
"""Words of an announced name, such as `memory show`: the agent finds it in the prompt by itself."""


def pushed(command: completion.Command) -> FoundCommand:
    """Return a command that the agent announced in a chat."""
    if not command.hint:
        return FoundCommand(command.name, description=command.description)
    hint = command.hint if command.hint.startswith(("<", "[")) else f"<{command.hint}>"
    shown = f"{hint} {command.description}"  # a menu shows the beginning
    return FoundCommand(
        command.name, description=shown, arguments=(completion.Argument(command.hint),)
    )


def command_items(
    commands: Iterable[FoundCommand], *, most_words: int = 1
) -> Iterator[completion.CompletionItem]:
    """Yield the items of commands whose name can be typed, in so many words."""
    for command in islice(commands, MOST_COMMANDS):
        if len(command.name) > LONGEST_NAME:
            continue
        name, words = command.name, command.name.split()
        if typable(name) and name == " ".join(words) and 1 <= len(words) <= most_words:
            arguments = tuple(map(_safe, command.arguments[:MOST_ARGUMENTS]))
            detail = one_line(command.description[:LONGEST_DETAIL])
            yield completion.CompletionItem(
                name, literal_name(name), command.kind, detail, arguments
            )


def _safe(argument: completion.Argument) -> completion.Argument:
    name = one_line(argument.name[:LONGEST_DETAIL])
    description = one_line(argument.description[:LONGEST_DETAIL])
    return completion.Argument(name, description, argument.required)


def matching(
    query: str, items: Iterable[completion.CompletionItem]
) -> list[completion.CompletionItem]:
    """Return the items whose name matches a query, the best first; an empty one changes nothing."""
    by_name: dict[str, completion.CompletionItem] = {}
    for item in items:
        by_name.setdefault(item.text, item)
    if not query:
        return list(by_name.values())
    return [by_name[rank[-1]] for rank in ranked(query, by_name, len(by_name))]


_URL = re.compile(r"https?://[!-~]*[A-Za-z0-9/]")
_URI = re.compile(r"[A-Za-z][\w+.-]*://[!-~]*[A-Za-z0-9/]")


def words(query: str) -> list[completion.CompletionItem]:
    """Return the contexts that are no path: a page whose address was typed, the cursor."""
    if _URL.fullmatch(query):
        return [completion.CompletionItem(query, query, completion.ItemKind.URL, "web page")]
    cursor = completion.CompletionItem(
        "cursor", "cursor", completion.ItemKind.CURSOR, "where you are in the code"
    )
    return matching(query, [cursor])


def context_items(
    query: str, found: Iterable[FoundContext], folders: Collection[str], writer: Writer
) -> Iterator[completion.CompletionItem]:
    """Yield the items of contexts that the agent offers; blocks, so runs in a thread.

    An agent may offer some for any query: what has not its letters is left out, and so are the
    folders of the workspace.
    """
    wanted = unescaped(query)
    for context in found:
        match context:
            case FoundPath(path):
                item = path_item(path, writer) if path not in folders else None
            case FoundResource(uri):
                item = _resource(context) if _URI.fullmatch(uri) else None
        if item is not None and matches(wanted, f"{item.label} {item.detail}"):
            yield item


def _resource(found: FoundResource) -> completion.CompletionItem:
    described = (found.server, found.name, found.description)
    detail = " · ".join(filter(None, map(one_line, described)))
    return completion.CompletionItem(
        found.uri, literal_name(found.uri), completion.ItemKind.RESOURCE, detail
    )


class Superseded(Exception):
    """Raised in a search when a newer query has come."""


class Answer:
    """The items so far; `waiting`: how many sources have not given theirs."""

    def __init__(self, query: completion.Complete, view: View) -> None:
        self.query = query
        self.scope = anyio.CancelScope()
        self.waiting = 0
        self._view = view
        self._items: dict[str, completion.CompletionItem] = {}

    def check(self) -> None:
        """Raise Superseded if a newer query has come; called from threads."""
        if self.scope.cancel_called:
            raise Superseded

    def add(self, items: Iterable[completion.CompletionItem]) -> None:
        """Append what a source gave; send the answer if that changes it."""
        self.waiting -= 1
        before = len(self._items)
        for item in items:
            if len(self._items) < completion.MOST_ITEMS:
                self._items.setdefault(item.text, item)
        if len(self._items) > before or not self.waiting:
            self._send()

    def _send(self) -> None:
        asked = self.query
        items = [_table(item) for item in self._items.values()]
        final = not self.waiting
        self._view.push(
            [completion.SetCompletions(asked.chat, asked.trigger, asked.query, items, final)]
        )


def _table(item: completion.CompletionItem) -> dict[str, object]:
    return asdict(item) | {"arguments": [asdict(it) for it in item.arguments]}


MOST_LOCAL: Final = completion.MOST_ITEMS - 40
"""Most paths of an answer before the agent's are appended."""

Source: TypeAlias = Callable[[], Awaitable[Iterable[completion.CompletionItem]]]
"""Returns items for a query."""
AskAgent: TypeAlias = Callable[[Agent, Queries], Awaitable[Iterable[completion.CompletionItem]]]
"""Returns items of an agent."""

log = logging.getLogger(__name__)


async def _nothing() -> Iterable[completion.CompletionItem]:
    return ()


class Completion:
    """Answers queries."""

    def __init__(
        self,
        chats: Chats,
        servers: Servers,
        view: View,
        templates: Source,
    ) -> None:
        self._chats = chats
        self._servers = servers
        self._view = view
        self._templates = templates
        self._indexes: dict[str, FolderIndex] = {}
        self._running: dict[tuple[str, str], Answer] = {}
        self._commands: dict[str, tuple[Agent, list[completion.CompletionItem]]] = {}

    async def answer(self, query: completion.Complete) -> None:
        """Answer a query, maybe several times."""
        key, answer = (query.chat, query.trigger), Answer(query, self._view)
        older, self._running[key] = self._running.get(key), answer
        if older is not None:
            older.scope.cancel()
        with answer.scope:
            await self._add_all(answer)
        if self._running.get(key) is answer:
            del self._running[key]

    async def _add_all(self, answer: Answer) -> None:
        """Add the items of one source after the other: what comes first is shown first."""
        chat = self._chats.table.get(answer.query.chat)
        is_command = completion.Trigger(answer.query.trigger) is completion.Trigger.COMMAND
        sources = self._commands_for(answer, chat) if is_command else self._paths_for(answer, chat)
        answer.waiting = len(sources)
        for source in sources:
            answer.add(await source())

    # --- commands -------------------------------------------------------------------------------

    def _commands_for(self, answer: Answer, chat: Chat | None) -> list[Source]:
        """Return the sources of commands, the agent's before templates of the same name.

        If the agent is about to answer for the first time, the templates wait for that.
        """
        query, known = answer.query.query, self._known_commands(chat)
        pushes = map(pushed, () if chat is None else chat.commands)
        announced = command_items(pushes, most_words=MOST_WORDS)

        async def first() -> Iterable[completion.CompletionItem]:
            templates = () if waits else await self._templates()
            return matching(query, (*announced, *known, *templates))

        async def of_agent(agent: Agent, queries: Queries) -> Iterable[completion.CompletionItem]:
            commands = list(command_items(await queries.commands(answer.query.chat)))
            self._commands[chat.server_name if chat else ""] = agent, commands
            return matching(query, (*commands, *await self._templates()))

        async def templates() -> Iterable[completion.CompletionItem]:
            return matching(query, await self._templates())

        asks = not query or not known
        later = self._of_agent(chat, of_agent, otherwise=templates) if asks else []
        is_ready = chat is not None and self._servers.of(chat).process.agent is not None
        waits = bool(later) and not known and is_ready
        return [first, *later]

    def _known_commands(self, chat: Chat | None) -> list[completion.CompletionItem]:
        """Return the commands that the chat's agent gave last; none of an earlier process."""
        if chat is None or chat.server_name not in self._commands:
            return []
        agent, commands = self._commands[chat.server_name]
        return commands if agent is self._servers.of(chat).process.agent else []

    # --- paths and other contexts ---------------------------------------------------------------

    def _paths_for(self, answer: Answer, chat: Chat | None) -> list[Source]:
        query = answer.query.query
        is_context = answer.query.trigger == completion.Trigger.CONTEXT
        folders = self._chats.folders if chat is None else chat.settings.folders
        writer = Writer(answer.query.folder or next(iter(folders), "/"))
        indexes = [self._index(folder) for folder in folders]
        search = partial(path_items, query, indexes, writer, MOST_LOCAL, answer.check)

        async def first() -> Iterable[completion.CompletionItem]:
            return [*(words(query) if is_context else ()), *await run_in_thread(search)]

        async def listed_again() -> Iterable[completion.CompletionItem]:
            for index in outdated:
                await index.refresh()
            return await run_in_thread(search)

        async def of_agent(_: Agent, queries: Queries) -> Iterable[completion.CompletionItem]:
            ask = queries.contexts if is_context else queries.files
            found: Sequence[FoundContext] = await ask(answer.query.chat, query)
            return await run_in_thread(lambda: list(context_items(query, found, folders, writer)))

        if is_rooted(query):
            return [first]
        active_at = max((chat.turn.last_activity_ms for chat in self._chats), default=0) / 1000
        outdated = [index for index in indexes if not index.is_fresh(active_at)]
        again = [listed_again] if outdated else []
        return [first, *again, *self._of_agent(chat, of_agent)]

    def _index(self, folder: str) -> FolderIndex:
        return self._indexes.setdefault(folder, FolderIndex(folder))

    # --- the agent ------------------------------------------------------------------------------

    def _of_agent(
        self, chat: Chat | None, ask: AskAgent, otherwise: Source = _nothing
    ) -> list[Source]:
        """Return the agent as a source, if it runs or sleeps; it is asked once it is ready.

        otherwise: the source if the agent does not answer.
        """
        if chat is None:
            return []
        process = self._servers.of(chat).process
        if not process.may_complete:
            return []

        async def source() -> Iterable[completion.CompletionItem]:
            try:
                agent = await process.ready()
                if agent.queries is not None:
                    return await ask(agent, agent.queries)
            except (AgentRefused, AgentFault) as fault:
                level = logging.DEBUG if isinstance(fault, AgentLacks) else logging.INFO
                log.log(level, "the agent does not complete: %s", fault)
            return await otherwise()

        return [source]
