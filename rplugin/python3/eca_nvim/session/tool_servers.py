"""Tool servers (MCP) of the agent: warns once each time one of them fails or needs a login."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Final

from eca_nvim.chat.text.safe_text import one_line, truncate
from eca_nvim.chat.vocabulary.agent_events import ToolServerChanged
from eca_nvim.chat.vocabulary.ops import Notify

NAME_CELLS = 30
_TOLD: Final[Mapping[str | None, str]] = {
    "failed": "failed: :Eca log may say why",
    "requires-auth": "needs a login: :Eca login",
}

log = logging.getLogger(__name__)


class ToolServers:
    """The states of the tool servers, by name."""

    def __init__(self) -> None:
        self._states: dict[str, str | None] = {}

    def update(self, event: ToolServerChanged) -> list[Notify]:
        """Record a server's new state; returns a warning if it has just come to need the user."""
        log.info("%s", event)
        before = self._states.get(event.name)
        self._states[event.name] = event.status or before
        told = _TOLD.get(event.status)
        if told is None or before == event.status:
            return []
        return [
            Notify("warn", f"the MCP server {truncate(one_line(event.name), NAME_CELLS)} {told}")
        ]

    def clear(self) -> None:
        """Forget all servers: their agent has ended."""
        self._states.clear()
