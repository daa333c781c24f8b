"""Session setup: what the agent gets with each request that opens a session.

Rules kept here:
- A server that is described wrongly, or that this agent cannot use, is left out. One line says so.
- Values of variables and headers are secrets: no line has them.
- A program is named by its path, as the protocol wants. It is looked up on PATH and never relative
  to the project, which may come from others.
- Nobody else builds these requests, so all of them name the same folder and the same
  MCP servers.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from msgspec import Struct, field

from eca_nvim.agents.acp.faults import one_line
from eca_nvim.path_risks import Folders
from eca_nvim.protocol.acp import encode, sessions
from eca_nvim.spawn import find_program

EDITOR: Final = "editor"
"""The name of our own server, which the option names with `true`."""


Wired: TypeAlias = dict[str, Any]
"""A server as it is on the wire."""


class _LeftOut(Exception):
    """Raised when a server is left out; the text says why, and what to do."""


class McpOptions(Struct, frozen=True):
    """What an agent may get.

    agent: the name of the agent in the options. servers: its option `mcp`, by name. path: PATH of
    the agent. editor: starts our own server; returns the command that connects to it. Raises
    OSError.
    """

    agent: str
    servers: Mapping[str, object] = {}
    path: str | None = None
    editor: Callable[[], Sequence[str]] | None = None

    def usable(self, can: sessions.McpCapabilities) -> tuple[tuple[Wired, ...], list[str]]:
        """Return the servers that an agent can use, and a line about each other one."""
        usable, lines = list[Wired](), list[str]()
        for name, told in sorted(self.servers.items()):
            try:
                usable += (encode(it) or {} for it in self._server(name, told, can))
            except _LeftOut as why:
                lines.append(one_line(f"servers.{self.agent}.mcp.{name} is left out: {why}"))
        return tuple(usable), lines

    def _server(
        self, name: str, told: object, can: sessions.McpCapabilities
    ) -> Sequence[sessions.McpStdio | sessions.McpRemote]:
        match told:
            case False:
                return ()
            case True if name == EDITOR and self.editor is not None:
                return (_editor(self.editor),)
            case {"command": [str(program), *arguments], **more}:
                return (self._stdio(name, program, arguments, more),)
            case {"url": str(url), **more}:
                return (_remote(name, url, more, can),)
        raise _LeftOut("it needs a command or a url")

    def _stdio(
        self, name: str, program: str, arguments: Sequence[object], more: Mapping[object, object]
    ) -> sessions.McpStdio:
        variables = _named(more.get("env"))
        path = next((it.value for it in variables if it.name == "PATH"), self.path)
        if program.startswith("~/"):
            program = str(Path(program).expanduser())
        found = find_program(program, path)
        if found is None:
            raise _LeftOut(f"{program!r} was not found: install it or correct its command")
        if not found.startswith(os.sep):
            raise _LeftOut(f"{program!r} is not a program on PATH nor an absolute path: correct it")
        return sessions.McpStdio(name, found, tuple(map(str, arguments)), variables)


def _editor(start: Callable[[], Sequence[str]]) -> sessions.McpStdio:
    try:
        program, *arguments = start()
    except OSError as fault:
        raise _LeftOut(f"it does not start, {fault.strerror or fault}") from fault
    return sessions.McpStdio(EDITOR, program, tuple(arguments), ())


def _remote(
    name: str, url: str, more: Mapping[object, object], can: sessions.McpCapabilities
) -> sessions.McpRemote:
    kind: Literal["http", "sse"] = "sse" if more.get("type") == "sse" else "http"
    if not url.startswith(("http://", "https://")):
        raise _LeftOut("its url must begin with https:// or http://")
    if not (can.sse if kind == "sse" else can.http):
        raise _LeftOut(f"the agent takes none of the type {kind}")
    return sessions.McpRemote(kind, name, url, _named(more.get("headers")))


def _named(table: object) -> tuple[sessions.NamedValue, ...]:
    items = table.items() if isinstance(table, Mapping) else ()
    return tuple(sessions.NamedValue(str(name), str(value)) for name, value in items)


class SessionSetup(Struct):
    """The absolute folder and the MCP servers of all sessions of an agent.

    folders: those of the workspace; an agent that `takes_folders` gets the added ones, too.
    """

    cwd: str
    mcp_servers: tuple[dict[str, Any], ...] = ()
    folders: Folders = field(default_factory=lambda: Folders(()))
    takes_folders: bool = False

    @property
    def _added(self) -> tuple[str, ...] | None:
        return (self.folders.added or None) if self.takes_folders else None

    def new(self) -> sessions.NewSessionParams:
        """Return the request for a new session."""
        return sessions.NewSessionParams(self.cwd, self.mcp_servers, self._added)

    def load(self, session_id: str) -> sessions.LoadSessionParams:
        """Return the request that opens a session and replays it."""
        return sessions.LoadSessionParams(session_id, self.cwd, self.mcp_servers, self._added)

    def resume(self, session_id: str) -> sessions.ResumeSessionParams:
        """Return the request that opens a session without a replay."""
        return sessions.ResumeSessionParams(session_id, self.cwd, self.mcp_servers, self._added)

    def fork(self, session_id: str) -> sessions.ForkSessionParams:
        """Return the request that copies a session."""
        return sessions.ForkSessionParams(session_id, self.cwd, self.mcp_servers, self._added)
