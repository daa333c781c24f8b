"""An ECA server as an agent: its life cycle, from initialize to the exit.

`server` speaks with the process, `inbox` reads what it sends, `requests` answers what it asks,
`outbox` sends what the user does, `archive` requests its saved chats.
"""

import logging
from collections.abc import Callable, MutableMapping, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from typing import Final, Literal

import anyio
from msgspec import Struct, field

from eca_nvim.agents.abilities import Archive, LoginEnd, LoginUser, LoginWay, Queries
from eca_nvim.agents.base import NO_FURTHER_FOLDERS, EditorServices, Emit, Workspace
from eca_nvim.agents.eca.archive import EcaArchive
from eca_nvim.agents.eca.chat_options import ChatOptions
from eca_nvim.agents.eca.contents import ALWAYS_ID
from eca_nvim.agents.eca.grants import EcaGrants
from eca_nvim.agents.eca.inbox import Inbox
from eca_nvim.agents.eca.introduction import Readiness, folders_changed, introduction
from eca_nvim.agents.eca.jobs import EcaJobs
from eca_nvim.agents.eca.login import EcaProviders, ProviderLogins, ToolServerLogins
from eca_nvim.agents.eca.older.chat_ids import ChatIds
from eca_nvim.agents.eca.older.dialect import Dialect
from eca_nvim.agents.eca.older.draft import Draft
from eca_nvim.agents.eca.older.forms import read_notification
from eca_nvim.agents.eca.older.translator import Translator
from eca_nvim.agents.eca.outbox import Outbox
from eca_nvim.agents.eca.prompts import Mentions
from eca_nvim.agents.eca.queries import EcaMemory, EcaQueries
from eca_nvim.agents.eca.replay import Replays
from eca_nvim.agents.eca.requests import Base, ServerRequests
from eca_nvim.agents.eca.server import EcaServer
from eca_nvim.agents.eca.tool_servers import EcaToolServers
from eca_nvim.agents.eca.turns import Turns
from eca_nvim.agents.process_agent import ProcessAgent, ProcessOptions, Tasks, events_of
from eca_nvim.chat.text.safe_text import one_line
from eca_nvim.chat.vocabulary import agent_events, events
from eca_nvim.chat.vocabulary.call_details import PartialWrite, ToolCall
from eca_nvim.chat.vocabulary.contexts import Context
from eca_nvim.chat.vocabulary.effects import Prompt
from eca_nvim.chat.vocabulary.options import ALL_ABILITIES, AbilitiesChanged, Ability, OptionValue
from eca_nvim.chat.vocabulary.previews import Rewrite
from eca_nvim.chat.vocabulary.requests import ALLOW
from eca_nvim.guardian import EXIT_S, GOODBYE_S
from eca_nvim.jsonrpc import Request
from eca_nvim.protocol.eca import DecodeError, chat
from eca_nvim.protocol.eca import lifecycle as eca
from eca_nvim.transport import Connection, ConnectionClosed, Goodbye, Incoming, RemoteError

INTRODUCTION_SECONDS: Final = 60.0
"""Time for a server to respond to initialize: a JVM on a busy machine is slow."""

logger = logging.getLogger(__name__)

_GOODBYE: Final = (Goodbye(eca.Shutdown.method, is_request=True), Goodbye(eca.Exit.method))


class EcaOptions(ProcessOptions, frozen=True):
    """How to run a server.

    agent: selected at the start. diagnostics_base: the number of the first line and character.
    repo_map: ask old servers for a map of the project with each prompt. chat_ids: see `ChatIds`.
    """

    agent: str | None = None
    diagnostics_base: Base = 1
    repo_map: bool = True
    chat_ids: MutableMapping[str, str] = field(default_factory=dict)


class _Life(Struct, frozen=True):
    """The parts of an agent that share one connection."""

    dialect: Dialect
    draft: Draft
    server: EcaServer
    inbox: Inbox
    requests: ServerRequests
    outbox: Outbox
    archive: EcaArchive
    queries: EcaQueries
    memory: EcaMemory
    jobs: EcaJobs
    providers: EcaProviders
    grants: EcaGrants
    logins: ProviderLogins
    tool_servers: EcaToolServers
    tool_server_logins: ToolServerLogins
    readiness: Readiness
    turns: Turns
    options: ChatOptions
    emit: Emit

    def read(self, message: Incoming) -> Sequence[agent_events.AgentEvent]:
        """Turn one message of the server into events; a malformed one is skipped: hot path."""
        if isinstance(message, Request):
            return self.requests.start(message)
        try:
            received = read_notification(message.method, message.params)
        except (DecodeError, RecursionError) as fault:
            logger.warning("skipped a message: %s", fault)
            return ()
        said: list[agent_events.AgentEvent] = []
        for todays in self.server.translator.read(received):
            said += self.inbox.read(todays)
        return said


