"""The ECA protocol as types: every message between this client and an ECA server.

Each theme has a file (`lifecycle`, `content`, `tool_call`, `chats`, `editor` …). A message's type
carries the name of its method, a request's type names the type of its answer; what any protocol's
messages share is in `protocol/base`.

Fields of older protocols are marked as such: `agents/eca/older` turns them into today's.
"""

from typing import TypeAlias, cast

from eca_nvim.protocol.base.codec import DecodeError, decode_as, decode_result, encode
from eca_nvim.protocol.base.types import Notification, Request, Unknown, UnknownPart, by_method
from eca_nvim.protocol.eca import chat, code, content, editor, lifecycle, memory, providers, tools
from eca_nvim.protocol.eca.lifecycle import Failure

ServerNotification: TypeAlias = (
    content.ContentReceived
    | chat.StatusChanged
    | chat.ChatOpened
    | chat.ChatCleared
    | chat.ChatDeleted
    | chat.ConfigUpdated
    | code.RewriteContentReceived
    | tools.ToolServerUpdated
    | tools.ToolServerRemoved
    | providers.ProvidersUpdated
    | tools.JobsUpdated
    | memory.MemoryIndexLoaded
    | lifecycle.TaskProgress
    | lifecycle.ShowMessage
)

ServerRequest: TypeAlias = (
    editor.GetDiagnostics | editor.GetDefinition | editor.GetReferences | content.AskQuestion
)

SERVER_NOTIFICATIONS = by_method(ServerNotification)
SERVER_REQUESTS = by_method(ServerRequest)


def decode_server_request(method: str, params: object = None) -> ServerRequest | Unknown:
    """Read a server's request; answer an `Unknown` with error -32601. Raises DecodeError."""
    kind = SERVER_REQUESTS.get(method)
    return cast(ServerRequest | Unknown, decode_as(kind, params, method))
