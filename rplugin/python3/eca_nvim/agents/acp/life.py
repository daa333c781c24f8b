"""Life: the parts of one agent process that share its connection, and its messages."""

import logging
from collections.abc import Sequence

from msgspec import Struct, field

from eca_nvim.agents.acp.archive import AcpArchive
from eca_nvim.agents.acp.early_messages import size_of
from eca_nvim.agents.acp.introduction import abilities_of
from eca_nvim.agents.acp.link import Link, one_line
from eca_nvim.agents.acp.login import Logins
from eca_nvim.agents.acp.memory import Memory
from eca_nvim.agents.acp.outbox import Outbox
from eca_nvim.agents.acp.requests.consents import Consents
from eca_nvim.agents.acp.requests.dispatch import AgentRequests
from eca_nvim.agents.acp.requests.grants import Granted
from eca_nvim.agents.acp.requests.permissions import Permissions
from eca_nvim.agents.acp.session_setup import McpOptions, SessionSetup
from eca_nvim.agents.acp.sessions import Sessions
from eca_nvim.agents.acp.updates.quirks import EMPTY_TEXTS, WHOLE_PROMPTS
from eca_nvim.agents.base import EditorServices, KeptProjects, Workspace
from eca_nvim.agents.process_agent import ProcessOptions, events_of
from eca_nvim.chat.vocabulary import agent_events
from eca_nvim.chat.vocabulary.events import ApprovalWithdrawn
from eca_nvim.jsonrpc import Request
from eca_nvim.protocol import acp
from eca_nvim.protocol.acp import elicitation, lifecycle
from eca_nvim.protocol.acp.updates import SessionUpdated
from eca_nvim.transport import Incoming

logger = logging.getLogger(__name__)


class KeptOfChats(Struct, frozen=True):
    """What outlives a process: the sessions of the chats, and what is allowed in them.

    projects: what else is a project than a repository.
    """

    memory: Memory
    projects: KeptProjects
    granted: Granted = field(default_factory=Granted)


class AcpOptions(ProcessOptions, frozen=True, kw_only=True):
    """How to run an agent.

    kept: what the processes before this one have left of the chats. mcp: its MCP servers.
    """

    kept: KeptOfChats
    mcp: McpOptions = McpOptions("")


class Life:
    """The parts of an agent that share one connection."""

    def __init__(
        self, link: Link, options: AcpOptions, workspace: Workspace, services: EditorServices
    ) -> None:
        kept, folders = options.kept, workspace.folders
        self.link = link
        self.connection = link.connection
        self.setup = SessionSetup(link.program.folder, folders=folders)
        self.sessions = Sessions(link, self.setup, kept.memory, self.receive)
        self.logins = Logins(link)
        consents = Consents(Permissions(link, kept.granted), folders, kept.projects)
        self.requests = AgentRequests(link, self.sessions, consents, services, options.guard)
        self.outbox = Outbox(link, self.sessions, self.requests)
        self.archive = AcpArchive(link, self.sessions, self.outbox.stop)
        self.title = ""
        self._mcp = options.mcp

    def introduced(self, result: lifecycle.InitializeResult) -> None:
        """Note what the agent can do, and emit it."""
        can, agent = result.agent_capabilities, result.agent_info or lifecycle.Implementation("")
        self.title = one_line(f"{agent.title or agent.name} {agent.version}")
        self.requests.files.gets_empty_text = agent.name in EMPTY_TEXTS
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
                if told := events_of(message, self._read, self.requests.fail):
                    self.link.emit(*told)  # the line about a bug of ours

    def _read(self, message: Incoming) -> Sequence[agent_events.AgentEvent]:
        if isinstance(message, Request):
            self.requests.start(message)
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
                self.requests.withdraw(request_id)
            case elicitation.ElicitationCompleted():
                self.requests.elicitations.completed(received.elicitation_id)
            case acp.Unknown(method):
                logger.debug("skipped %s: it is not known here", method)
        return ()

    def _update(self, updated: SessionUpdated, message: Incoming) -> None:
        session = self.sessions.by_id.get(updated.session_id)
        if session is not None:
            told = session.receive(updated.update, size_of(message))
            for event in told:
                if isinstance(event, ApprovalWithdrawn):
                    self.requests.permissions.supersede(session, event.call.id)
            self.link.say(session.chat_id, *told)
        elif not self.sessions.keep_early(updated.session_id, message):
            logger.debug("skipped an update of an unknown session")
