"""The panel of the MCP servers of an ECA server, and of its own tools.

Rules kept here:
- What a server is and offers are rows below it, which act as its own row does.
- The wire would change environments and headers, and cannot remove a key. So they are edited in the
  file that configures the server, and never sent.
"""

import json
import shlex
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import ClassVar, Final, TypeAlias

from msgspec.structs import replace

from eca_nvim.agents.abilities import ToolServerAction, ToolServers
from eca_nvim.agents.base import Agent
from eca_nvim.chat.text.safe_text import duration, width
from eca_nvim.chat.vocabulary.agent_events import ToolServerChanged
from eca_nvim.chat.vocabulary.agent_events import ToolServerState as State
from eca_nvim.chat.vocabulary.panels import Action, Ask, Row
from eca_nvim.session.panels.mcp_config import Place, find, read_target, target_text
from eca_nvim.session.panels.panel import (
    Answer,
    Panel,
    Scene,
    cell,
    column,
    note,
    rest,
)
from eca_nvim.session.server import ServerState
from eca_nvim.session.view import Refused

CHANGE_SECONDS: Final = 100.0
"""Time for a change of the configuration: its answer may come after a start."""
SLOW_SECONDS: Final = 60.0
"""Time after which a server that starts is said to be slow; the ECA server gives up about then."""
NAME_CELLS, LONGEST_NAME = 18, 60
"""Cells of the column of names, and of a name where there are no columns."""
EVERYWHERE, HERE = "in all projects", "in this workspace"

_WORDS: Final[Mapping[State, tuple[str, str]]] = {
    State.UNKNOWN: ("unknown", "EcaMuted"),
    State.STARTING: ("starting", "EcaRunning"),
    State.RUNNING: ("running", "EcaToolDone"),
    State.STOPPING: ("stopping", "EcaRunning"),
    State.STOPPED: ("stopped", "EcaMuted"),
    State.FAILED: ("failed", "EcaFailed"),
    State.DISABLED: ("disabled", "EcaMuted"),
    State.NEEDS_LOGIN: ("needs a login", "EcaWarning"),
    State.RESTARTING: ("restarting", "EcaRunning"),
    State.LOGGING_IN: ("logging in", "EcaWarning"),
    State.LOGGING_OUT: ("logging out", "EcaRunning"),
}
_SINCE: Final = frozenset(
    {State.STARTING, State.STOPPING, State.RESTARTING, State.LOGGING_IN, State.LOGGING_OUT}
)
"""States that should not last: how long they have is shown."""
_OFFERS: Final[Mapping[State, Sequence[str]]] = {
    State.UNKNOWN: ("restart", "disable"),
    State.STARTING: ("restart", "disable"),
    State.RUNNING: ("restart", "stop", "disable"),
    State.STOPPING: ("disable",),
    State.STOPPED: ("start", "disable"),
    State.FAILED: ("start", "edit", "disable"),
    State.DISABLED: ("enable",),
    State.NEEDS_LOGIN: ("connect", "disable"),
    State.RESTARTING: ("restart", "disable"),
    State.LOGGING_IN: ("restart",),
    State.LOGGING_OUT: ("restart",),
}
"""What can be done in a state, the most useful first; not what the server would not answer."""
_OF_LOGINS: Final[Mapping[State, Sequence[str]]] = {
    State.RUNNING: ("logout",),
    State.FAILED: ("connect",),
}
"""What else can be done with a server that has a login."""
_ALWAYS: Final = ("change", "edit", "remove", "add")
_HINTS: Final[Mapping[State, str]] = {
    State.STOPPED: "s starts it",
    State.FAILED: "s starts it again, :Eca log may say why",
    State.DISABLED: "+ enables it",
    State.NEEDS_LOGIN: "i logs in",
    State.LOGGING_IN: "its page is in the chat; r gives up",
}
_OF_ACP: Final = (
    "{name} is an ACP agent and starts MCP servers itself: those of servers.{name}.mcp in your"
    " options, and its own, which it does not list"
)
_SLOW: Final = "it does not start: r starts it again, e edits its configuration"


Line: TypeAlias = tuple[str, str, str]
"""A row of details: what it is about, a name, and what is known of that."""


