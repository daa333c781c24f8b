"""Tools: those that a server has told, and what is known of whether each asks the user."""

from collections.abc import Iterator, Sequence
from enum import StrEnum

from msgspec import Struct

from eca_nvim.agents.abilities import Grant
from eca_nvim.chat.model.chat import Chat
from eca_nvim.chat.vocabulary.agent_events import Tool, ToolServerChanged
from eca_nvim.session.servers import NamedServer

_NATIVE = "native"


class Consent(StrEnum):
    """What is known of whether a tool asks. CONFIG: only the agent's configuration says it."""

    DISABLED = "disabled"
    TRUST = "trust"
    ALLOWED = "allowed"
    ASKS = "asks"
    CONFIG = "config"


class KnownTool(Struct, frozen=True):
    """A tool, its tool server (None: one of the agent's own), and whether it asks."""

    tool: Tool
    mcp: str | None
    consent: Consent


def told_servers(server: NamedServer) -> Sequence[ToolServerChanged]:
    """Return the tool servers of a server, the agent's own tools first."""
    told = server.incoming.tool_servers.values()
    return sorted(told, key=lambda it: (it.kind != _NATIVE, it.name))


class KnownTools:
    """The tools of a server, as a chat of it may use them."""

    def __init__(self, server: NamedServer, chat: Chat | None) -> None:
        self._server = server
        self._is_trusted = chat is not None and chat.trust
        agent = server.process.agent
        self._grants = None if agent is None else agent.grants
        self.standing: Sequence[Grant] = () if self._grants is None else self._grants.standing()
        self._allowed = {it.tool for it in self.standing}

    def of(self, told: ToolServerChanged) -> Iterator[KnownTool]:
        """Yield the tools of one tool server, by name."""
        mcp = None if told.kind == _NATIVE else told.name
        for tool in sorted(told.tools or (), key=lambda it: it.name):
            yield KnownTool(tool, mcp, self._consent(tool, mcp))

    def __iter__(self) -> Iterator[KnownTool]:
        for told in told_servers(self._server):
            yield from self.of(told)

    def _consent(self, tool: Tool, mcp: str | None) -> Consent:
        if tool.disabled:
            return Consent.DISABLED
        if self._is_trusted:
            return Consent.TRUST
        if tool.name in self._allowed:
            return Consent.ALLOWED
        has_asked = self._grants is not None and self._grants.has_asked(tool.name, mcp)
        return Consent.ASKS if has_asked else Consent.CONFIG
