"""Completion: answers the intent `complete`.

Rules kept here:
- The first answer comes from what is known already. What the agent and a new listing of the files
  add is appended: nothing that was answered changes its place.
- A newer query of the same chat and trigger ends an older one, also its search and its request.
- Nothing is started and no chat is created. An agent that cannot answer is noted in the log alone.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import partial
from typing import Final, TypeAlias

from eca_nvim.agents.archive import AgentLacks, AgentRefused
from eca_nvim.agents.base import Agent, AgentFault
from eca_nvim.agents.queries import FoundContext, Queries
from eca_nvim.chat.model.chat import Chat
from eca_nvim.chat.vocabulary.completion import MOST_ITEMS, Complete, CompletionItem, Trigger
from eca_nvim.session.chats import Chats
from eca_nvim.session.completion.answer import Answer
from eca_nvim.session.completion.commands import MOST_WORDS, command_items, matching, pushed
from eca_nvim.session.completion.contexts import context_items, words
from eca_nvim.session.completion.index import FolderIndex
from eca_nvim.session.completion.paths import is_rooted, path_items
from eca_nvim.session.completion.written_paths import Writer
from eca_nvim.session.servers import Servers
from eca_nvim.session.view import View, isolated
from eca_nvim.threads import run_in_thread

MOST_LOCAL: Final = MOST_ITEMS - 40
"""Most paths of an answer before the agent's are appended."""

Source: TypeAlias = Callable[[], Awaitable[Iterable[CompletionItem]]]
"""Returns items for a query."""
AskAgent: TypeAlias = Callable[[Agent, Queries], Awaitable[Iterable[CompletionItem]]]
"""Returns items of an agent."""

log = logging.getLogger(__name__)


async def _nothing() -> Iterable[CompletionItem]:
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
        self._commands: dict[str, tuple[Agent, list[CompletionItem]]] = {}

    async def handle(self, query: Complete) -> None:
        """Answer a query, maybe several times."""
        with isolated(self._view, "complete", query):
            key, answer = (query.chat, query.trigger), Answer(query, self._view)
            older, self._running[key] = self._running.get(key), answer
            if older is not None:
                older.scope.cancel()
            with answer.scope:
                await self._answer(answer)
            if self._running.get(key) is answer:
                del self._running[key]

    async def _answer(self, answer: Answer) -> None:
        """Add the items of one source after the other: what comes first is shown first."""
        chat = self._chats.table.get(answer.query.chat)
        is_command = Trigger(answer.query.trigger) is Trigger.COMMAND
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

        async def first() -> Iterable[CompletionItem]:
            templates = () if waits else await self._templates()
            return matching(query, (*announced, *known, *templates))

        async def of_agent(agent: Agent, queries: Queries) -> Iterable[CompletionItem]:
            commands = list(command_items(await queries.commands(answer.query.chat)))
            self._commands[chat.server_name if chat else ""] = agent, commands
            return matching(query, (*commands, *await self._templates()))

        async def templates() -> Iterable[CompletionItem]:
            return matching(query, await self._templates())

        asks = not query or not known
        later = self._of_agent(chat, of_agent, otherwise=templates) if asks else []
        waits = bool(later) and not known and self._servers.agent_of(answer.query.chat) is not None
        return [first, *later]

    def _known_commands(self, chat: Chat | None) -> list[CompletionItem]:
        """Return the commands that the chat's agent gave last; none of an earlier process."""
        if chat is None or chat.server_name not in self._commands:
            return []
        agent, commands = self._commands[chat.server_name]
        return commands if agent is self._servers.of(chat).process.agent else []

    # --- paths and other contexts ---------------------------------------------------------------

    def _paths_for(self, answer: Answer, chat: Chat | None) -> list[Source]:
        query = answer.query.query
        is_context = answer.query.trigger == Trigger.CONTEXT
        folders = self._chats.folders if chat is None else chat.settings.folders
        writer = Writer(answer.query.folder or next(iter(folders), "/"))
        indexes = [self._index(folder) for folder in folders]
        search = partial(path_items, query, indexes, writer, MOST_LOCAL, answer.check)

        async def first() -> Iterable[CompletionItem]:
            return [*(words(query) if is_context else ()), *await run_in_thread(search)]

        async def listed_again() -> Iterable[CompletionItem]:
            for index in outdated:
                await index.refresh()
            return await run_in_thread(search)

        async def of_agent(_: Agent, queries: Queries) -> Iterable[CompletionItem]:
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

        async def source() -> Iterable[CompletionItem]:
            try:
                agent = await process.ready()
                if agent.queries is not None:
                    return await ask(agent, agent.queries)
            except (AgentRefused, AgentFault) as fault:
                level = logging.DEBUG if isinstance(fault, AgentLacks) else logging.INFO
                log.log(level, "the agent does not complete: %s", fault)
            return await otherwise()

        return [source]
