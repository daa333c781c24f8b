"""Tool servers: what is known of those of an ECA server, and acting on them.

Rules kept here:
- There is one state of them, which logins, panels and notices share. A partial report completes it.
  A server that starts again keeps what it offered until all of that was reported again.
- The ECA server says nothing to what it does not do, such as a start of one that runs. So an action
  is sent only in a state from which it works, and is over when it has led to one of its states.
- What a removed server still reports, such as that its start has failed, does not bring it back.
- After a change of its configuration the ECA server starts a tool server again, some seconds later.
  What runs is not shown as stopped then.
- Only standard error has the reason of a failure.
"""

import time
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import anyio
from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from eca_nvim.agents.abilities import (
    AgentLacks,
    AgentRefused,
    Target,
    ToolServerAction,
)
from eca_nvim.agents.base import Emit
from eca_nvim.agents.eca.chat_options import given
from eca_nvim.agents.eca.server import EcaServer
from eca_nvim.chat.text.safe_text import one_line, truncate
from eca_nvim.chat.vocabulary import agent_events
from eca_nvim.chat.vocabulary.agent_events import Offered, ToolServerChanged
from eca_nvim.chat.vocabulary.agent_events import ToolServerState as State
from eca_nvim.paths import uri_of
from eca_nvim.protocol.eca import tools
from eca_nvim.spawn import child_environment

SECOND_START: Final = 6.0
"""Seconds in which the ECA server's look at its changed configuration starts a server again."""
STOP_SECONDS: Final = 8.0
"""Time for a server to stop that is to be started again; the ECA server takes 5 s at most."""
START_SECONDS: Final = 10.0
"""Time that an action waits for a server that starts; then its state says the rest."""
CHANGE_SECONDS: Final = 90.0
"""Time to answer a change, which may come after a start."""
MOST_LINES, LONGEST_LINE = 50, 2000
"""Lines of standard error that are kept, and characters of one."""
NAME_CELLS: Final = 60

STARTS: Final = frozenset({State.STARTING, State.RESTARTING, State.LOGGING_IN})
"""States of a server that will run, or fail."""
_STAYS: Final[Mapping[State, frozenset[State]]] = {
    State.LOGGING_IN: frozenset({State.STARTING}),
    State.LOGGING_OUT: frozenset({State.STARTING, State.STOPPING, State.STOPPED}),
    State.RESTARTING: frozenset({State.STARTING, State.STOPPING, State.STOPPED}),
}
"""States of ours, and those of the wire that do not end them."""
_ADDS: Final = frozenset({State.STARTING, State.DISABLED})
"""What is reported first of a server that is added."""
_STARTED: Final = frozenset({State.RUNNING, State.FAILED, State.NEEDS_LOGIN})
_AT_REST: Final = frozenset({State.STOPPED, State.DISABLED, State.FAILED})
_OURS: Final = frozenset({State.UNKNOWN, *_STAYS})
_WIRE: Final[Mapping[str, State]] = {it.value: it for it in State if it not in _OURS}

_FAULTS: Final = ("Could not initialize", "error initializing", "Initialization of")
"""What stands before `MCP server`, its name and a reason in a line of standard error."""


class _Way(Struct, frozen=True):
    """How an action is done: the message, the states from which it works, and where it leads.

    starts_twice: it changes the configuration, and a second start may follow.
    """

    message: type[tools.OfMcpServer]
    works_from: frozenset[State]
    leads_to: frozenset[State]
    starts_twice: bool = False


_ANY: Final = frozenset(State)
_WAYS: Final[Mapping[ToolServerAction, _Way]] = {
    ToolServerAction.START: _Way(tools.McpStart, _AT_REST, _STARTED),
    ToolServerAction.STOP: _Way(tools.McpStop, frozenset({State.RUNNING}), _AT_REST),
    ToolServerAction.ENABLE: _Way(tools.McpEnable, _ANY, _STARTED, starts_twice=True),
    ToolServerAction.DISABLE: _Way(
        tools.McpDisable, _ANY - {State.DISABLED}, frozenset({State.DISABLED})
    ),
}


