"""Makes the session's agents: servers found as the settings say, each by its protocol.

Rule kept here: the modules of a protocol other than ECA's are imported when an agent needs them.
"""

import logging
import subprocess
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from eca_nvim.agents.base import Agent, AgentFault, EditorServices, KeptProjects, Workspace
from eca_nvim.agents.eca.agent import EcaAgent, EcaOptions
from eca_nvim.nvim.guardian_process import Guardian
from eca_nvim.nvim.head_start import HeadStart
from eca_nvim.nvim.settings import Settings
from eca_nvim.server.find import ACP, BadServerOption, ServerCommand, ServerOptions, find_server
from eca_nvim.session import Candidate, KeptSessions

if TYPE_CHECKING:
    from eca_nvim.agents.acp.agent import KeptOfChats
    from eca_nvim.mcp.editor_socket import EditorSocket

Process: TypeAlias = subprocess.Popen[bytes]
OnStderr: TypeAlias = Callable[[str], None]

SECONDS_PER_MINUTE = 60

log = logging.getLogger(__name__)


class Agents:
    """Makes agents (`session.MakeAgent`); changed `settings` apply to the next one.

    `last_agent` returns the agent last chosen in this project for a server: it begins with it.
    `kept_sessions` returns the sessions of a server's chats, by its name.
    `projects` are the folders that the user treats as projects.
    `head_start` is a server that is running already, used once.
    """

    def __init__(
        self,
        settings: Settings,
        workspace: Workspace,
        services: EditorServices,
        guardian: Guardian,
        last_agent: Callable[[str], str | None],
        kept_sessions: Callable[[str], KeptSessions],
        projects: KeptProjects,
        head_start: HeadStart | None,
    ) -> None:
        self.settings = settings
        self._head_start = head_start
        self._guardian = guardian
        self._last_agent = last_agent
        self._kept_sessions = kept_sessions
        self._projects = projects
        self._workspace = workspace
        self._services = services
        self._editor_socket: EditorSocket | None = None
        self._kept: dict[str, KeptOfChats] = {}  # by server

    def __call__(self, server: str) -> Candidate:
        """Use the server that is running already, or find one to start. Raises AgentFault."""
        told = self.settings.servers.get(server, ServerOptions())
        early, process = self._head_start, None
        if early is not None and early.name == server:
            self._head_start = None
            found, process = early.server, early.process
        else:
            try:
                found = find_server(server, self.settings.servers)
            except BadServerOption as fault:
                raise AgentFault(str(fault)) from fault
        warnings: tuple[str, ...] = ()
        if told.mcp and found.protocol != ACP:
            remedy = "set mcpServers in the configuration of ECA"
            warnings = (f"servers.{server}.mcp has no effect: {remedy}",)
        on_stderr = partial(log.info, "%s: stderr: %s", server)
        make = self._acp_agent if found.protocol == ACP else self._eca_agent
        agent = make(server, found, process, on_stderr)
        idle = told.idle * SECONDS_PER_MINUTE
        return Candidate(agent, found.label, found.identity, found.folder, idle, warnings)

    def _eca_agent(
        self, server: str, found: ServerCommand, process: Process | None, on_stderr: OnStderr
    ) -> Agent:
        options = EcaOptions(
            found.command,
            found.environment,
            process=process,
            agent=self._last_agent(server),
            diagnostics_base=self.settings.diagnostics_base,
            repo_map=self.settings.repo_map,
            guard=self._guardian.watch,
            see_off=self._guardian.let_servers_exit,
            on_stderr=on_stderr,
        )
        return EcaAgent(options, self._workspace, self._services)

    def _acp_agent(
        self, server: str, found: ServerCommand, process: Process | None, on_stderr: OnStderr
    ) -> Agent:
        from eca_nvim.agents.acp.agent import AcpAgent, AcpOptions, KeptOfChats  # noqa: PLC0415
        from eca_nvim.agents.acp.memory import Memory  # noqa: PLC0415
        from eca_nvim.agents.acp.setup import McpOptions  # noqa: PLC0415

        mcp = self.settings.servers.get(server, ServerOptions()).mcp
        if server not in self._kept:
            memory = Memory(self._kept_sessions(server))
            self._kept[server] = KeptOfChats(memory, self._projects)
        options = AcpOptions(
            found.command,
            found.environment,
            process=process,
            guard=self._guardian.watch,
            see_off=self._guardian.let_servers_exit,
            on_stderr=on_stderr,
            kept=self._kept[server],
            mcp=McpOptions(server, mcp, found.environment.get("PATH"), self._editor_server),
        )
        return AcpAgent(options, self._workspace, self._services)

    def _editor_server(self) -> Sequence[str]:
        """Return the command of our own MCP server, which listens then. Raises OSError."""
        from eca_nvim.mcp.editor_socket import EditorSocket  # noqa: PLC0415

        if self._editor_socket is None:
            self._editor_socket = EditorSocket(self._services, self._workspace.folders)
        return self._editor_socket.command()
