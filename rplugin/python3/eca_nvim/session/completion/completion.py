"""Completion: answers the intent `complete` with contexts, commands and paths.

What only the editor knows, such as `@cursor`, it offers by itself; it also ranks what is here.
"""

import logging
import re
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Final, TypeVar

import anyio
from msgspec import to_builtins

from eca_nvim.agents.abilities import (
    AgentLacks,
    AgentRefused,
    FoundCommand,
    FoundContext,
    FoundPath,
    FoundResource,
    Queries,
)
from eca_nvim.agents.base import Agent, AgentFault
from eca_nvim.chat.model.chat import Chat
from eca_nvim.chat.text.safe_text import literal_name, one_line
from eca_nvim.chat.vocabulary import completion
from eca_nvim.session.chats import Chats
from eca_nvim.session.completion.names import FolderIndex, matches, typable
from eca_nvim.session.completion.paths import Writer, is_rooted, path_item, path_items
from eca_nvim.session.server import Server
from eca_nvim.session.servers import Servers
from eca_nvim.session.view import View
from eca_nvim.threads import run_in_thread

# Every key asks again: of what an agent announces beyond these limits, nothing is offered.
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
    """Return the items whose name has the letters of a query, each name once, in their order."""
    by_name: dict[str, completion.CompletionItem] = {}
    for item in items:
        if matches(query, item.text):
            by_name.setdefault(item.text, item)
    return list(by_name.values())


# An address is offered only if `lua/eca/context/tokens.lua` reads it as one.
_URI = re.compile(r"[A-Za-z][\w+.-]*://[!-~]*[A-Za-z0-9/]")


def context_items(
    query: str, found: Iterable[FoundContext], folders: Collection[str], writer: Writer
) -> Iterator[completion.CompletionItem]:
    """Yield the items of contexts that the agent offers; blocks, so runs in a thread.

    An agent may offer some for any query: what has not its letters is left out, and so are the
    folders of the workspace.
    """
    for context in found:
        match context:
            case FoundPath(path):
                item = path_item(path, writer) if path not in folders else None
            case FoundResource(uri):
                item = _resource(context) if _URI.fullmatch(uri) else None
        if item is not None and matches(query, f"{item.label} {item.detail}"):
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
    """The items so far."""

    def __init__(self, query: completion.Complete, view: View) -> None:
        self.query = query
        self.scope = anyio.CancelScope()
        self._view = view
        self._items: dict[str, completion.CompletionItem] = {}

    def check(self) -> None:
        """Raise Superseded if a newer query has come; called from threads."""
        if self.scope.cancel_called:
            raise Superseded

    def add(self, items: Iterable[completion.CompletionItem], *, final: bool) -> None:
        """Append items; send the answer if that changes it, or nothing follows."""
        before = len(self._items)
        for item in items:
            if len(self._items) < completion.MOST_ITEMS:
                # A name is offered once, as its first owner describes it.
                self._items.setdefault(item.text, item)
        if len(self._items) > before or final:
            asked, table = self.query, to_builtins(list(self._items.values()))
            self._view.push(
                [completion.SetCompletions(asked.chat, asked.trigger, asked.query, table, final)]
            )


MOST_LOCAL: Final = completion.MOST_ITEMS - 40
"""Most paths of an answer before the agent's are appended."""

_T = TypeVar("_T")

log = logging.getLogger(__name__)


