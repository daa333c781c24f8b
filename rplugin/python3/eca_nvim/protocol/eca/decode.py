"""From the wire to types.

Rules: whatever a server sends is one of three things: a message of its type, an `Unknown` kept
as it came, or a `DecodeError` that names the method and the field. What is read here is the
`params` or `result` of a JSON-RPC message: decoded JSON, None when there is none, or, faster,
the `msgspec.Raw` that `decode_body` leaves in its place.
"""

import functools
from typing import TypeVar, cast

import msgspec

from eca_nvim.protocol.eca.base import Request, Unknown, result_type
from eca_nvim.protocol.eca.body import decode_raw
from eca_nvim.protocol.eca.registry import (
    SERVER_NOTIFICATIONS,
    SERVER_REQUESTS,
    ServerNotification,
    ServerRequest,
)

from . import lenient

ResultT = TypeVar("ResultT")


class DecodeError(ValueError):
    """Raised when a message lacks a tag or an id it cannot do without, or is no JSON.

    `method` is the message's, `path` the field (`$.content.id`), `reason` what is wrong there.
    """

    def __init__(self, method: str, path: str, reason: str) -> None:
        super().__init__(f"{method}: {path} {reason}")
        self.method = method
        self.path = path
        self.reason = reason


_decoder = functools.cache(msgspec.json.Decoder)


def decode_notification(method: str, params: object = None) -> ServerNotification | Unknown:
    """Read a server's notification. Raises DecodeError."""
    kind = SERVER_NOTIFICATIONS.get(method)
    return cast(ServerNotification | Unknown, _decode_params(kind, method, params))


def decode_server_request(method: str, params: object = None) -> ServerRequest | Unknown:
    """Read a server's request; an `Unknown` is to be answered with -32601. Raises DecodeError."""
    kind = SERVER_REQUESTS.get(method)
    return cast(ServerRequest | Unknown, _decode_params(kind, method, params))


def decode_result(request: type[Request[ResultT]], result: object) -> ResultT:
    """Read the answer to a request that was sent. Raises DecodeError."""
    kind = result_type(request)
    if kind is type(None):
        return None
    return cast(ResultT, decode_as(kind, result, request.method))


def decode_as(kind: object, value: object, method: str) -> object:
    """Read a value as one type of the protocol, in its shape of today or an older one.

    `method` only names the message in the error. Raises DecodeError.
    """
    if not lenient.has_older_names(kind):
        try:
            return _fit(kind, value)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            pass  # it does not fit as it came: reading it leniently mends it or says what is wrong
    plain = _plain(value, method)
    try:
        return lenient.read(lenient.type_info(kind), {} if plain is None else plain)
    except lenient.Misfit as fault:
        raise DecodeError(method, fault.path, fault.reason) from fault


def _decode_params(kind: type | None, method: str, params: object) -> object:
    if kind is None:
        return Unknown(method, _plain(params, method))
    return decode_as(kind, params, method)


def _fit(kind: object, value: object) -> object:
    if type(value) is msgspec.Raw:
        return _decoder(kind).decode(value)
    return msgspec.convert(value, kind)


def _plain(value: object, method: str) -> object:
    if type(value) is not msgspec.Raw:
        return value
    try:
        return decode_raw(value)
    except ValueError as fault:
        raise DecodeError(method, "$", str(fault)) from fault
