"""An ECA server as an agent: its life cycle, from initialize to the exit.

Rules kept here:
- `inbox` reads the server's notifications, `requests` answers its requests, `outbox` sends what the
  user does, `archive` requests its saved chats. This file manages the connection they share.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from functools import partial
from typing import Final

import anyio
from anyio.abc import TaskGroup
from msgspec import Struct

from eca_nvim.agents.archive import Archive
from eca_nvim.agents.base import (
    NO_FURTHER_FOLDERS,
    EditorServices,
    Emit,
    Workspace,
)
from eca_nvim.agents.eca.archive import EcaArchive
from eca_nvim.agents.eca.chat_ids import ChatIds
from eca_nvim.agents.eca.chat_options import ChatOptions
from eca_nvim.agents.eca.content.proposals import Proposals
from eca_nvim.agents.eca.content.tool_calls import ALWAYS_ID
from eca_nvim.agents.eca.dialect import Dialect, Generation
from eca_nvim.agents.eca.inbox import Inbox, initial_choices
from eca_nvim.agents.eca.introduction import Abilities, Readiness, introduction, workspace_folder
from eca_nvim.agents.eca.login import ProviderLogins, ToolServerLogins
from eca_nvim.agents.eca.outbox import Outbox, one_line
from eca_nvim.agents.eca.prompt.mentions import Mentions
from eca_nvim.agents.eca.queries import EcaQueries
from eca_nvim.agents.eca.replay import Replays
from eca_nvim.agents.eca.requests import Base, ServerRequests
from eca_nvim.agents.eca.turns import Turns
from eca_nvim.agents.login import LoginEnd, LoginUser, LoginWay
from eca_nvim.agents.process_agent import ProcessAgent, ProcessOptions, RawCodec, events_of
from eca_nvim.agents.queries import Queries
from eca_nvim.chat.vocabulary.agent_events import AgentEvent
from eca_nvim.chat.vocabulary.call_details import ToolCall
from eca_nvim.chat.vocabulary.contexts import Context
from eca_nvim.chat.vocabulary.effects import Prompt
from eca_nvim.chat.vocabulary.options import OptionValue
from eca_nvim.chat.vocabulary.requests import ALLOW
from eca_nvim.jsonrpc import Request
from eca_nvim.protocol.eca import DecodeError, decode_result, encode
from eca_nvim.protocol.eca import lifecycle as eca
from eca_nvim.transport import (
    Connection,
    ConnectionClosed,
    Goodbye,
    Incoming,
    RemoteError,
    open_connection,
)

INTRODUCTION_SECONDS: Final = 60.0
"""Time for a server to respond to initialize: a JVM on a busy machine is slow."""

GOODBYE_SECONDS: Final = 3.0
"""Time for a server to shut down: it stops its MCP servers."""

EXIT_SECONDS: Final = 0.5
"""Time for a server to exit after its shutdown, before the close ladder begins."""

_GOODBYE: Final = (Goodbye(eca.Shutdown.method, is_request=True), Goodbye(eca.Exit.method))

logger = logging.getLogger(__name__)


class EcaOptions(ProcessOptions, frozen=True):
    """How to run a server.

    agent: selected at the start. diagnostics_base: the first line and character number in
    diagnostics. repo_map: ask old servers for a map of the project with each prompt.
    """

    agent: str | None = None
    diagnostics_base: Base = 1
    repo_map: bool = True


class _Life(Struct, frozen=True):
    """The parts of an agent that share one connection."""

    connection: Connection
    inbox: Inbox
    requests: ServerRequests
    outbox: Outbox
    archive: EcaArchive
    queries: EcaQueries
    logins: ProviderLogins
    tool_servers: ToolServerLogins
    readiness: Readiness
    proposals: Proposals
    dialect: Dialect
    abilities: Abilities
    turns: Turns
    options: ChatOptions
    emit: Emit

    def receive(self, batch: Sequence[Incoming]) -> None:
        """Emit the events of one read, as one batch.

        A message that makes the server ready ends a batch: later events follow the announcement.
        """
        events: list[AgentEvent] = []
        for message in batch:
            events += events_of(message, self._read, self.requests.fail)
            if self.readiness.is_due:
                self._deliver(events)
                self.readiness.announce()
                events = []
        self._deliver(events)

    def announce(self, ready: Callable[[], None]) -> None:
        """Announce that the server is ready, after what it can do."""
        self.abilities.ready()
        ready()

    def _deliver(self, events: Sequence[AgentEvent]) -> None:
        self.abilities.update()
        if events:
            events = self.turns.read(events)
            self.emit(events)
        if changed := self.options.changed():
            self.emit(changed)
        self.outbox.send_due_stops(events)

    def _read(self, message: Incoming) -> Sequence[AgentEvent]:
        if isinstance(message, Request):
            return self.requests.start(message)
        return self.inbox.read(message.method, message.params)


class EcaAgent(ProcessAgent[_Life]):
    """A server that speaks the ECA protocol."""

    NOUN = "server"
    KIND = "an ECA server"

    def __init__(self, options: EcaOptions, workspace: Workspace, services: EditorServices) -> None:
        super().__init__(options, workspace)
        self._options = options
        self._services = services

    async def close(self) -> None:
        """Shut the server down; use the close ladder if it does not exit."""
        self._leaving = True
        if self._life is None:
            return
        connection = self._life.connection
        with suppress(ConnectionClosed):
            with anyio.move_on_after(GOODBYE_SECONDS), suppress(RemoteError):
                await connection.request(eca.Shutdown.method)
            connection.notify(eca.Exit.method)
            with anyio.move_on_after(EXIT_SECONDS):
                await connection.wait_closed()
        await connection.aclose()

    def prompt(self, prompt: Prompt) -> None:
        """Send a prompt; TurnBegan and TurnEnded follow."""
        self._running.proposals.prompted(prompt.chat_id)
        self._running.outbox.prompt(prompt)

    def steer(self, chat_id: str, text: str, contexts: Sequence[Context] = ()) -> None:
        """Send a message to the running turn."""
        self._running.outbox.steer(chat_id, text, contexts)

    def unsteer(self, chat_id: str) -> None:
        """Withdraw the steers that the running turn has not read."""
        self._running.outbox.unsteer(chat_id)

    def stop(self, chat_id: str) -> None:
        """Ask the server to stop the running turn, and cancel its questions."""
        if not self._running.proposals.stop(chat_id):
            self._running.outbox.stop(chat_id)
        self._running.requests.cancel_questions(chat_id)

    def decide(
        self,
        chat_id: str,
        call_id: str,
        choice_id: str | None,
        shown: ToolCall | None = None,  # noqa: ARG002 - the server does what it has asked about
    ) -> None:
        """Let a waiting tool call run or reject it, make a proposed change or drop it."""
        proposals, outbox = self._running.proposals, self._running.outbox
        if choice_id in (ALLOW.id, ALWAYS_ID):
            if not proposals.approve(chat_id, call_id):
                outbox.approve(chat_id, call_id, remember=choice_id == ALWAYS_ID)
        elif not proposals.reject(chat_id, call_id):
            outbox.reject(chat_id, call_id)

    def answer(self, question_id: str, text: str | None) -> None:
        """Answer a question; None cancels it."""
        chat_id = self._running.requests.answer(question_id, text)
        if text is None:
            self._running.turns.login_left(chat_id)

    def answer_login(self, chat_id: str, text: str | None) -> None:
        """Send what the running login asks for; None cancels it."""
        self._running.outbox.answer_login(chat_id, text)

    async def login_ways(self) -> Sequence[LoginWay]:
        """Return the providers and MCP servers to log in to. Raises AgentRefused."""
        life = self._running
        return [*life.tool_servers.ways(), *await life.logins.ways()]

    async def login(self, way_id: str, user: LoginUser) -> LoginEnd:
        """Log in to a provider or an MCP server. Raises AgentRefused."""
        if self._running.tool_servers.has(way_id):
            return await self._running.tool_servers.log_in(way_id, user)
        return await self._running.logins.log_in(way_id, user)

    async def logout(self, way_id: str | None = None) -> str | None:
        """Log out of a provider or an MCP server. Raises AgentRefused."""
        if way_id is not None and self._running.tool_servers.has(way_id):
            return await self._running.tool_servers.log_out(way_id)
        return await self._running.logins.log_out(way_id)

    def open_chat(self, chat_id: str, *, is_needed: bool = False) -> None:  # noqa: ARG002
        """Emit the options of a chat."""
        self._running.emit(self._running.options.open_chat(chat_id))

    def forget(self, chat_id: str) -> None:
        """Forget a chat."""
        self._running.options.forget(chat_id)

    def set_option(
        self,
        chat_id: str,
        option_id: str,
        value: OptionValue,
        *,
        is_chosen: bool = True,  # noqa: ARG002 - no consent follows from any
    ) -> None:
        """Set a chat's model, agent, variant or trust."""
        self._running.outbox.set_option(chat_id, option_id, value)

    def folder_changed(self, folder: str, *, removed: bool) -> str | None:
        """Tell the server (workspace/didChangeWorkspaceFolders)."""
        if self._running.dialect.generation < Generation.AGENTS:
            return None if removed else NO_FURTHER_FOLDERS
        self._tell_folders(self._running.connection, (folder,), removed=removed)
        return None

    def _tell_folders(
        self, connection: Connection, folders: Sequence[str], *, removed: bool = False
    ) -> None:
        named = tuple(map(workspace_folder, folders))
        event = eca.FoldersEvent(added=() if removed else named, removed=named if removed else ())
        message = eca.DidChangeWorkspaceFolders(event=event)
        with suppress(ConnectionClosed):
            connection.notify(message.method, encode(message))

    @property
    def archive(self) -> Archive:
        """The chats that the server saves."""
        return self._running.archive

    @property
    def queries(self) -> Queries:
        """What the server offers to complete a prompt."""
        return self._running.queries

    def _connect(self) -> AbstractAsyncContextManager[Connection]:
        folders = self._workspace.folders
        return open_connection(
            self._options.command,
            self._receive,
            env=self._options.environment,
            cwd=folders[0] if folders else None,
            process=self._options.process,
            codec=RawCodec(),
            guard=self._options.guard,
            on_stderr=self._options.on_stderr,
        )

    def _begin(self, connection: Connection, tasks: TaskGroup, emit: Emit) -> _Life:
        chats, readiness, mentions, replays = ChatIds(), Readiness(), Mentions(), Replays()
        turns = Turns()

        dialect = Dialect(repo_map=self._options.repo_map)
        options = ChatOptions(chats, turns, dialect)
        abilities = Abilities(dialect, emit)

        def emit_read(events: Sequence[AgentEvent]) -> None:
            abilities.update()
            emit(turns.read(events))

        proposals = Proposals(self._workspace.folders, tasks, emit_read)
        logins, tool_servers = ProviderLogins(connection), ToolServerLogins(connection)
        inbox = Inbox(
            *(chats, readiness, mentions, replays, dialect, proposals, options),
            *(logins, tool_servers),
        )
        base = self._options.diagnostics_base
        return _Life(
            connection=connection,
            inbox=inbox,
            requests=ServerRequests(connection, tasks, self._services, chats, base),
            outbox=Outbox(connection, emit_read, chats, inbox, mentions, dialect, turns, options),
            archive=EcaArchive(
                connection, chats, inbox, mentions, replays, dialect, abilities, options
            ),
            queries=EcaQueries(connection, chats, dialect, mentions.resources),
            logins=logins,
            tool_servers=tool_servers,
            readiness=readiness,
            proposals=proposals,
            dialect=dialect,
            abilities=abilities,
            turns=turns,
            options=options,
            emit=emit,
        )

    def _receive(self, batch: list[Incoming]) -> None:
        self._running.receive(batch)

    async def _start(self, life: _Life, tasks: TaskGroup, ready: Callable[[], None]) -> None:
        """Initialize the server. Raises AgentFault and ConnectionClosed."""
        result = await self._introduce(life.connection)
        life.dialect.read_introduction(result)
        life.emit(life.options.announce(initial_choices(result)))
        life.readiness.models_known(result.models)
        life.readiness.introduced(partial(life.announce, ready))
        tasks.start_soon(life.readiness.wait)

    def _goodbyes(self, life: _Life) -> Sequence[Goodbye]:  # noqa: ARG002
        """Return the messages that ask the server to exit."""
        return _GOODBYE

    async def _introduce(self, connection: Connection) -> eca.InitializeResult:
        """Send initialize and initialized. Raises AgentFault and ConnectionClosed."""
        params = introduction(self._workspace, self._options.agent)
        try:
            with anyio.fail_after(INTRODUCTION_SECONDS):
                raw = await connection.request(params.method, encode(params))
            result = decode_result(eca.InitializeParams, raw)
        except TimeoutError:
            raise self._fault(f"has not answered after {INTRODUCTION_SECONDS:.0f} s") from None
        except (RemoteError, DecodeError) as fault:
            raise self._fault(f"refused to start: {one_line(str(fault))}") from fault
        connection.notify(eca.Initialized.method, encode(eca.Initialized()))
        if added := self._workspace.folders.added:
            self._tell_folders(connection, added)
        return result
