"""The ECA protocol as types: every message between this client and an ECA server.

One file a theme (`lifecycle`, `content`, `tool_call`, `chats`, `editor` …), each with the types
of its messages; a type carries its method's name and a request names its answer. `registry`
lists them all; `body`, `decode` and `encode` are the way in and out; `lenient` reads what does
not fit, older servers' shapes above all; `base` holds what messages are made of. Old names end
here: the rest of the program sees today's.
"""

from eca_nvim.protocol.eca.base import Notification, Request, Unknown, UnknownPart
from eca_nvim.protocol.eca.body import decode_body
from eca_nvim.protocol.eca.decode import (
    DecodeError,
    decode_notification,
    decode_result,
    decode_server_request,
)
from eca_nvim.protocol.eca.encode import encode
from eca_nvim.protocol.eca.failures import Failure, read_failure

__all__ = [
    "DecodeError",
    "Failure",
    "Notification",
    "Request",
    "Unknown",
    "UnknownPart",
    "decode_body",
    "decode_notification",
    "decode_result",
    "decode_server_request",
    "encode",
    "read_failure",
]
