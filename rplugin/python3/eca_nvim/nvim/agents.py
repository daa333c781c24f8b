"""Makes the session's agents: servers found as the settings say, each by its protocol.

Rule kept here: the modules of a protocol other than ECA's are imported when an agent needs them.
"""

import logging
import subprocess
from collections.abc import Callable, Container, Iterable, Iterator, MutableMapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from msgspec.structs import replace

from eca_nvim.agents.base import Agent, AgentFault, EditorServices, Workspace
from eca_nvim.agents.eca.agent import EcaAgent, EcaOptions
from eca_nvim.agents.path_map import PathMap
from eca_nvim.digests import name_digest
from eca_nvim.nvim.guardian_process import Guardian
from eca_nvim.nvim.head_start import HeadStart
from eca_nvim.nvim.settings import Settings
from eca_nvim.server.find import ACP, BadServerOption, ServerCommand, ServerOptions, find_server
from eca_nvim.session import Candidate, Persistence

if TYPE_CHECKING:
    from eca_nvim.agents.acp.agent import KeptOfChats
    from eca_nvim.mcp.editor_socket import EditorSocket

Process: TypeAlias = subprocess.Popen[bytes]
OnStderr: TypeAlias = Callable[[str], None]

SECONDS_PER_MINUTE = 60

log = logging.getLogger(__name__)


class Agents:
    """Makes agents (`session.MakeAgent`); changed `settings` apply to the next one.

    `persistence` knows the agent that was last chosen in this project for a server, which begins
    with it. `head_start` is a server that is running already, used once.
    """

    def __init__(
        self,
        settings: Settings,
        workspace: Workspace,
        services: EditorServices,
        guardian: Guardian,
        persistence: Persistence,
        head_start: HeadStart | None,
    ) -> None:
        self.settings = settings
        self._head_start = head_start
        self._guardian = guardian
        self._persistence = persistence
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
                found = find_server(server, self.settings.servers, self.settings.finding.folder)
            except BadServerOption as fault:
                raise AgentFault(str(fault)) from fault
        warnings: tuple[str, ...] = ()
        if told.mcp and found.protocol != ACP:
            remedy = "set mcpServers in the configuration of ECA"
            warnings = (f"servers.{server}.mcp has no effect: {remedy}",)
        on_stderr = partial(log.info, "%s: stderr: %s", server)
        paths = self._paths(server, told)
        make = self._acp_agent if found.protocol == ACP else self._eca_agent
        agent = make(server, found, process, on_stderr, paths)
        idle = told.idle * SECONDS_PER_MINUTE
        return Candidate(agent, found.label, found.identity, found.folder, idle, warnings)

    def _paths(self, server: str, told: ServerOptions) -> PathMap | None:
        """Return the folders of a server that runs elsewhere. Raises AgentFault."""
        if not told.paths:
            return None
        paths = PathMap(server, told.paths)
        if paths.fault is not None:
            raise AgentFault(paths.fault)
        for folder in self._workspace.folders:
            if not paths.covers(folder):
                raise AgentFault(paths.refusal(folder))
        return paths

    def _eca_agent(
        self,
        server: str,
        found: ServerCommand,
        process: Process | None,
        on_stderr: OnStderr,
        paths: PathMap | None,
    ) -> Agent:
        options = EcaOptions(
            found.command,
            found.environment,
            process=process,
            agent=self._persistence.choices(server)("agent"),
            diagnostics_base=self.settings.diagnostics_base,
            repo_map=self.settings.repo_map,
            chat_ids=KeptChatIds(KeptSessions(server, self._persistence)),
            guard=self._guardian.watch,
            see_off=self._guardian.let_servers_exit,
            on_stderr=on_stderr,
            paths=paths,
        )
        workspace = self._workspace
        if paths is not None:  # a server ends when it does not see the process
            workspace = replace(workspace, process_id=None)
        return EcaAgent(options, workspace, self._services)

    def _acp_agent(
        self,
        server: str,
        found: ServerCommand,
        process: Process | None,
        on_stderr: OnStderr,
        paths: PathMap | None,
    ) -> Agent:
        from eca_nvim.agents.acp.agent import AcpAgent, AcpOptions, KeptOfChats  # noqa: PLC0415
        from eca_nvim.agents.acp.memory import Memory  # noqa: PLC0415
        from eca_nvim.agents.acp.requests.grants import Granted  # noqa: PLC0415
        from eca_nvim.agents.acp.setup import McpOptions  # noqa: PLC0415

        mcp = self.settings.servers.get(server, ServerOptions()).mcp
        if server not in self._kept:
            memory = Memory(KeptSessions(server, self._persistence))
            self._kept[server] = KeptOfChats(memory, Granted(self._persistence))
        options = AcpOptions(
            found.command,
            found.environment,
            process=process,
            guard=self._guardian.watch,
            see_off=self._guardian.let_servers_exit,
            on_stderr=on_stderr,
            kept=self._kept[server],
            mcp=McpOptions(
                *(server, mcp, found.environment.get("PATH"), self._editor_server),
                is_elsewhere=paths is not None,
            ),
            paths=paths,
        )
        return AcpAgent(options, self._workspace, self._services)

    def _editor_server(self) -> Sequence[str]:
        """Return the command of our own MCP server, which listens then. Raises OSError."""
        from eca_nvim.mcp.editor_socket import EditorSocket  # noqa: PLC0415

        if self._editor_socket is None:
            self._editor_socket = EditorSocket(self._services, self._workspace.folders)
        return self._editor_socket.command()


