"""The Agent Client Protocol (ACP, version 1) as types: each message between client and agent.

Each theme has a file (`lifecycle`, `sessions`, `tool_call`, `updates`, `content` …). A
message's type carries the name of its method, a request's type names the type of its answer.
`messages` lists those of the agent and reads them; what any protocol's messages share
is in `protocol/base`.

Rule: members that nothing here uses, `_meta` above all, have no field: they are skipped unread.
"""

from eca_nvim.protocol.acp.messages import decode_agent_request, decode_notification
from eca_nvim.protocol.base.codec import DecodeError, decode_result, encode
from eca_nvim.protocol.base.types import Notification, Request, Unknown, UnknownPart

__all__ = [
    "DecodeError",
    "Notification",
    "Request",
    "Unknown",
    "UnknownPart",
    "decode_agent_request",
    "decode_notification",
    "decode_result",
    "encode",
]
