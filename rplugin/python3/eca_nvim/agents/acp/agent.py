"""An ACP agent as an agent: its life cycle, from initialize to the exit, and its messages."""

import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Final

import anyio
from msgspec import Struct

from eca_nvim.agents.abilities import LoginEnd, LoginUser, LoginWay
from eca_nvim.agents.acp.archive import AcpArchive
from eca_nvim.agents.acp.link import Link, Program
from eca_nvim.agents.acp.login import Logins
from eca_nvim.agents.acp.memory import Memory
from eca_nvim.agents.acp.outbox import Outbox
from eca_nvim.agents.acp.requests.files import Files
from eca_nvim.agents.acp.requests.forms import Elicitations
from eca_nvim.agents.acp.requests.grants import Granted
from eca_nvim.agents.acp.requests.jobs import TerminalJobs
from eca_nvim.agents.acp.requests.permissions import Permissions
from eca_nvim.agents.acp.requests.terminals import Terminals
from eca_nvim.agents.acp.session import Session, Setting, size_of
from eca_nvim.agents.acp.sessions import Sessions
from eca_nvim.agents.acp.setup import McpOptions, SessionSetup, abilities_of, introduction
from eca_nvim.agents.acp.updates.quirks import EMPTY_TEXTS, WHOLE_PROMPTS
from eca_nvim.agents.base import (
    NO_FURTHER_FOLDERS,
    AgentFault,
    EditorServices,
    Emit,
    Workspace,
)
from eca_nvim.agents.process_agent import ProcessAgent, ProcessOptions, Tasks, events_of
from eca_nvim.agents.trace import Dialect
from eca_nvim.chat.text.safe_text import one_line
from eca_nvim.chat.vocabulary import agent_events, call_details, effects, requests
from eca_nvim.chat.vocabulary.contexts import Context
from eca_nvim.chat.vocabulary.events import ApprovalWithdrawn
from eca_nvim.chat.vocabulary.options import OptionValue
from eca_nvim.guardian import EXIT_S
from eca_nvim.jsonrpc import INVALID_PARAMS, METHOD_NOT_FOUND, CancelForm, LineFraming, Request
from eca_nvim.protocol import acp
from eca_nvim.protocol.acp import (
    DecodeError,
    client_requests,
    decode_result,
    elicitation,
    encode,
    lifecycle,
    tool_call,
)
from eca_nvim.protocol.acp.updates import SessionUpdated
from eca_nvim.spawn import program_name
from eca_nvim.transport import Connection, Goodbye, Incoming, RemoteError

INTRODUCTION_SECONDS: Final = 60.0
"""Time for an agent to respond to initialize."""

_CANCEL: Final = CancelForm(lifecycle.CancelRequest.method, "requestId")

logger = logging.getLogger(__name__)


class KeptOfChats(Struct, frozen=True):
    """What outlives a process: the sessions of the chats, and what is allowed in them."""

    memory: Memory
    granted: Granted


class AcpOptions(ProcessOptions, frozen=True, kw_only=True):
    """How to run an agent.

    kept: what the processes before this one have left of the chats. mcp: its MCP servers.
    """

    kept: KeptOfChats
    mcp: McpOptions = McpOptions("")