class KeptChatIds(MutableMapping[str, str]):
    """The ids that one server has for chats, by ours, where they differ (`ChatIds`)."""

    def __init__(self, sessions: "KeptSessions") -> None:
        self._sessions = sessions

    def __getitem__(self, chat_id: str) -> str:
        theirs = self._sessions.session_of(chat_id)
        if theirs is None:
            raise KeyError(chat_id)
        return theirs

    def __setitem__(self, chat_id: str, theirs: str) -> None:
        self._sessions.keep(chat_id, theirs)

    def __delitem__(self, chat_id: str) -> None:
        self._sessions.drop(chat_id)

    def __iter__(self) -> Iterator[str]:
        return (chat_id for chat_id, *_ in self._sessions.used())

    def __len__(self) -> int:
        return sum(1 for _ in self)


class KeptSessions:
    """The sessions of one server, by its name (`agents.acp.memory.KeptSessions`)."""

    def __init__(self, server: str, persistence: Persistence) -> None:
        self._server = server
        self._persistence = persistence
        self._checked: set[str] = set()
        """Sessions of which we know whether another Neovim uses them."""

    def session_of(self, chat_id: str) -> str | None:
        """Return the id of a chat's session."""
        saved = self._persistence.sessions.get(chat_id)
        return saved.id if saved is not None and saved.server == self._server else None

    def chats_of(self, session_ids: Iterable[str]) -> Sequence[str]:
        """Return the id of the chat that stands for each session, the same in all Neovims."""
        kept = self._persistence.sessions
        bound = {it.id: chat for chat, it in kept.items() if it.server == self._server}
        return [bound.get(it) or self._free_chat_id(it, kept) for it in session_ids]

    def used(self) -> Iterator[tuple[str, str, str, float]]:
        """Yield the bound chats: id, session, title, and when it was used last (s since 1970)."""
        for chat, it in self._persistence.sessions.items():
            if it.server == self._server:
                yield chat, it.id, it.title, it.changed

    def keep(self, chat_id: str, session_id: str, title: str = "") -> int | None:
        """Bind a chat to a session that is in use here now; `title`: of a chat without one.

        Returns the process id of another running Neovim that uses it, the first time.
        """
        other = None
        if session_id not in self._checked:
            self._checked.add(session_id)
            other = next(self._persistence.users(self._server, session_id), None)
        self._persistence.keep_session(chat_id, self._server, session_id, title)
        return other

    def drop(self, chat_id: str) -> None:
        """Forget the session of a chat."""
        if self.session_of(chat_id) is not None:
            self._persistence.drop_session(chat_id)

    def _free_chat_id(self, session_id: str, kept: Container[str]) -> str:
        """Return an id for an unbound session: its first chat may have got a new session since."""
        chat_id = self._chat_id(session_id)
        return self._chat_id(f"{session_id}\n{chat_id}") if chat_id in kept else chat_id

    def _chat_id(self, session_id: str) -> str:
        name = f"{self._server}\n{session_id}"
        return name_digest(name.encode(errors="surrogatepass"))
