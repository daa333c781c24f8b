"""Decode: the notifications and requests of a server, by their methods."""

from typing import cast

from eca_nvim.protocol.base.decode import decode_as
from eca_nvim.protocol.base.types import Unknown
from eca_nvim.protocol.eca.registry import (
    SERVER_NOTIFICATIONS,
    SERVER_REQUESTS,
    ServerNotification,
    ServerRequest,
)


def decode_notification(method: str, params: object = None) -> ServerNotification | Unknown:
    """Read a server's notification. Raises DecodeError."""
    kind = SERVER_NOTIFICATIONS.get(method)
    return cast(ServerNotification | Unknown, decode_as(kind, params, method))


def decode_server_request(method: str, params: object = None) -> ServerRequest | Unknown:
    """Read a server's request; answer an `Unknown` with error -32601. Raises DecodeError."""
    kind = SERVER_REQUESTS.get(method)
    return cast(ServerRequest | Unknown, decode_as(kind, params, method))