class Life:
    """The parts of an agent that share one connection, and who of them reads which message."""

    def __init__(
        self, link: Link, options: AcpOptions, workspace: Workspace, services: EditorServices
    ) -> None:
        kept, folders = options.kept, workspace.folders
        self.link = link
        self.setup = SessionSetup(link.program.folder, folders=folders)
        self.sessions = Sessions(link, self.setup, kept.memory, self.receive)
        self.logins = Logins(link)
        self.permissions = Permissions(link, kept.granted, folders)
        self.files = Files(link, self.permissions, services)
        self.elicitations = Elicitations(link)
        self.terminals = Terminals(link, self.permissions, options.guard)
        self.outbox = Outbox(link, self.sessions, self.cancel)
        self.archive = AcpArchive(link, self.sessions, self.outbox.stop, self.release)
        self.title = ""
        self._mcp = options.mcp

    def introduced(self, result: lifecycle.InitializeResult) -> None:
        """Note what the agent can do, and emit it."""
        can, agent = result.agent_capabilities, result.agent_info or lifecycle.Implementation("")
        self.title = one_line(f"{agent.title or agent.name} {agent.version}")
        self.files.gets_empty_text = agent.name in EMPTY_TEXTS
        self.logins.methods = result.auth_methods
        self.logins.can_log_out = can.auth.logout is not None
        self.sessions.introduced(can, whole_prompts=agent.name in WHOLE_PROMPTS)
        self.archive.remembers = can.load_session and can.session_capabilities.list is None
        self.outbox.can_prompt = can.prompt_capabilities
        self.setup.mcp_servers, left_out = self._mcp.usable(can.mcp_capabilities)
        self.setup.takes_folders = can.session_capabilities.additional_directories is not None
        self.link.announce(abilities_of(result))
        self.link.emit(*(agent_events.MessageShown("warn", line) for line in left_out))
        if result.meta.welcome:
            self.link.emit(agent_events.Welcomed(result.meta.welcome))

    def receive(self, batch: Sequence[Incoming]) -> None:
        """Read the messages of one read, and emit their events together."""
        with self.link.one_batch():
            for message in batch:
                if told := events_of(message, self._read, self.link.refuse):
                    self.link.emit(*told)  # the line about a bug of ours

    def _read(self, message: Incoming) -> Sequence[agent_events.AgentEvent]:
        if isinstance(message, Request):
            self._start(message)
            return ()
        try:
            received = acp.decode_notification(message.method, message.params)
        except (acp.DecodeError, RecursionError) as fault:
            logger.warning("skipped a notification: %s", fault)
            return ()
        match received:
            case SessionUpdated():
                self._update(received, message)
            case lifecycle.CancelRequest(request_id):
                self.link.cancelled(request_id)
            case elicitation.ElicitationCompleted():
                self.elicitations.completed(received.elicitation_id)
            case acp.Unknown(method):
                logger.debug("skipped %s: it is not known here", method)
        return ()

    def _update(self, updated: SessionUpdated, message: Incoming) -> None:
        session = self.sessions.by_id.get(updated.session_id)
        if session is not None:
            told = session.receive(updated.update, size_of(message))
            for event in told:
                if isinstance(event, ApprovalWithdrawn):
                    self.permissions.supersede(session, event.call.id)
            self.link.say(session.chat_id, *told)
        elif not self.sessions.keep_early(updated.session_id, message):
            logger.debug("skipped an update of an unknown session")

    def _start(self, request: Request) -> None:
        """Start to answer a request: each gets exactly one answer, because agents wait."""
        try:
            asked = acp.decode_agent_request(request.method, request.params)
        except (acp.DecodeError, RecursionError) as fault:
            logger.warning("refused a request: %s", fault)
            self.link.refuse(request.id, INVALID_PARAMS, str(fault))
            return
        if isinstance(asked, acp.Unknown):
            logger.debug("refused %s: it is not known here", asked.method)
            self.link.refuse(request.id, METHOD_NOT_FOUND, f"{asked.method} is not known here")
            return
        session = self.sessions.by_id.get(asked.session_id or "")
        if session is None and asked.session_id is not None:
            if not self.sessions.keep_early(asked.session_id, request):
                unknown = f"there is no session {asked.session_id}"
                self.link.refuse(request.id, INVALID_PARAMS, unknown)
            return
        if isinstance(asked, elicitation.CreateElicitation):
            self.elicitations.start(request.id, session, asked)
            return
        assert session is not None  # only an elicitation may be about none, as a login is
        if isinstance(asked, tool_call.RequestPermission):
            self.permissions.start(request.id, session, asked)
        elif isinstance(asked, client_requests.ReadTextFile | client_requests.WriteTextFile):
            self.files.start(request.id, session, asked)
        else:
            self.terminals.start(request.id, session, asked)

    def cancel(self, session: Session) -> None:
        """Answer the open requests of a session: its turn was stopped or has ended.

        The chat has closed them already. What waits for files ends with the user's questions.
        """
        with self.link.one_batch():
            self.permissions.cancel(session)
            self.elicitations.cancel(session)
            self.terminals.cancel(session)

    def release(self, session: Session) -> None:
        """Answer the open requests of a session that is left, and end its commands."""
        self.cancel(session)
        self.terminals.forget(session)


