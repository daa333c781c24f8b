"""Sessions: to make, open, copy, list and close one; prompts in it, and its MCP servers.

A session works in the absolute folder `cwd`, and in `additional_directories` if the agent has the
capability, with the tools of `mcp_servers`.
"""

from typing import Any, Final, Literal

from msgspec import field

from eca_nvim.protocol.acp import content, options
from eca_nvim.protocol.base.types import Notification, OpenEnum, Request, Wire


class McpCapabilities(Wire, frozen=True):
    """The kinds of remote MCP servers that an agent can connect to."""

    http: bool = False
    sse: bool = False


class McpStdio(Wire, frozen=True):
    """A server that the agent starts; every agent can. `command` is an absolute path."""

    name: str
    command: str
    args: tuple[str, ...]
    env: tuple[content.NamedValue, ...]


class McpRemote(Wire, frozen=True):
    """A server that runs already, for agents with the capability of its `type`."""

    type: Literal["http", "sse"]
    name: str
    url: str
    headers: tuple[content.NamedValue, ...]


class StopReason(OpenEnum):
    """Why a turn ended."""

    END_TURN = "end_turn"
    MAX_TOKENS = "max_tokens"
    MAX_TURN_REQUESTS = "max_turn_requests"
    REFUSAL = "refusal"
    CANCELLED = "cancelled"
    UNKNOWN = "unknown"


class PromptResult(Wire, frozen=True):
    """The end of a turn."""

    stop_reason: StopReason


class PromptParams(Request[PromptResult], frozen=True):
    """A prompt of the user; the answer comes at the end of the turn."""

    method = "session/prompt"
    session_id: str
    prompt: tuple[content.ContentBlock, ...]


class CancelTurn(Notification, frozen=True):
    """Stop the turn; the answer to its prompt follows."""

    method = "session/cancel"
    session_id: str


class SteerOutcome(OpenEnum):
    """Whether the agent has taken a message to the running turn."""

    INJECTED = "injected"
    STARTED_NEW_TURN = "startedNewTurn"
    PROMPT_REQUIRED = "promptRequired"
    FAILED = "failed"
    UNKNOWN = "unknown"


class SteerResult(Wire, frozen=True):
    """The answer to a message to the running turn."""

    outcome: SteerOutcome


NO_NEW_TURN: Final = {"steering": {"idleBehavior": "promptRequired"}}
"""What we ask of an agent in which no turn runs."""


class SteerParams(Request[SteerResult], frozen=True):
    """A message to the running turn; meta: NO_NEW_TURN.

    Beyond the protocol: agents announce it in their answer to initialize (`_meta.steering`).
    """

    method = "_session/steering"
    session_id: str
    prompt: tuple[content.ContentBlock, ...]
    meta: dict[str, Any] = field(name="_meta")


class OpenedSession(Wire, frozen=True, kw_only=True):
    """A session that can be prompted, with its options, or its modes and models."""

    config_options: tuple[options.ConfigOption, ...] | None = None
    modes: options.Modes | None = None
    models: options.Models | None = None


class NewSessionResult(OpenedSession, frozen=True, kw_only=True):
    """A session that was made or copied."""

    session_id: str


class _Workplace(Wire, frozen=True, kw_only=True):
    """Where a session works, and with which MCP servers."""

    cwd: str
    mcp_servers: tuple[dict[str, Any], ...]
    additional_directories: tuple[str, ...] | None = None


class NewSessionParams(_Workplace, Request[NewSessionResult], frozen=True, kw_only=True):
    """Make a session."""

    method = "session/new"


class LoadSessionParams(_Workplace, Request[OpenedSession], frozen=True, kw_only=True):
    """Open a session again; the agent replays it as updates before it answers."""

    method = "session/load"
    session_id: str


class ResumeSessionParams(_Workplace, Request[OpenedSession], frozen=True, kw_only=True):
    """Open a session again, without a replay."""

    method = "session/resume"
    session_id: str


class ForkSessionParams(_Workplace, Request[NewSessionResult], frozen=True, kw_only=True):
    """Copy a session; some agents replay the copy before they answer."""

    method = "session/fork"
    session_id: str


class CloseSessionParams(Request[None], frozen=True):
    """Close a session, for agents with the capability."""

    method = "session/close"
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

    method = "session/list"
    cwd: str
    cursor: str | None = None


class DeleteSessionParams(Request[None], frozen=True):
    """Delete a saved session."""

    method = "session/delete"
    session_id: str


class TitleResult(Wire, frozen=True):
    """The title that a session has now."""

    title: str | None = None


class SetTitleParams(Request[TitleResult], frozen=True):
    """Rename a session; of the protocol's next version, as Codex knows it."""

    method = "session/set_title"
    session_id: str
    title: str
