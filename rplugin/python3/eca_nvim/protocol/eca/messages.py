"""Messages: all that a server sends, by method."""

from collections.abc import Mapping
from typing import TypeAlias, cast, get_args

from eca_nvim.protocol.base.codec import decode_as
from eca_nvim.protocol.base.types import Unknown

from . import chat, code, content, editor, lifecycle, providers, tools

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
    | lifecycle.TaskProgress
    | lifecycle.ShowMessage
)

ServerRequest: TypeAlias = (
    editor.GetDiagnostics | editor.GetDefinition | editor.GetReferences | content.AskQuestion
)


def by_method(messages: object) -> Mapping[str, type]:
    """Return the types of a union by the method of each."""
    return {kind.method: kind for kind in get_args(messages)}


SERVER_NOTIFICATIONS = by_method(ServerNotification)
SERVER_REQUESTS = by_method(ServerRequest)


def decode_server_request(method: str, params: object = None) -> ServerRequest | Unknown:
    """Read a server's request; answer an `Unknown` with error -32601. Raises DecodeError."""
    kind = SERVER_REQUESTS.get(method)
    return cast(ServerRequest | Unknown, decode_as(kind, params, method))
