"""Messages: the notifications and requests of an agent, by method."""

from collections.abc import Mapping
from typing import TypeAlias, cast, get_args

from eca_nvim.protocol.acp.client_requests import (
    CreateTerminal,
    KillTerminal,
    ReadOutput,
    ReadTextFile,
    ReleaseTerminal,
    WaitForExit,
    WriteTextFile,
)
from eca_nvim.protocol.acp.elicitation import CreateElicitation, ElicitationCompleted
from eca_nvim.protocol.acp.lifecycle import CancelRequest
from eca_nvim.protocol.acp.tool_call import RequestPermission
from eca_nvim.protocol.acp.updates import SessionUpdated
from eca_nvim.protocol.base.codec import decode_as
from eca_nvim.protocol.base.types import Unknown

AgentNotification: TypeAlias = SessionUpdated | CancelRequest | ElicitationCompleted
TerminalRequest: TypeAlias = (
    CreateTerminal | ReadOutput | WaitForExit | KillTerminal | ReleaseTerminal
)
AgentRequest: TypeAlias = (
    RequestPermission | ReadTextFile | WriteTextFile | CreateElicitation | TerminalRequest
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
