"""Sessions: made, opened again, copied, listed and closed; an agent keeps each conversation in one.

A session works in the absolute folder `cwd`, and in `additional_directories` if the agent has the
capability, with the tools of `mcp_servers`.
"""

from typing import Any, ClassVar

from eca_nvim.protocol.acp.options import ConfigOption, Models, Modes
from eca_nvim.protocol.base.types import Request, Wire


class OpenedSession(Wire, frozen=True):
    """A session that can be prompted, with its options, or its modes and models."""

    config_options: tuple[ConfigOption, ...] | None = None
    modes: Modes | None = None
    models: Models | None = None


class NewSessionResult(Wire, frozen=True):
    """A session that was made or copied, with its options, or its modes and models."""

    session_id: str
    config_options: tuple[ConfigOption, ...] | None = None
    modes: Modes | None = None
    models: Models | None = None


class NewSessionParams(Request[NewSessionResult], frozen=True):
    """Make a session."""

    method: ClassVar[str] = "session/new"

    cwd: str
    mcp_servers: tuple[dict[str, Any], ...]
    additional_directories: tuple[str, ...] | None = None


class LoadSessionParams(Request[OpenedSession], frozen=True):
    """Open a session again; the agent replays it as updates before it answers."""

    method: ClassVar[str] = "session/load"

    session_id: str
    cwd: str
    mcp_servers: tuple[dict[str, Any], ...]
    additional_directories: tuple[str, ...] | None = None


class ResumeSessionParams(Request[OpenedSession], frozen=True):
    """Open a session again, without a replay."""

    method: ClassVar[str] = "session/resume"

    session_id: str
    cwd: str
    mcp_servers: tuple[dict[str, Any], ...]
    additional_directories: tuple[str, ...] | None = None


class ForkSessionParams(Request[NewSessionResult], frozen=True):
    """Copy a session; some agents replay the copy before they answer."""

    method: ClassVar[str] = "session/fork"

    session_id: str
    cwd: str
    mcp_servers: tuple[dict[str, Any], ...]
    additional_directories: tuple[str, ...] | None = None


class CloseSessionParams(Request[None], frozen=True):
    """Close a session, for agents with the capability."""

    method: ClassVar[str] = "session/close"

    session_id: str


class SessionSummary(Wire, frozen=True):
    """A saved session; `updated_at` is a time of ISO 8601."""

    session_id: str
    cwd: str = ""
    title: str | None = None
    updated_at: str | None = None


class ListSessionsResult(Wire, frozen=True):
    """A page of saved sessions; `next_cursor` names the next one."""

    sessions: tuple[SessionSummary, ...] = ()
    next_cursor: str | None = None


class ListSessionsParams(Request[ListSessionsResult], frozen=True):
    """List the saved sessions of a folder, a page at a time."""

    method: ClassVar[str] = "session/list"

    cwd: str
    cursor: str | None = None


class DeleteSessionParams(Request[None], frozen=True):
    """Delete a saved session."""

    method: ClassVar[str] = "session/delete"

    session_id: str


class TitleResult(Wire, frozen=True):
    """The title that a session has now."""

    title: str | None = None


class SetTitleParams(Request[TitleResult], frozen=True):
    """Rename a session; of the protocol's next version, as Codex knows it."""

    method: ClassVar[str] = "session/set_title"

    session_id: str
    title: str
