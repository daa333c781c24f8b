"""Life: the parts of one agent process that share its connection.

Each message of a read becomes events; all events of one read are emitted as one batch.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import get_args

from anyio.abc import TaskGroup
from msgspec import Struct, field

from eca_nvim.agents.acp.archive import AcpArchive
from eca_nvim.agents.acp.faults import Faults, one_line
from eca_nvim.agents.acp.introduction import Abilities, of_sessions
from eca_nvim.agents.acp.login import Logins, Program
from eca_nvim.agents.acp.memory import Memory
from eca_nvim.agents.acp.openings import size_of
from eca_nvim.agents.acp.option_requests import OptionRequests
from eca_nvim.agents.acp.outbox import Outbox
from eca_nvim.agents.acp.requests.acts import Answers
from eca_nvim.agents.acp.requests.consents import Consents
from eca_nvim.agents.acp.requests.dispatch import AgentRequests, Handler
from eca_nvim.agents.acp.requests.files import Files
from eca_nvim.agents.acp.requests.forms import Elicitations
from eca_nvim.agents.acp.requests.grants import Granted
from eca_nvim.agents.acp.requests.permissions import Permissions
from eca_nvim.agents.acp.requests.terminals import Terminals
from eca_nvim.agents.acp.session_setup import McpOptions, SessionSetup
from eca_nvim.agents.acp.sessions import Sessions
from eca_nvim.agents.acp.updates.quirks import gets_empty_text, sends_whole_prompts
from eca_nvim.agents.base import EditorServices, Emit, KeptProjects, Workspace
from eca_nvim.agents.process_agent import events_of
from eca_nvim.chat.vocabulary import agent_events, options
from eca_nvim.chat.vocabulary.events import Addressed
from eca_nvim.jsonrpc import Notification, Request
from eca_nvim.protocol.acp import (
    DecodeError,
    Unknown,
    client_requests,
    decode_notification,
    elicitation,
    lifecycle,
    messages,
    tool_call,
    updates,
)
from eca_nvim.transport import Connection, Guard, Incoming

logger = logging.getLogger(__name__)


class KeptOfChats(Struct, frozen=True):
    """What outlives a process: the sessions of the chats, and what is allowed in them.

    projects: what else is a project than a repository.
    """

    memory: Memory
    projects: KeptProjects
    granted: Granted = field(default_factory=Granted)


class Life:
    """The parts of an agent that share one connection."""

    def __init__(
        self,
        connection: Connection,
        tasks: TaskGroup,
        workspace: Workspace,
        program: Program,
        faults: Faults,
        kept: KeptOfChats,
        mcp: McpOptions,
        services: EditorServices,
        guard: Guard | None,
        emit: Emit,
    ) -> None:
        self.connection = connection
        self.faults = faults
        self.setup = SessionSetup(first_folder(workspace), folders=workspace.folders)
        self.sessions = Sessions(
            connection, tasks, self.setup, faults, kept.memory, emit, self.receive
        )
        self.logins = Logins(connection, program)
        answers = Answers(connection, emit)
        self.permissions = permissions = Permissions(answers, kept.granted)
        folders, tell = workspace.folders, self._tell
        self.consents = Consents(permissions, kept.granted, folders, kept.projects, tell)
        files = Files(answers, self.consents, services, tasks, tell, self._gets_empty_text)
        self.elicitations = Elicitations(answers)
        self.terminals = Terminals(answers, self.consents, tasks, guard, tell)
        handlers: dict[type, Handler] = {
            tool_call.RequestPermission: permissions,
            client_requests.ReadTextFile: files,
            client_requests.WriteTextFile: files,
            **dict.fromkeys(get_args(messages.TerminalRequest), self.terminals),
        }
        self.requests = AgentRequests(answers, self.sessions, self.elicitations, handlers)
        self.outbox = Outbox(
            connection, self.sessions, self.requests, permissions, self.faults, emit
        )
        self.abilities = Abilities(emit)
        self.archive = AcpArchive(
            *(connection, self.sessions, kept.memory, faults),
            *(self.setup.cwd, self.outbox.stop, self.abilities, emit),
        )
        self.options = OptionRequests(connection, self.sessions, self.faults, emit)
        self.title = ""
        self._agent: lifecycle.Implementation | None = None
        self._mcp = mcp
        self._emit = emit

    def introduced(self, result: lifecycle.InitializeResult) -> None:
        """Note what the agent can do, and emit it."""
        can = result.agent_capabilities
        self.logins.methods = result.auth_methods
        self.logins.can_log_out = can.auth.logout is not None
        self.title = _title(result.agent_info)
        self._agent = result.agent_info
        name = "" if result.agent_info is None else result.agent_info.name
        self.sessions.introduced(can, whole_prompts=sends_whole_prompts(name))
        self.archive.remembers = can.load_session and can.session_capabilities.list is None
        self.outbox.can_prompt = can.prompt_capabilities
        usable, left_out = self._mcp.usable(can.mcp_capabilities)
        self.setup.mcp_servers = usable
        self.setup.takes_folders = can.session_capabilities.additional_directories is not None
        steer = {options.Ability.STEER} if result.meta.steering.supported else set()
        self.abilities.announce({*of_sessions(can), *self.logins.abilities, *steer})
        self._emit([agent_events.MessageShown("warn", line) for line in left_out])
        if result.meta.welcome:
            self._emit([agent_events.Welcomed(result.meta.welcome)])

    def receive(self, batch: Sequence[Incoming]) -> None:
        """Emit the events of one read, as one batch."""
        events: list[agent_events.AgentEvent] = []
        for message in batch:
            events += events_of(message, self._read, self.requests.fail)
        if events:
            self._emit(events)

    def _read(self, message: Incoming) -> Sequence[agent_events.AgentEvent]:
        if isinstance(message, Request):
            return self.requests.start(message)
        try:
            received = decode_notification(message.method, message.params)
        except (DecodeError, RecursionError) as fault:
            logger.warning("skipped a notification: %s", fault)
            return ()
        match received:
            case updates.SessionUpdated():
                return self._update(received, message)
            case lifecycle.CancelRequest(request_id):
                return self.requests.withdraw(request_id)
            case elicitation.ElicitationCompleted():
                return self.elicitations.completed(received)
            case Unknown(method):
                logger.debug("skipped %s: it is not known here", method)
                return ()

    def _tell(self, events: Sequence[agent_events.AgentEvent]) -> None:
        """Emit events about requests, which may end after their chat was forgotten."""
        has_chat = self.sessions.has_chat
        known = [it for it in events if not isinstance(it, Addressed) or has_chat(it.chat_id)]
        if known:
            self._emit(known)

    def _gets_empty_text(self) -> bool:
        agent = self._agent
        return agent is not None and gets_empty_text(agent.name, agent.version)

    def _update(
        self, updated: updates.SessionUpdated, message: Notification
    ) -> Sequence[agent_events.AgentEvent]:
        session = self.sessions.of_id(updated.session_id)
        if session is not None:
            events = session.receive(updated.update, size_of(message))
            self.permissions.close_ended(session, events)
            return events
        if not self.sessions.keep_early(updated.session_id, message):
            logger.debug("skipped an update of an unknown session")
        return ()


def first_folder(workspace: Workspace) -> str:
    """Return the folder of all sessions."""
    return next(iter(workspace.folders), "/")


def _title(agent: lifecycle.Implementation | None) -> str:
    return "" if agent is None else one_line(f"{agent.title or agent.name} {agent.version}")