class McpPanel(Panel):
    """The MCP servers of the ECA server of a chat."""

    ACTIONS: ClassVar = (
        Action("open", "o", "details"),
        Action("restart", "r", "restart"),
        Action("start", "s", "start"),
        Action("stop", "x", "stop"),
        Action("connect", "i", "log in"),
        Action("logout", "O", "log out"),
        Action("enable", "+", "enable"),
        Action("disable", "-", "disable"),
        Action("change", "c", "change its command", (Ask("target", "Command line or url:"),)),
        Action("edit", "e", "edit config"),
        Action("remove", "D", "remove", sure="Remove the MCP server {} from the configuration?"),
        Action(
            *("add", "a", "add a server"),
            asks=(
                Ask("new_name", "Name of the MCP server:"),
                Ask("new_target", "Its command line or url:"),
                Ask("scope", "Where is it used?", (EVERYWHERE, HERE)),
            ),
        ),
    )

    def __init__(self, scene: Scene, chat_id: str | None) -> None:
        super().__init__(scene, chat_id)
        self._places: dict[str, Place | None] = {}  # of the servers whose details were shown
        self._made: dict[str, tuple[ToolServerChanged, Place | None, Sequence[Row]]] = {}
        self._acting: set[str] = set()

    @property
    def title(self) -> str:
        """How many servers run."""
        servers = [it for it in self._known.values() if it.kind != "native"]
        running = sum(it.status in (State.RUNNING, State.RESTARTING) for it in servers)
        count = f": {running} of {len(servers)} running" if servers else ""
        return f"mcp of {cell(self.server.name, 20)}{count}"

    @property
    def _known(self) -> Mapping[str, ToolServerChanged]:
        return self.server.incoming.tool_servers

    # --- rows -------------------------------------------------------------------------------------

    def rows(self) -> Iterator[Row]:
        """Yield the servers by name, those of MCP first."""
        known = sorted(self._known.values(), key=lambda it: (it.kind == "native", it.name))
        if fault := self._fault():
            yield note(fault)
        elif all(it.kind == "native" for it in known):
            yield replace(note("no MCP servers: a adds one"), actions=("add",))
        for each in known:
            yield self._row(each)
            if json.dumps([each.name]) in self.opened:
                yield from self._details(each)

    def _fault(self) -> str:
        """Return why nothing can be done, "" if it can."""
        name, agent = cell(self.server.name, 20), self.server.process.agent
        if agent is None and self.server.process.state is ServerState.STARTING:
            return f"{name} is starting"
        if agent is None:
            return f"{name} is not running: a prompt or :Eca start starts it"
        return "" if agent.tool_servers is not None else _OF_ACP.format(name=name)

    def _row(self, known: ToolServerChanged) -> Row:
        word, group = _WORDS[known.status]
        took = time.monotonic() - known.since
        if known.status in _SINCE and took >= 1:
            word = f"{word} {duration(took // 1 * 1000)}"
        is_slow = known.status in (State.STARTING, State.RESTARTING) and took >= SLOW_SECONDS
        about = _SLOW if is_slow else self._about(known)
        group_about = "EcaWarning" if is_slow or known.status is State.FAILED else "EcaMuted"
        return Row(
            id=json.dumps([known.name]),
            line=(
                column(word, 17, group),
                (_shown_name(known), "", NAME_CELLS),
                rest(about, group_about),
            ),
            actions=_actions(known),
            values=_values(known),
        )

    def _about(self, known: ToolServerChanged) -> str:
        """Return what is most useful to know of a server in its state."""
        redact = self.scene.servers.redactor.redact
        if known.status in _HINTS:
            return redact(known.error) or _HINTS[known.status]
        if known.tools is None:
            return redact(known.url or shlex.join(known.command))
        kinds = (("tool", known.tools), ("prompt", known.prompts), ("resource", known.resources))
        counts = [
            f"{len(them)} {what}{'' if len(them) == 1 else 's'}"
            for what, them in kinds
            if them or what == "tool"
        ]
        own = ["the server's own"] if known.kind == "native" else []
        disabled = ["disabled in the configuration"] if known.disabled else []
        return ", ".join([*counts, *own, *disabled])

    def _details(self, known: ToolServerChanged) -> Sequence[Row]:
        """Return the rows below a server, which may be thousands: made again if it has changed."""
        made, place = self._made.get(known.name), self._places.get(known.name)
        if made is None or made[0] is not known or made[1] is not place:
            lines = [*self._facts(known, place), *_offered(known)]
            made = self._made[known.name] = (known, place, _rows_below(known, lines))
        return made[2]

    def _facts(self, known: ToolServerChanged, place: Place | None) -> Iterator[Line]:
        """Yield what a server is."""
        redact = self.scene.servers.redactor.redact
        if width(_shown_name(known)) > NAME_CELLS:
            yield "name", "", known.name
        if target := known.url or shlex.join(known.command):
            yield "url" if known.url else "command", "", redact(target)
        if place is not None:
            where = EVERYWHERE if place[0].parent.name == "eca" else HERE
            yield "file", "", f"{place[0]}:{place[1]}, {where}"
        if known.error:
            yield "error", "", redact(known.error)

    # --- actions ----------------------------------------------------------------------------------

    def seconds_for(self, action: str) -> float:
        """Return the time in which an action shows its effect."""
        is_change = action in ("add", "change", "remove")
        return CHANGE_SECONDS if is_change else super().seconds_for(action)

    async def act(self, action: str, row: str, values: Mapping[str, str]) -> Answer | None:
        """Do an action on a server, or add one."""
        _, servers = self._able()
        if action == "add":
            target = read_target(values["new_target"])
            name, is_here = values["new_name"].strip(), values["scope"] == HERE
            if not name:
                raise Refused("an MCP server needs a name")
            await servers.add(name, target, in_workspace=is_here)
            return None
        known = self._known.get(json.loads(row)[0])
        if known is None:
            raise Refused("this MCP server is gone")
        if action == "open":
            await self._open(known, servers)
        elif action == "edit":
            return await self._edit(known, servers)
        else:
            with self._alone(known):
                await self._change(action, known, values)
        return None

    async def _change(
        self, action: str, known: ToolServerChanged, values: Mapping[str, str]
    ) -> None:
        agent, servers = self._able()
        match action:
            case "connect":
                self._log_in(known)
            case "logout":
                if still := await agent.logout(_way(known)):
                    raise Refused(still)
            case "change":
                await servers.change(known.name, read_target(values["target"]))
            case "remove":
                await servers.remove(known.name)
            case _:
                await servers.do(ToolServerAction(action), known.name)

    def _able(self) -> tuple[Agent, ToolServers]:
        """Return what acts. Raises Refused."""
        agent = self.server.process.agent
        if agent is None or agent.tool_servers is None:
            raise Refused(self._fault())
        return agent, agent.tool_servers

    @contextmanager
    def _alone(self, known: ToolServerChanged) -> Iterator[None]:
        """Refuse a second action on a server, which has several rows. Raises Refused."""
        if known.name in self._acting:
            raise Refused(f"still waiting for {_shown_name(known)}")
        self._acting.add(known.name)
        try:
            yield
        finally:
            self._acting.discard(known.name)

    async def _open(self, known: ToolServerChanged, servers: ToolServers) -> None:
        self.toggle(json.dumps([known.name]))
        if known.kind != "native":
            self._places[known.name] = await find(servers.config_files, known.name)

    async def _edit(self, known: ToolServerChanged, servers: ToolServers) -> Answer:
        place = await find(servers.config_files, known.name)
        if place is None:
            files = ", ".join(map(str, servers.config_files))
            raise Refused(f"no configuration file names {_shown_name(known)}: looked in {files}")
        return {"open": str(place[0]), "line": place[1]}

    def _log_in(self, known: ToolServerChanged) -> None:
        chats, name = self.scene.chats, self.server.name
        chat = chats.table.get(self.chat_id or "") or next(iter(chats.of(name)), None)
        if chat is None:
            raise Refused("a login is shown in a chat: :EcaChat opens one")
        self.server.login.log_in(chat, _way(known))