class EcaAgent(ProcessAgent[_Life]):
    """A server that speaks the ECA protocol."""

    NOUN = "server"
    KIND = "an ECA server"

    def __init__(self, options: EcaOptions, workspace: Workspace, services: EditorServices) -> None:
        super().__init__(options, workspace)
        self._options = options
        self._services = services
        self._able: frozenset[Ability] | None = None  # what was announced that the server can do

    async def close(self) -> None:
        """Shut the server down; use the close ladder if it does not exit."""
        self._leaving = True
        if (connection := self._connection) is None:
            return
        with anyio.move_on_after(GOODBYE_S), suppress(RemoteError, ConnectionClosed):
            await connection.request(eca.Shutdown.method)
        connection.notify(eca.Exit.method)
        with anyio.move_on_after(EXIT_S):
            await connection.wait_closed()
        await connection.aclose()

    def prompt(self, prompt: Prompt, *, in_place: bool = False) -> None:
        """Send a prompt; TurnBegan and TurnEnded follow."""
        if self._options.paths is not None:
            prompt = self._covered_prompt(prompt)
        self._running.outbox.prompt(prompt, in_place=in_place)

    def prompt_in_place(self, prompt: Prompt) -> None:
        """Send a prompt of an inline chat if the server has these (chat/inlinePrompt)."""
        self.prompt(prompt, in_place=True)

    def steer(self, chat_id: str, text: str, contexts: Sequence[Context] = ()) -> None:
        """Send a message to the running turn."""
        self._running.outbox.steer(chat_id, text, self._covered(chat_id, contexts))

    def unsteer(self, chat_id: str) -> None:
        """Withdraw the steers the turn has not read (chat/promptSteerRemove)."""
        self._running.server.notify(chat.PromptSteerRemove(chat_id=chat_id))

    def stop(self, chat_id: str) -> None:
        """Ask the server to stop the running turn (chat/promptStop), and cancel its questions."""
        self._running.turns.stopped(chat_id)
        self._running.server.notify(chat.PromptStop(chat_id=chat_id))
        self._running.requests.cancel_questions(chat_id)

    def decide(
        self,
        chat_id: str,
        call_id: str,
        choice_id: str | None,
        shown: ToolCall | None = None,
        writes: Sequence[PartialWrite] = (),
    ) -> None:
        """Let a waiting tool call run (chat/toolCallApprove) or reject it (chat/toolCallReject).

        The server does what it has asked about; `shown` is what the grants say that it covers.
        """
        if shown is not None:
            self._running.grants.answered(shown, always=choice_id == ALWAYS_ID)
        if choice_id not in (ALLOW.id, ALWAYS_ID):
            self._running.server.notify(chat.ToolCallReject(chat_id=chat_id, tool_call_id=call_id))
            return
        if writes:
            self._running.draft.allow_in_part(call_id, writes)
        save: Literal["session"] | None = "session" if choice_id == ALWAYS_ID else None
        approval = chat.ToolCallApprove(chat_id=chat_id, tool_call_id=call_id, save=save)
        self._running.server.notify(approval)

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
        return [*life.tool_server_logins.ways(), *await life.logins.ways()]

    async def login(self, way_id: str, user: LoginUser) -> LoginEnd:
        """Log in to a provider or an MCP server. Raises AgentRefused."""
        if self._running.tool_server_logins.has(way_id):
            return await self._running.tool_server_logins.log_in(way_id, user)
        return await self._running.logins.log_in(way_id, user)

    async def logout(self, way_id: str | None = None) -> str | None:
        """Log out of a provider or an MCP server. Raises AgentRefused."""
        if way_id is not None and self._running.tool_server_logins.has(way_id):
            return await self._running.tool_server_logins.log_out(way_id)
        return await self._running.logins.log_out(way_id)

    def open_chat(self, chat_id: str, *, is_needed: bool = False) -> None:  # noqa: ARG002
        """Emit the options of a chat."""
        self._running.emit(self._running.options.open_chat(chat_id))

    def forget(self, chat_id: str) -> None:
        """Forget a chat."""
        self._running.outbox.forget(chat_id)
        self._running.options.forget(chat_id)
        self._running.turns.deleted(chat_id)

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

    async def rewrite(self, wanted: Rewrite) -> None:
        """Have lines rewritten (rewrite/prompt). Raises AgentRefused."""
        await self._running.outbox.rewrite(wanted)

    def folder_changed(self, folder: str, *, removed: bool) -> str | None:
        """Tell the server (workspace/didChangeWorkspaceFolders)."""
        if fault := self._not_covered(folder):
            return fault
        if not self._running.dialect.takes_further_folders:
            return None if removed else NO_FURTHER_FOLDERS
        self._running.server.notify(folders_changed((folder,), removed=removed))
        return None

    @property
    def archive(self) -> Archive:
        """The chats that the server saves."""
        return self._running.archive

    @property
    def queries(self) -> Queries:
        """What the server offers to complete a prompt."""
        return self._running.queries

    @property
    def grants(self) -> EcaGrants:
        """What the user has always allowed."""
        return self._running.grants

    @property
    def memory(self) -> EcaMemory:
        """What the server remembers across chats."""
        return self._running.memory

    @property
    def jobs(self) -> EcaJobs:
        """The commands that the server runs in the background."""
        return self._running.jobs

    @property
    def tool_servers(self) -> EcaToolServers:
        """The tool servers: those of MCP, and the server's own tools."""
        return self._running.tool_servers

    @property
    def providers(self) -> EcaProviders:
        """Who offers the models."""
        return self._running.providers

    def _connect(self) -> AbstractAsyncContextManager[Connection]:
        folders = self._workspace.folders
        return self._open(folders[0] if folders else None, self._read_stderr)

    def _read_stderr(self, line: str) -> None:
        if self._options.on_stderr is not None:
            self._options.on_stderr(line)
        else:
            logger.info("stderr: %s", line)
        if self._life is not None:
            self._life.tool_servers.said(line)

    def _chat_of(self, wire_id: str) -> str:
        if self._life is None:
            return wire_id
        return self._life.server.translator.ids.by_theirs.get(wire_id, wire_id)

    def _begin(self, connection: Connection, tasks: Tasks, emit: Emit) -> _Life:
        def hear(messages: Sequence[object]) -> None:
            said: list[agent_events.AgentEvent] = []
            for message in messages:
                said += inbox.read(message)
            if said:
                emit(said)

        def tell(chat_id: str, event: events.ChatEvent) -> None:
            emit([events.Addressed(chat_id, event)])

        dialect = Dialect(repo_map=self._options.repo_map, changed=self._announce)
        ids, turns, replays = ChatIds(self._options.chat_ids), Turns(), Replays()
        draft, mentions = Draft(self._workspace.folders, tasks, hear), Mentions()
        translator = Translator(dialect, ids, draft, connection.notify, hear, tell, replays.has)
        server = EcaServer(connection, translator)
        chat_options, readiness = ChatOptions(ids, turns, dialect), Readiness()
        providers, folders = EcaProviders(server, emit), self._workspace.folders
        logins = ProviderLogins(providers)
        tool_servers = EcaToolServers(server, emit, folders, self._options.environment)
        inbox = Inbox(turns, chat_options, mentions, replays, readiness, logins, tool_servers)
        base = self._options.diagnostics_base
        return _Life(
            dialect=dialect,
            draft=draft,
            server=server,
            inbox=inbox,
            requests=ServerRequests(connection, tasks, self._services, ids, base),
            outbox=Outbox(server, tasks, emit, mentions, turns, chat_options),
            archive=EcaArchive(server, inbox, mentions, replays, chat_options, emit),
            queries=EcaQueries(server),
            memory=EcaMemory(server),
            jobs=EcaJobs(server, inbox, emit),
            providers=providers,
            grants=EcaGrants(),
            logins=logins,
            tool_servers=tool_servers,
            tool_server_logins=ToolServerLogins(tool_servers),
            readiness=readiness,
            turns=turns,
            options=chat_options,
            emit=emit,
        )

    def _receive(self, batch: list[Incoming]) -> None:
        """Emit the events of one read, as one batch: hot path."""
        life, connection = self._life, self._connection
        assert life is not None
        assert connection is not None
        said: list[agent_events.AgentEvent] = []
        for message in batch:
            said += events_of(message, life.read, connection.respond_error)
        if said:
            life.emit(said)

    async def _start(self, life: _Life, tasks: Tasks, ready: Callable[[], None]) -> None:
        """Initialize the server. Raises AgentFault and ConnectionClosed."""
        try:
            with anyio.fail_after(INTRODUCTION_SECONDS):
                config = await life.server.introduce(
                    introduction(self._workspace, self._options.agent)
                )
        except TimeoutError:
            raise self._fault(f"has not answered after {INTRODUCTION_SECONDS:.0f} s") from None
        except (RemoteError, DecodeError) as fault:
            raise self._fault(f"refused to start: {one_line(str(fault))}") from fault
        if added := self._workspace.folders.added:
            life.server.notify(folders_changed(added))
        life.emit(life.inbox.read(config))
        tasks.start_soon(self._await_ready, life, ready)

    async def _await_ready(self, life: _Life, ready: Callable[[], None]) -> None:
        """Announce that the server is ready, after what it can do.

        Not earlier: each of its first messages may show that it can do more.
        """
        await life.readiness.wait()
        self._able = ALL_ABILITIES
        self._announce()
        ready()

    def _announce(self) -> None:
        """Announce what the server can do, and what it offers, if that has changed."""
        life = self._life
        if life is None:
            return
        if self._able not in (None, able := life.dialect.abilities):
            self._able = able
            life.emit([AbilitiesChanged(able)])
        if changed := life.options.changed():
            life.emit(changed)

    def _goodbyes(self, life: _Life) -> Sequence[Goodbye]:  # noqa: ARG002
        """Return the messages that ask the server to exit."""
        return _GOODBYE
