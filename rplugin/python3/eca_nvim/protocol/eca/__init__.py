"""The ECA protocol as types: every message between this client and an ECA server.

Each theme has a file (`lifecycle`, `content`, `tool_call`, `chats`, `editor` …). A message's type
carries the name of its method, a request's type names the type of its answer. `registry` lists the
messages of the server. `body`, `decode` and `encode` turn bytes into types and back, `lenient`
reads messages that do not fit, `base` has what all of them share.

Rule: names of older protocols end here. The rest of the program sees today's.
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