class Completion:
    """Answers queries. templates: returns those that there are."""

    def __init__(
        self,
        chats: Chats,
        servers: Servers,
        view: View,
        templates: Callable[[], Awaitable[Iterable[completion.CompletionItem]]],
    ) -> None:
        self._chats = chats
        self._servers = servers
        self._view = view
        self._templates = templates
        self._indexes: dict[str, FolderIndex] = {}
        self._running: dict[tuple[str, str], Answer] = {}
        self._commands: dict[str, tuple[Agent, list[completion.CompletionItem]]] = {}

    async def answer(self, query: completion.Complete) -> None:
        """Answer a query, maybe several times: what is there first is shown first."""
        key, answer = (query.chat, query.trigger), Answer(query, self._view)
        older, self._running[key] = self._running.get(key), answer
        if older is not None:
            older.scope.cancel()  # also its search and its request
        chat = self._chats.table.get(query.chat)
        with answer.scope:
            if completion.Trigger(query.trigger) is completion.Trigger.COMMAND:
                await self._add_commands(answer, chat)
            else:
                await self._add_paths(answer, chat)
        if self._running.get(key) is answer:
            del self._running[key]

    async def _add_commands(self, answer: Answer, chat: Chat | None) -> None:
        """Add commands, the agent's before templates of the same name.

        If the agent is about to answer for the first time, the templates wait for that.
        """
        query, known = answer.query.query, self._known_commands(chat)
        process = self._process(chat) if not query or not known else None
        waits = process is not None and not known and process.agent is not None
        announced = command_items(
            map(pushed, () if chat is None else chat.commands), most_words=MOST_WORDS
        )
        templates = () if waits else await self._templates()
        first = matching(query, (*announced, *known, *templates))
        answer.add(first, final=process is None)
        if process is not None and chat is not None:
            commands = await _ask(process, lambda it: it.commands(answer.query.chat))
            items = list(command_items(commands or ()))
            if commands is not None and process.agent is not None:
                self._commands[chat.server_name] = process.agent, items
            answer.add(matching(query, (*items, *await self._templates())), final=True)

    def _known_commands(self, chat: Chat | None) -> list[completion.CompletionItem]:
        """Return the commands that the chat's agent gave last; none of an earlier process."""
        if chat is None or chat.server_name not in self._commands:
            return []
        agent, commands = self._commands[chat.server_name]
        return commands if agent is self._servers.of(chat).process.agent else []

    async def _add_paths(self, answer: Answer, chat: Chat | None) -> None:
        query = answer.query.query
        folders = self._chats.folders if chat is None else chat.settings.folders
        writer = Writer(answer.query.folder or next(iter(folders), "/"))
        indexes = [self._indexes.setdefault(it, FolderIndex(it)) for it in folders]
        search = partial(path_items, query, indexes, writer, MOST_LOCAL, answer.check)
        if is_rooted(query):
            answer.add(await run_in_thread(search), final=True)
            return
        process = self._process(chat)
        active_at = max((chat.turn.last_activity_ms for chat in self._chats), default=0) / 1000
        outdated = [index for index in indexes if not index.is_fresh(active_at)]
        answer.add(await run_in_thread(search), final=not outdated and process is None)
        for index in outdated:
            await index.refresh()
        if outdated:
            answer.add(await run_in_thread(search), final=process is None)
        if process is not None:
            is_context = answer.query.trigger == completion.Trigger.CONTEXT

            def ask(queries: Queries) -> Awaitable[Sequence[FoundContext]]:
                wanted = queries.contexts if is_context else queries.files
                return wanted(answer.query.chat, query)

            found = await _ask(process, ask) or ()
            items = partial(context_items, query, found, folders, writer)
            answer.add(await run_in_thread(lambda: list(items())), final=True)

    def _process(self, chat: Chat | None) -> Server | None:
        """Return the server of a chat, if it runs or sleeps and may complete more."""
        process = None if chat is None else self._servers.of(chat).process
        return process if process is not None and process.may_complete else None


async def _ask(process: Server, ask: Callable[[Queries], Awaitable[_T]]) -> _T | None:
    """Ask an agent once it is ready; None if it does not complete, or was stopped meanwhile."""
    if not process.may_complete:
        return None
    try:
        queries = (await process.ready()).queries
        return None if queries is None else await ask(queries)
    except (AgentRefused, AgentFault) as fault:
        level = logging.DEBUG if isinstance(fault, AgentLacks) else logging.INFO
        log.log(level, "the agent does not complete: %s", fault)
        return None
