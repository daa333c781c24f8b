"""Setup: what we say to an agent when it starts and with each session, and what it can do."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from msgspec import Struct, field

from eca_nvim.chat.text.safe_text import one_line
from eca_nvim.chat.vocabulary.options import Ability
from eca_nvim.path_risks import Folders
from eca_nvim.protocol.acp import Request, encode, lifecycle, sessions
from eca_nvim.protocol.acp.content import NamedValue
from eca_nvim.protocol.acp.sessions import McpCapabilities, McpRemote, McpStdio
from eca_nvim.spawn import find_program

CAPABILITIES: Final[Mapping[str, Any]] = {
    "fs": {"readTextFile": True, "writeTextFile": True},
    "session": {"configOptions": {"boolean": {}}, "notices": {}, "compaction": {}},
    "elicitation": {"form": {}, "url": {}},
    "_meta": {"terminal_output": True},
}
"""Only what this client really does: for anything else an agent would wait for ever."""

_TERMINALS: Final[Mapping[str, Any]] = {
    "terminal": True,
    "auth": {"terminal": True},
    # The first is the older form of `auth.terminal`.
    "_meta": {"terminal-auth": True, **CAPABILITIES["_meta"]},
}

_CLIENT: Final = lifecycle.Implementation(name="eca-nvim", version="1", title="ECA for Neovim")


def introduction(*, has_terminals: bool = True) -> lifecycle.InitializeParams:
    """Build the initialize request; has_terminals: what runs in ours is where the agent is."""
    capabilities = {**CAPABILITIES, **(_TERMINALS if has_terminals else {})}
    return lifecycle.InitializeParams(lifecycle.VERSION, _CLIENT, capabilities)


def abilities_of(result: lifecycle.InitializeResult) -> Iterator[Ability]:
    """Yield what an agent can do, as it introduces itself."""
    can = result.agent_capabilities
    of_sessions = can.session_capabilities
    offered = {
        # One that loads sessions has a list of those that this client remembers.
        Ability.LIST: of_sessions.list is not None or can.load_session,
        Ability.DELETE: of_sessions.delete is not None,
        Ability.RENAME: of_sessions.title is not None,
        Ability.FORK: of_sessions.fork is not None,
        Ability.STEER: result.meta.steering.supported,
        Ability.LOGIN: bool(result.auth_methods),
        Ability.LOGOUT: can.auth.logout is not None,
    }
    yield from (ability for ability, is_offered in offered.items() if is_offered)


EDITOR: Final = "editor"
"""The name of our own server, which the option names with `true`."""


Wired: TypeAlias = dict[str, Any]
"""A server as it is on the wire."""


class _LeftOut(Exception):
    """Raised when a server is left out; the text says why, and what to do.

    Values of variables and headers are secrets: no text has them.
    """


class McpOptions(Struct, frozen=True):
    """What an agent may get.

    agent: the name of the agent in the options. servers: its option `mcp`, by name. path: PATH of
    the agent. editor: starts our own server; returns the command that connects to it. Raises
    OSError. is_elsewhere: the agent runs where other programs and folders are.
    """

    agent: str
    servers: Mapping[str, object] = {}
    path: str | None = None
    editor: Callable[[], Sequence[str]] | None = None
    is_elsewhere: bool = False

    def usable(self, can: McpCapabilities) -> tuple[tuple[Wired, ...], list[str]]:
        """Return the servers that an agent can use, and a line about each other one."""
        usable, lines = list[Wired](), list[str]()
        for name, told in sorted(self.servers.items()):
            try:
                if told is not False:
                    usable.append(encode(self._server(name, told, can)))
            except _LeftOut as why:
                lines.append(one_line(f"servers.{self.agent}.mcp.{name} is left out: {why}"))
        return tuple(usable), lines

    def _server(self, name: str, told: object, can: McpCapabilities) -> McpStdio | McpRemote:
        match told:
            case True if name == EDITOR and self.is_elsewhere:
                raise _LeftOut(f"it runs here, and {self.agent} does not (servers.*.paths)")
            case True if name == EDITOR and self.editor is not None:
                try:
                    program, *arguments = self.editor()
                except OSError as fault:
                    raise _LeftOut(f"it does not start, {fault.strerror or fault}") from fault
                return McpStdio(EDITOR, program, tuple(arguments), ())
            case {"command": [str(program), *arguments], **more}:
                return self._stdio(name, program, arguments, more)
            case {"url": str(url), **more}:
                return _remote(name, url, more, can)
        raise _LeftOut("it needs a command or a url")

    def _stdio(
        self, name: str, program: str, arguments: Sequence[object], more: Mapping[object, object]
    ) -> McpStdio:
        variables = _named(more.get("env"))
        if self.is_elsewhere and program.startswith("/"):
            return McpStdio(name, program, tuple(map(str, arguments)), variables)
        if self.is_elsewhere:
            raise _LeftOut(f"{program!r} must be an absolute path where {self.agent} runs")
        path = next((it.value for it in variables if it.name == "PATH"), self.path)
        if program.startswith("~/"):
            program = str(Path(program).expanduser())
        # The protocol wants a path. It is never looked up relative to the project, which may come
        # from others.
        found = find_program(program, path)
        if found is None:
            raise _LeftOut(f"{program!r} was not found: install it or correct its command")
        if not found.startswith(os.sep):
            raise _LeftOut(f"{program!r} is not a program on PATH nor an absolute path: correct it")
        return McpStdio(name, found, tuple(map(str, arguments)), variables)


def _remote(name: str, url: str, more: Mapping[object, object], can: McpCapabilities) -> McpRemote:
    kind: Literal["http", "sse"] = "sse" if more.get("type") == "sse" else "http"
    if not url.startswith(("http://", "https://")):
        raise _LeftOut("its url must begin with https:// or http://")
    if not (can.sse if kind == "sse" else can.http):
        raise _LeftOut(f"the agent takes none of the type {kind}")
    return McpRemote(kind, name, url, _named(more.get("headers")))


def _named(table: object) -> tuple[NamedValue, ...]:
    items = table.items() if isinstance(table, Mapping) else ()
    return tuple(NamedValue(str(name), str(value)) for name, value in items)


class Way(Enum):
    """A request that opens a session."""

    NEW = sessions.NewSessionParams
    RESUME = sessions.ResumeSessionParams
    LOAD = sessions.LoadSessionParams
    FORK = sessions.ForkSessionParams


class SessionSetup(Struct):
    """The absolute folder and the MCP servers of all sessions of an agent.

    folders: those of the workspace; an agent that `takes_folders` gets the added ones, too.
    """

    cwd: str
    mcp_servers: tuple[Wired, ...] = ()
    folders: Folders = field(default_factory=lambda: Folders(()))
    takes_folders: bool = False

    def request(self, way: Way, session_id: str) -> Request[sessions.OpenedSession]:
        """Return the request that opens a session; `session_id`: of one that is not new."""
        added = (self.folders.added or None) if self.takes_folders else None
        old = {} if way is Way.NEW else {"session_id": session_id}
        request: Request[sessions.OpenedSession] = way.value(
            cwd=self.cwd, mcp_servers=self.mcp_servers, additional_directories=added, **old
        )
        return request
