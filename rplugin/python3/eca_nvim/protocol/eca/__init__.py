"""The ECA protocol as types: every message between this client and an ECA server.

Each theme has a file (`lifecycle`, `content`, `tool_call`, `chats`, `editor` …). A message's type
carries the name of its method, a request's type names the type of its answer. `messages` lists
those of the server and reads them; what any protocol's messages share is in
`protocol/base`.

Fields of older protocols are marked as such: `agents/eca/older` turns them into today's.
"""

from eca_nvim.protocol.base.codec import DecodeError, decode_result, encode
from eca_nvim.protocol.base.types import Notification, Request, Unknown, UnknownPart
from eca_nvim.protocol.eca.lifecycle import Failure
from eca_nvim.protocol.eca.messages import decode_server_request