class AcpAgent(ProcessAgent[Life]):
    """An agent that speaks the Agent Client Protocol."""

    NOUN = "agent"
    KIND = "an ACP agent"
    DIALECT = Dialect(LineFraming, "c2a", "a2c")
    SENDS_IMAGES = True

    def __init__(self, options: AcpOptions, workspace: Workspace, services: EditorServices) -> None:
        super().__init__(options, workspace)
        self._options = options
        self._services = services
        folder = next(iter(workspace.folders), "/")
        self._program = Program(options.command, options.environment, folder)

    async def close(self) -> None:
        """Close the sessions and end the agent by its input's end, then by the close ladder."""
        self._leaving = True
        if self._connection is not None:
            self._running.sessions.close_all()
            await self._connection.aclose(EXIT_S)

    def kill(self) -> None:
        """End the agent and its commands at once, without the event loop."""
        super().kill()
        if self._life is not None:
            self._life.terminals.kill_now()

    def leave(self) -> None:
        """Ask the agent to exit while our process ends; its commands end now."""
        super().leave()
        if self._life is not None:
            self._life.terminals.kill_now()

    def open_chat(self, chat_id: str, *, is_needed: bool = False) -> None:
        """Open the session of a chat, or leave that to what needs it."""
        self._running.sessions.open_chat(chat_id, is_needed=is_needed)

    def forget(self, chat_id: str) -> None:
        """Close the session of a chat; requests of the agent in it are answered before."""
        life = self._running
        session = life.sessions.of_chat(chat_id)
        life.release(session)
        life.sessions.forget(chat_id)
        self._options.kept.granted.forget(chat_id)

    def folder_changed(self, folder: str, *, removed: bool) -> str | None:
        """Note that the next session has other folders, if the agent takes them.

        An answer that covers all files of the workspace was given for fewer of them.
        """
        self._options.kept.granted.workspace_changed()
        if fault := self._not_covered(folder):
            return fault
        if not self._running.setup.takes_folders:
            return None if removed else NO_FURTHER_FOLDERS
        return f"opens its next chat {'without' if removed else 'with'}"

    def prompt(self, prompt: effects.Prompt) -> None:
        """Send a prompt; TurnBegan and TurnEnded follow."""
        if self._options.paths is not None:
            prompt = self._covered_prompt(prompt)
        self._running.outbox.prompt(prompt)

    def steer(self, chat_id: str, text: str, contexts: Sequence[Context] = ()) -> None:
        """Send a message to the running turn; SteerTaken follows if the agent takes it."""
        self._running.outbox.steer(effects.Prompt(chat_id, text, self._covered(chat_id, contexts)))

    def stop(self, chat_id: str) -> None:
        """Ask the agent to stop the running turn, and answer its requests."""
        self._running.outbox.stop(chat_id)

    def give_up(self, chat_id: str) -> None:
        """Try another way to open a session that takes long."""
        self._running.sessions.give_up(chat_id)

    def decide(
        self,
        chat_id: str,
        call_id: str,
        choice_id: str | None,
        shown: call_details.ToolCall | None = None,
        writes: Sequence[call_details.PartialWrite] = (),
    ) -> None:
        """Answer the request of a waiting tool call."""
        session = self._running.sessions.of_chat(chat_id)
        session.allow_in_part(shown, writes)
        self._running.permissions.decide(session, call_id, choice_id, shown)

    def answer(self, question_id: str, text: str | None) -> None:  # noqa: ARG002 - a form has fields
        """Cancel a form or a link that the chat has closed."""
        self._running.elicitations.cancel_question(question_id)

    def answer_form(self, question_id: str, content: Mapping[str, requests.Value] | None) -> None:
        """Answer a form, or consent to a link; None declines it."""
        self._running.elicitations.answer_form(question_id, content)

    def withhold(self, chat_id: str) -> effects.Prompt | None:
        """Return the prompt that waits for its session or for an option, and forget it."""
        return self._running.outbox.withhold(chat_id)

    def set_option(
        self, chat_id: str, option_id: str, value: OptionValue, *, is_chosen: bool = True
    ) -> None:
        """Set an option of a chat; OptionsChanged or OptionRefused follows."""
        self._running.outbox.set_option(chat_id, Setting(option_id, value, is_chosen))

    async def login_ways(self) -> Sequence[LoginWay]:
        """Return the ways that the agent has introduced."""
        return self._running.logins.ways()

    async def login(self, way_id: str, user: LoginUser) -> LoginEnd:
        """Log in by one of the ways. Raises AgentRefused."""
        return await self._running.logins.log_in(way_id, user)

    async def logout(self, way_id: str | None = None) -> None:  # noqa: ARG002 - there is one login
        """Log out (logout). Raises AgentRefused."""
        await self._running.logins.log_out()

    @property
    def is_busy(self) -> bool:
        """Whether a command runs in a terminal of ours."""
        return self._life is not None and self._life.terminals.is_running

    @property
    def title(self) -> str:
        """What the agent calls itself, with its version."""
        return "" if self._life is None else self._life.title

    @property
    def grants(self) -> Granted:
        """What the user has allowed for the rest of each chat."""
        return self._options.kept.granted

    @property
    def jobs(self) -> TerminalJobs:
        """The commands in terminals of ours."""
        return self._running.terminals.jobs

    @property
    def archive(self) -> AcpArchive:
        """The sessions that the agent saves."""
        return self._running.archive

    def _connect(self) -> AbstractAsyncContextManager[Connection]:
        return self._open(self._program.folder, self._options.on_stderr, _CANCEL)

    def _chat_of(self, wire_id: str) -> str | None:
        session = None if self._life is None else self._life.sessions.by_id.get(wire_id)
        return None if session is None else session.chat_id

    def _receive(self, batch: list[Incoming]) -> None:
        self._running.receive(batch)

    def _begin(self, connection: Connection, tasks: Tasks, emit: Emit) -> Life:
        link = Link(connection, tasks, self._program, emit)
        return Life(link, self._options, self._workspace, self._services)

    async def _start(self, life: Life, tasks: Tasks, ready: Callable[[], None]) -> None:  # noqa: ARG002
        """Initialize the agent. Raises AgentFault and ConnectionClosed."""
        params = introduction(has_terminals=self._options.paths is None)
        try:
            with anyio.fail_after(INTRODUCTION_SECONDS):
                raw = await life.link.connection.request(params.method, encode(params))
            result = decode_result(lifecycle.InitializeParams, raw)
        except TimeoutError:
            raise self._fault(f"has not answered after {INTRODUCTION_SECONDS:.0f} s") from None
        except (RemoteError, DecodeError) as fault:
            raise self._fault(life.link.line("refused to start", fault)) from fault
        if result.protocol_version != lifecycle.VERSION:
            raise AgentFault(
                f"{program_name(self._options.command)} speaks version {result.protocol_version} "
                f"of the Agent Client Protocol, and this client version {lifecycle.VERSION}: "
                "install a version that fits"
            )
        life.introduced(result)
        ready()

    def _goodbyes(self, life: Life) -> Sequence[Goodbye]:
        """Close the sessions; the end of input asks the agent to exit."""
        return life.sessions.goodbyes()