def _offered(known: ToolServerChanged) -> Iterator[Line]:
    """Yield what a server offers."""
    for tool in known.tools or ():
        about = f"(disabled) {tool.description}" if tool.disabled else tool.description
        yield "tool", tool.name, about
    yield from (("prompt", it.name, it.description) for it in known.prompts)
    yield from (("resource", it.name, it.description) for it in known.resources)


def _rows_below(known: ToolServerChanged, lines: Sequence[Line]) -> Sequence[Row]:
    """Return lines as rows that act as the row of their server does."""
    actions, values = _actions(known), _values(known)
    return [
        Row(
            id=json.dumps([known.name, number]),
            line=[
                ("    ", "", 0),
                column(what, 8, "EcaMuted"),
                *([(f"{cell(name)}  ", "", 0)] if name else ()),
                rest(about, "EcaMuted"),
            ],
            actions=actions,
            values=values,
        )
        for number, (what, name, about) in enumerate(lines)
    ]


def _values(known: ToolServerChanged) -> Mapping[str, str]:
    return {"name": _shown_name(known), "target": target_text(known)}


def _shown_name(known: ToolServerChanged) -> str:
    """Return the name of a server for one line."""
    return cell(known.name, LONGEST_NAME)


def _way(known: ToolServerChanged) -> str:
    return f"mcp:{known.name}"


def _actions(known: ToolServerChanged) -> Sequence[str]:
    """Return what can be done with a server."""
    if known.kind == "native":
        return ("open", "add")
    login = _OF_LOGINS.get(known.status, ()) if known.has_login else ()
    enable = ("enable",) if known.disabled and known.status is not State.DISABLED else ()
    first = _OFFERS[known.status]
    return tuple(dict.fromkeys(("open", *first, *login, *enable, *_ALWAYS)))
