"""Messages: the notifications and requests of an agent, by method."""

from collections.abc import Mapping
from typing import TypeAlias, cast, get_args

from eca_nvim.protocol.acp import client_requests, elicitation, lifecycle, tool_call, updates
from eca_nvim.protocol.base.codec import decode_as
from eca_nvim.protocol.base.types import Unknown

AgentNotification: TypeAlias = (
    updates.SessionUpdated | lifecycle.CancelRequest | elicitation.ElicitationCompleted
)
TerminalRequest: TypeAlias = (
    client_requests.CreateTerminal
    | client_requests.ReadOutput
    | client_requests.WaitForExit
    | client_requests.KillTerminal
    | client_requests.ReleaseTerminal
)
AgentRequest: TypeAlias = (
    tool_call.RequestPermission
    | client_requests.ReadTextFile
    | client_requests.WriteTextFile
    | elicitation.CreateElicitation
    | TerminalRequest
)

AGENT_NOTIFICATIONS: Mapping[str, type] = {
    kind.method: kind for kind in get_args(AgentNotification)
}
AGENT_REQUESTS: Mapping[str, type] = {kind.method: kind for kind in get_args(AgentRequest)}


def decode_notification(method: str, params: object = None) -> AgentNotification | Unknown:
    """Read an agent's notification. Raises DecodeError."""
    kind = AGENT_NOTIFICATIONS.get(method)
    return cast(AgentNotification | Unknown, decode_as(kind, params, method))


def decode_agent_request(method: str, params: object = None) -> AgentRequest | Unknown:
    """Read an agent's request; answer an `Unknown` with error -32601. Raises DecodeError."""
    kind = AGENT_REQUESTS.get(method)
    return cast(AgentRequest | Unknown, decode_as(kind, params, method))
