"""Session setup: what the agent gets with each request that opens a session.

Rule kept here: nobody else builds these requests, so all of them name the same folder and the same
MCP servers.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct, field

from eca_nvim.path_risks import Folders
from eca_nvim.protocol.acp.sessions import (
    ForkSessionParams,
    LoadSessionParams,
    NewSessionParams,
    ResumeSessionParams,
)


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

    def new(self) -> NewSessionParams:
        """Return the request for a new session."""
        return NewSessionParams(self.cwd, self.mcp_servers, self._added)

    def load(self, session_id: str) -> LoadSessionParams:
        """Return the request that opens a session and replays it."""
        return LoadSessionParams(session_id, self.cwd, self.mcp_servers, self._added)

    def resume(self, session_id: str) -> ResumeSessionParams:
        """Return the request that opens a session without a replay."""
        return ResumeSessionParams(session_id, self.cwd, self.mcp_servers, self._added)

    def fork(self, session_id: str) -> ForkSessionParams:
        """Return the request that copies a session."""
        return ForkSessionParams(session_id, self.cwd, self.mcp_servers, self._added)