class EcaToolServers:
    """The tool servers of one ECA server process (`abilities.ToolServers`)."""

    def __init__(
        self,
        server: EcaServer,
        emit: Emit,
        folders: Sequence[str],
        environment: Mapping[str, str] | None,
    ) -> None:
        self._server = server
        self._emit = emit
        self._folders = folders
        self._environment = child_environment() if environment is None else environment
        self.known: dict[str, ToolServerChanged] = {}
        """All that is known of them, by name."""
        self._changed = anyio.Event()
        self._removed = set[str]()
        self._changing: dict[str, float] = {}  # until when each may be started a second time
        self._faults = deque[str](maxlen=MOST_LINES)

    # --- what the server tells --------------------------------------------------------------------

    def updated(self, told: tools.ToolServerUpdated) -> Sequence[ToolServerChanged]:
        """Complete what is known of a server by a report (tool/serverUpdated)."""
        before = self.known.get(told.name, ToolServerChanged(told.name))
        status = self._status(before, given(told.status))
        if told.name in self._removed and status not in _ADDS:
            return []
        self._removed.discard(told.name)
        after = self._with_state(_completed(before, told, status), status)
        return [] if after == before else [self._keep(after)]

    def removed(self, name: str) -> Sequence[ToolServerChanged]:
        """Forget a server (tool/serverRemoved, which comes twice)."""
        self._changing.pop(name, None)
        self._removed.add(name)
        before = self.known.pop(name, None)
        self._note_change()
        return [] if before is None else [replace(before, removed=True)]

    def said(self, line: str) -> None:
        """Read a line of standard error: it may say why a server has failed."""
        if (fault := _fault(line[:LONGEST_LINE])) is not None:
            self._faults.append(fault)
            for known in [*self.known.values()]:
                if known.status is State.FAILED and (error := self._error(known.name)):
                    self._emit([self._keep(replace(known, error=error))])

    def _status(self, before: ToolServerChanged, told: str | None) -> State:
        """Return the state of a server after a report, which may not say it."""
        if told is None:
            return before.status
        status = _WIRE.get(told, State.UNKNOWN)
        if status in _STAYS.get(before.status, ()):
            return before.status
        is_second = time.monotonic() < self._changing.get(before.name, 0)
        if is_second and before.status is State.RUNNING and status in _STAYS[State.RESTARTING]:
            return State.RESTARTING
        return status

    def _with_state(self, known: ToolServerChanged, status: State) -> ToolServerChanged:
        error = self._error(known.name) if status is State.FAILED else ""
        since = known.since if status is known.status else time.monotonic()
        return replace(known, status=status, error=error, since=since)

    def _error(self, name: str) -> str:
        """Return what standard error said last about the failed start of a server."""
        told = (it[len(name) :] for it in reversed(self._faults) if it.startswith(name))
        return next((it.lstrip(":. ") for it in told if it[:1] in (":", ".", " ")), "")

    def changing(self, name: str) -> None:
        """Note that the configuration of a server changes now."""
        self._changing[name] = time.monotonic() + SECOND_START

    def mark(self, name: str, status: State) -> None:
        """Give a server a state of ours."""
        self._emit([self._keep(self._with_state(self.known[name], status))])

    def _keep(self, after: ToolServerChanged) -> ToolServerChanged:
        self.known[after.name] = after
        self._note_change()
        return after

    def _note_change(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()

    def status(self, name: str) -> State | None:
        """Return the state of a server, None if there is none of this name."""
        known = self.known.get(name)
        return None if known is None else known.status

    async def leave(self, name: str, states: frozenset[State]) -> None:
        """Wait until the state of a server is none of these, or it is gone."""
        while self.status(name) in states:
            await self._changed.wait()

    # --- what the user wants ----------------------------------------------------------------------

    async def do(self, action: ToolServerAction, name: str) -> None:
        """Act on a server, and wait for where that leads. Raises AgentRefused."""
        if action is ToolServerAction.RESTART:
            await self._restart(name)
            return
        way, before = _WAYS[action], self._require(name)
        if before.status not in way.works_from:
            raise AgentRefused(f"{_shown(name)} is {before.status.value}: nothing to {action}")
        self.tell(way.message, name)
        if way.starts_twice:
            self.changing(name)
        else:
            self._changing.pop(name, None)
        await self._arrive(before, way.leads_to)

    async def _restart(self, name: str) -> None:
        """Stop a server and start it again: one that has died is still said to run."""
        before = self._require(name)
        if before.status in _STAYS:  # its reports would not be seen
            self.mark(name, State.STARTING)
            before = self._require(name)
        if before.status not in _AT_REST:
            self.tell(tools.McpStop, name)
            with anyio.move_on_after(STOP_SECONDS):  # one that starts cannot be stopped yet
                await self._arrive(before, _AT_REST)
        before = self._require(name)
        self.tell(tools.McpStart, name)
        await self._arrive(before, _STARTED)

    async def add(self, name: str, target: Target, *, in_workspace: bool) -> None:
        """Add a server to the configuration (mcp/addServer). Raises AgentRefused."""
        if name in self.known:
            raise AgentRefused(f"there is an MCP server {_shown(name)} already")
        folder = next(iter(self._folders), None) if in_workspace else None
        if in_workspace and folder is None:
            raise AgentRefused("the workspace has no folder")
        where: dict[str, Any] = {"scope": "global"}
        if folder is not None:
            where = {"scope": "workspace", "workspace_uri": uri_of(folder)}
        params = tools.McpAddParams(name=name, **where, **_target(target))
        self.changing(name)
        self._removed.discard(name)
        _require_done(await self._server.ask(params, CHANGE_SECONDS))
        await self._arrive(None, _STARTED | {State.DISABLED}, name)

    async def change(self, name: str, target: Target) -> None:
        """Give a server another command or url (mcp/updateServer). Raises AgentRefused."""
        before = self._require(name)  # a server that is not known would be added
        if bool(before.url) is not bool(target.url):
            what = ("command", "url") if target.url else ("url", "command")
            line = f"a {what[0]} cannot become a {what[1]}: remove {_shown(name)} and add it again"
            raise AgentRefused(line)
        self.changing(name)
        await self._server.ask(tools.McpUpdateParams(name=name, **_target(target)), CHANGE_SECONDS)

    async def remove(self, name: str) -> None:
        """Remove a server from the configuration (mcp/removeServer). Raises AgentRefused."""
        self._require(name)
        self._changing.pop(name, None)
        params = tools.McpRemoveParams(name=name)
        _require_done(await self._server.ask(params, CHANGE_SECONDS))
        await self.leave(name, _ANY)

    @property
    def config_files(self) -> Sequence[Path]:
        """The files in which servers are configured, the first that names one owns it."""
        told = self._environment.get("XDG_CONFIG_HOME")
        home = Path(told or Path(self._environment.get("HOME") or Path.home(), ".config"))
        places = [*(Path(it, ".eca") for it in self._folders), home / "eca"]
        return [it / "config.json" for it in places]

    def _require(self, name: str) -> ToolServerChanged:
        known = self.known.get(name)
        if known is None:
            raise AgentRefused(f"there is no MCP server {_shown(name)} any more")
        return known

    def tell(self, message: type[tools.OfMcpServer], name: str) -> None:
        """Send what has no answer, if the server knows it. Raises AgentLacks."""
        if not self._server.dialect.may_know(message.method):
            raise AgentLacks(f"this server does not know {message.method}")
        self._server.notify(message(name=name))

    async def _arrive(
        self, before: ToolServerChanged | None, goals: frozenset[State], name: str = ""
    ) -> None:
        """Wait for one of the states; of a server that starts, only for a while."""
        name = before.name if before else name
        while (now := self.known.get(name)) is before and now is not None:
            await self._changed.wait()
        with anyio.CancelScope() as patience:
            while (status := self.status(name)) is not None and status not in goals:
                if status in STARTS:
                    patience.deadline = min(patience.deadline, anyio.current_time() + START_SECONDS)
                await self._changed.wait()


def _require_done(result: tools.McpAddResult | tools.McpRemoveResult) -> None:
    """Raise AgentRefused if a result says why nothing was done."""
    if result.error is not None:
        raise AgentRefused(one_line(result.error.message or "the server has refused it"))


def _completed(
    before: ToolServerChanged, told: tools.ToolServerUpdated, status: State
) -> ToolServerChanged:
    """Return what is known of a server after a report.

    While it starts it is reported to offer nothing, and its prompts and resources come only after
    it runs: neither is taken as a change.
    """
    listed = given(told.tools)
    is_new = status is State.RUNNING and before.status is not State.RUNNING
    offers_late = is_new or status in STARTS
    is_silent = status in STARTS and not listed
    has_login = given(told.has_auth) is True or status is State.NEEDS_LOGIN
    changed: dict[str, Any] = {
        "kind": given(told.type) or before.kind,
        "tools": before.tools if listed is None or is_silent else tuple(map(_tool, listed)),
        "prompts": _offered(before.prompts, told.prompts, late=offers_late),
        "resources": _offered(before.resources, told.resources, late=offers_late),
        "has_login": before.has_login or has_login,
    }
    if told.command is not UNSET or told.url is not UNSET:
        command = given(told.command)
        changed["command"] = () if command is None else (command, *(given(told.args) or ()))
        changed["url"] = given(told.url) or ""
    if (disabled := given(told.disabled)) is not None:
        changed["disabled"] = disabled
    return replace(before, **changed)


def _offered(
    before: tuple[Offered, ...],
    told: Sequence[tools.McpPrompt | tools.McpResource] | UnsetType | None,
    *,
    late: bool,
) -> tuple[Offered, ...]:
    if isinstance(told, UnsetType) or (late and not told):
        return before
    return tuple(
        Offered(it.name or str(getattr(it, "uri", "")), it.description or "") for it in told or ()
    )


def _tool(tool: tools.Tool) -> agent_events.Tool:
    return agent_events.Tool(
        name=tool.name,
        description=tool.description or "",
        parameters=tool.parameters,
        disabled=bool(tool.disabled),
    )


def _target(target: Target) -> Mapping[str, Any]:
    """Return the fields of a command or a url; nothing else is sent, the server changes it."""
    if target.url:
        return {"url": target.url}
    command, *arguments = target.command
    return {"command": command, "args": tuple(arguments)}


def _shown(name: str) -> str:
    return truncate(one_line(name), NAME_CELLS)


def _fault(line: str) -> str | None:
    """Return the name of a server that has failed, and why, as the line says it."""
    if "[MCP]" not in line:
        return None
    ends = (line.partition(f"{it} MCP server ")[2] for it in _FAULTS)
    return next(filter(None, ends), None)
