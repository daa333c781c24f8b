"""Tool servers (MCP) of the agent: warns once each time one of them fails."""

from __future__ import annotations

import logging

from eca_nvim.chat.text.safe_text import one_line, truncate
from eca_nvim.chat.vocabulary.agent_events import ToolServerChanged
from eca_nvim.chat.vocabulary.ops import Notify

NAME_CELLS = 30
_FAILED = "failed"

log = logging.getLogger(__name__)


class ToolServers:
    """The states of the tool servers, by name."""

    def __init__(self) -> None:
        self._states: dict[str, str | None] = {}

    def update(self, event: ToolServerChanged) -> list[Notify]:
        """Record a server's new state; returns a warning if it has just failed."""
        log.info("%s", event)
        before = self._states.get(event.name)
        self._states[event.name] = event.status or before
        if event.status != _FAILED or before == _FAILED:
            return []
        name = truncate(one_line(event.name), NAME_CELLS)
        return [Notify("warn", f"the MCP server {name} failed: :Eca log may say why")]

    def clear(self) -> None:
        """Forget all servers: their agent has ended."""
        self._states.clear()
