"""Decode: the notifications and requests of an agent, by their methods."""

from typing import cast

from eca_nvim.protocol.acp.registry import (
    AGENT_NOTIFICATIONS,
    AGENT_REQUESTS,
    AgentNotification,
    AgentRequest,
)
from eca_nvim.protocol.base.decode import decode_as
from eca_nvim.protocol.base.types import Unknown


def decode_notification(method: str, params: object = None) -> AgentNotification | Unknown:
    """Read an agent's notification. Raises DecodeError."""
    kind = AGENT_NOTIFICATIONS.get(method)
    return cast(AgentNotification | Unknown, decode_as(kind, params, method))


def decode_agent_request(method: str, params: object = None) -> AgentRequest | Unknown:
    """Read an agent's request; answer an `Unknown` with error -32601. Raises DecodeError."""
    kind = AGENT_REQUESTS.get(method)
    return cast(AgentRequest | Unknown, decode_as(kind, params, method))
