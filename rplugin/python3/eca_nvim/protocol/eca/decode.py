"""From the wire to types.

Rules: whatever a server sends is one of three things: a message of its type, an `Unknown` kept
as it came, or a `DecodeError` that names the method and the field. What is read here is the
`params` or `result` of a JSON-RPC message: decoded JSON or, faster, the `msgspec.Raw` that
`decode_body` leaves in its place.
"""

import functools
from typing import Any, TypedDict, TypeVar, cast

import msgspec

from eca_nvim.protocol.eca import lenient
from eca_nvim.protocol.eca.base import Request, Unknown, result_type
from eca_nvim.protocol.eca.registry import (
    SERVER_NOTIFICATIONS,
    SERVER_REQUESTS,
    ServerNotification,
    ServerRequest,
)

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


class _Body(TypedDict, total=False):
    jsonrpc: Any
    id: Any
    method: Any
    params: msgspec.Raw
    result: msgspec.Raw
    error: Any


_body_decoder = msgspec.json.Decoder(_Body)
_decoder = functools.cache(msgspec.json.Decoder)


def decode_body(body: bytes) -> object:
    """Decode one JSON-RPC message, leaving `params` and `result` as `msgspec.Raw`.

    The result is the dict that `json.loads` would give but for those two; a body that is no
    object (a batch) comes decoded whole. Raises ValueError when it is no JSON.
    """
    try:
        return _body_decoder.decode(body)
    except msgspec.ValidationError:
        return msgspec.json.decode(body)
    except msgspec.DecodeError as fault:
        raise ValueError(str(fault)) from fault


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
    try:
        if not lenient.has_older_names(kind):
            return _fit(kind, value)
    except msgspec.ValidationError:
        pass  # it does not fit as it came: the lenient reading mends it or says what is wrong
    except msgspec.DecodeError as fault:
        raise DecodeError(method, "$", str(fault)) from fault
    try:
        return lenient.read(lenient.type_info(kind), _plain(value, method))
    except lenient.Misfit as fault:
        raise DecodeError(method, fault.path, fault.reason) from fault


def _decode_params(kind: type | None, method: str, params: object) -> object:
    if kind is None or isinstance(params, list):
        return Unknown(method, _plain(params, method))
    return decode_as(kind, {} if params is None else params, method)


def _fit(kind: object, value: object) -> object:
    if type(value) is msgspec.Raw:
        return _decoder(kind).decode(value)
    return msgspec.convert(value, kind)


def _plain(value: object, method: str) -> object:
    if type(value) is not msgspec.Raw:
        return value
    try:
        return msgspec.json.decode(value)
    except msgspec.DecodeError as fault:
        raise DecodeError(method, "$", str(fault)) from fault
