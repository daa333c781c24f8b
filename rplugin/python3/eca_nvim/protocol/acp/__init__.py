"""The Agent Client Protocol (ACP, version 1) as types: each message between client and agent.

Each theme has a file. A message's type carries the name of its method, a request's type names the
type of its answer; what any protocol's messages share is in `protocol/base`. Members that nothing
here uses, `_meta` above all, have no field: they are skipped unread.
"""

from typing import TypeAlias, cast

from eca_nvim.protocol.acp import client_requests, elicitation, lifecycle, tool_call, updates
from eca_nvim.protocol.base.codec import DecodeError, decode_as, decode_result, encode
from eca_nvim.protocol.base.types import Notification, Request, Unknown, UnknownPart, by_method

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

AGENT_NOTIFICATIONS = by_method(AgentNotification)
AGENT_REQUESTS = by_method(AgentRequest)


def decode_notification(method: str, params: object = None) -> AgentNotification | Unknown:
    """Read an agent's notification. Raises DecodeError."""
    kind = AGENT_NOTIFICATIONS.get(method)
    return cast(AgentNotification | Unknown, decode_as(kind, params, method))


def decode_agent_request(method: str, params: object = None) -> AgentRequest | Unknown:
    """Read an agent's request; answer an `Unknown` with error -32601. Raises DecodeError."""
    kind = AGENT_REQUESTS.get(method)
    return cast(AgentRequest | Unknown, decode_as(kind, params, method))
