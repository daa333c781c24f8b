"""Decode: from the wire to types.

Rules: any message becomes a value of its type, an `Unknown` with the original params, or a
`DecodeError` that names the method and the field. The input is the `params` or `result` of a
JSON-RPC message: decoded JSON, None, or, faster, the `msgspec.Raw` that `decode_body` returns.
"""

import functools
from collections.abc import Callable
from typing import TypeVar, cast

import msgspec

from eca_nvim.protocol.base import lenient
from eca_nvim.protocol.base.body import decode_raw
from eca_nvim.protocol.base.types import Request, Unknown, result_type

ResultT = TypeVar("ResultT")


class DecodeError(ValueError):
    """Raised when a message lacks a required tag or id, or is not JSON.

    `method` is the message's, `path` the field (`$.content.id`), `reason` what is wrong there.
    """

    def __init__(self, method: str, path: str, reason: str) -> None:
        super().__init__(f"{method}: {path} {reason}")
        self.method = method
        self.path = path
        self.reason = reason


@functools.cache
def _decoder(kind: object) -> Callable[[msgspec.Raw], object] | None:
    """Return the function that reads today's form; None for a type that has older names."""
    return None if lenient.has_older_names(kind) else msgspec.json.Decoder(kind).decode


def decode_result(request: type[Request[ResultT]], result: object) -> ResultT:
    """Read the response to a request of this type. Raises DecodeError."""
    kind = result_type(request)
    if kind is type(None):
        return None
    return cast(ResultT, decode_as(kind, result, request.method))


def decode_as(kind: object | None, value: object, method: str) -> object:
    """Read a value as a type of the protocol, in today's form or an older one: hot path.

    kind: None for a method that the protocol does not have; its params become an `Unknown`. Raises
    DecodeError.
    """
    if kind is None:
        return Unknown(method, _plain(value, method))
    decode = _decoder(kind)
    if decode is not None:
        try:
            return decode(value) if type(value) is msgspec.Raw else msgspec.convert(value, kind)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            pass  # the lenient reader below repairs the value or says what is wrong
    plain = _plain(value, method)
    try:
        return lenient.read(lenient.type_info(kind), {} if plain is None else plain)
    except lenient.Misfit as fault:
        raise DecodeError(method, fault.path, fault.reason) from fault


def _plain(value: object, method: str) -> object:
    if type(value) is not msgspec.Raw:
        return value
    try:
        return decode_raw(value)
    except ValueError as fault:
        raise DecodeError(method, "$", str(fault)) from fault
