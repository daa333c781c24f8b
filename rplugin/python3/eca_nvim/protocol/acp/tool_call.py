"""Tool call: as updates and requests for permission (session/request_permission) describe it."""

from typing import Any, TypeAlias

import msgspec

from eca_nvim.protocol.acp.content import ContentBlock
from eca_nvim.protocol.base.types import Int, OpenEnum, Request, UnknownPart, Wire


class ToolKind(OpenEnum):
    """What a tool does."""

    READ = "read"
    EDIT = "edit"
    DELETE = "delete"
    MOVE = "move"
    SEARCH = "search"
    EXECUTE = "execute"
    THINK = "think"
    FETCH = "fetch"
    SWITCH_MODE = "switch_mode"
    OTHER = "other"
    UNKNOWN = "unknown"


class CallStatus(OpenEnum):
    """How far a call is; PENDING: its arguments are being written, or it waits for permission."""

    PENDING = "pending"
    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"
    FAILED = "failed"
    UNKNOWN = "unknown"


class CallContent(Wire, frozen=True, tag_field="type", tag="content"):
    """A block that the call shows."""

    content: ContentBlock


class CallDiff(Wire, frozen=True, tag_field="type", tag="diff"):
    """A change of a file: of all its text or of a part of it; a new file has no old text."""

    path: str
    new_text: str
    old_text: str | None = None


class CallTerminal(Wire, frozen=True, tag_field="type", tag="terminal"):
    """What a terminal prints; some agents name one that they run themselves."""

    terminal_id: str


class UnknownCallContent(UnknownPart, frozen=True, tag_field="type", tag=""):
    """Content of an unknown type."""


AnyCallContent: TypeAlias = CallContent | CallDiff | CallTerminal | UnknownCallContent


class CallLocation(Wire, frozen=True):
    """A file that the call works on; `line` is 1-based."""

    path: str
    line: Int | None = None


class TerminalOutput(Wire, frozen=True):
    """The next piece of what the agent's own terminal prints."""

    data: str = ""


class TerminalExit(Wire, frozen=True):
    """The end of the agent's own terminal."""

    exit_code: Int | None = msgspec.field(default=None, name="exit_code")
    signal: str | None = None


class CallMeta(Wire, frozen=True):
    """What `_meta` says about the agent's own terminal; nothing else of it is read."""

    output: TerminalOutput | None = msgspec.field(default=None, name="terminal_output")
    output_delta: TerminalOutput | None = msgspec.field(default=None, name="terminal_output_delta")
    exit: TerminalExit | None = msgspec.field(default=None, name="terminal_exit")


class ToolCallUpdate(Wire, frozen=True, kw_only=True):
    """What is new about a tool call; all but its id may be missing.

    content, locations: the whole list, which replaces the one before.
    """

    tool_call_id: str
    title: str | None = None
    name: str | None = None
    kind: ToolKind | None = None
    status: CallStatus | None = None
    content: tuple[AnyCallContent, ...] | None = None
    locations: tuple[CallLocation, ...] | None = None
    raw_input: Any = None
    raw_output: Any = None
    meta: CallMeta | None = msgspec.field(default=None, name="_meta")


class OptionKind(OpenEnum):
    """What an option means."""

    ALLOW_ONCE = "allow_once"
    ALLOW_ALWAYS = "allow_always"
    REJECT_ONCE = "reject_once"
    REJECT_ALWAYS = "reject_always"
    UNKNOWN = "unknown"


class PermissionOption(Wire, frozen=True):
    """An answer that the agent offers; `name` says how far it goes."""

    option_id: str
    name: str
    kind: OptionKind = OptionKind.UNKNOWN


class Selected(Wire, frozen=True, tag_field="outcome", tag="selected"):
    """The user's answer."""

    option_id: str


class Cancelled(Wire, frozen=True, tag_field="outcome", tag="cancelled"):
    """The turn was cancelled, and with it the question."""


Outcome: TypeAlias = Selected | Cancelled


class PermissionResult(Wire, frozen=True):
    """The answer to a request for permission."""

    outcome: Outcome


class RequestPermission(Request[PermissionResult], frozen=True):
    """Ask whether a tool call may run; `tool_call` may hold no more than the call's id."""

    method = "session/request_permission"
    session_id: str
    tool_call: ToolCallUpdate
    options: tuple[PermissionOption, ...] = ()
