"""Permission: session/request_permission; a tool call waits for its answer."""

from typing import ClassVar, TypeAlias

from eca_nvim.protocol.acp.tool_call import ToolCallUpdate
from eca_nvim.protocol.base.types import OpenEnum, Request, Wire


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

    method: ClassVar[str] = "session/request_permission"

    session_id: str
    tool_call: ToolCallUpdate
    options: tuple[PermissionOption, ...] = ()
