"""Failures: the error of a failed request."""

from typing import Any

import msgspec

from eca_nvim.protocol.base.types import Int, Wire

CANCELLED = -32800
METHOD_NOT_FOUND = -32601


class Failure(Wire, frozen=True, kw_only=True):
    """The `error` of a JSON-RPC response, or the `error` object in a result.

    In the server's own errors the code is a word ("cursor_expired", "chat_not_found",
    "invalid_request") or absent; some have a `type` ("error", "warning", "info").
    """

    code: Int | str | None = None
    message: str = ""
    type: str | None = None
    data: Any = None


def read_failure(error: object) -> Failure:
    """Read the `error` of a JSON-RPC response; a malformed one becomes the message."""
    try:
        return msgspec.convert(error, Failure)
    except msgspec.ValidationError:
        return Failure(message=str(error), data=error)
