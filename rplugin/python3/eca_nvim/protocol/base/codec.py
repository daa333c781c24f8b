"""Codec: messages of any protocol: bodies, decoded and encoded.

Of a body only the outermost object is decoded at first; `params` and `result` once, directly into
their type.
"""

import functools
import json
from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar, cast

import msgspec

from eca_nvim.protocol.base import lenient, types
from eca_nvim.protocol.base.types import Request, Unknown, Wire

NOTHING = msgspec.Raw(b"")
"""The value of `params` and `result` if the message has none."""

MOST_DIGITS = 4000
"""A whole number of more digits is too long for Python: it stays text."""


class Body(msgspec.Struct, frozen=True):
    """A message: `id`, `method` and `error` are decoded, None if absent; the rest is raw."""

    id: Any = None
    method: Any = None
    params: msgspec.Raw = NOTHING
    result: msgspec.Raw = NOTHING
    error: Any = None


_body_decoder = msgspec.json.Decoder(Body)


def decode_body(body: bytes) -> Body:
    """Decode the outermost object of a message. Raises ValueError if it is not a JSON object."""
    try:
        return _body_decoder.decode(body)
    except msgspec.ValidationError as fault:
        raise ValueError("not a JSON object") from fault
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        mended = json.dumps(_mend(body)).encode()
    try:
        return _body_decoder.decode(mended)
    except msgspec.DecodeError as fault:
        raise ValueError(f"not a JSON object: {fault}") from fault


def _mend(data: bytes) -> object:
    def whole(digits: str) -> int | str:
        return int(digits) if len(digits) <= MOST_DIGITS else digits

    # Some servers cut text anywhere: invalid UTF-8, or half a surrogate pair, becomes U+FFFD.
    try:
        value = json.loads(data.decode(errors="replace"), strict=False, parse_int=whole)
        text = json.dumps(value, ensure_ascii=False)
    except RecursionError as fault:
        raise ValueError("nested too deeply") from fault
    return json.loads(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))


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


_decoder = functools.cache(msgspec.json.Decoder)
_kinds: Callable[[Any], Any] = functools.cache(types.result_type)

Form: TypeAlias = Callable[[str, object], object]
"""Returns a value of a method in the form of the protocol, if it is in another one."""


def decode_result(
    request: type[Request[ResultT]], result: object, form: Form | None = None
) -> ResultT:
    """Read the response to a request of this type; see `decode_as`. Raises DecodeError."""
    kind = _kinds(request)
    if kind is type(None):
        return cast(ResultT, None)
    return cast(ResultT, decode_as(kind, result, request.method, form))


def decode_as(kind: object, value: object, method: str, form: Form | None = None) -> object:
    """Read a value as a type of the protocol: hot path.

    kind: None for a method that the protocol does not have; its params become an `Unknown`. value:
    decoded JSON, None, or, faster, the `msgspec.Raw` that `decode_body` returns. form: applied to a
    value that does not fit, before it is read leniently. Raises DecodeError.
    """
    if kind is None:
        return Unknown(method, plain(value, method))
    try:
        if type(value) is msgspec.Raw:
            return _decoder(kind).decode(value)
        return msgspec.convert(value, kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        pass  # the lenient reader below repairs the value or says what is wrong
    mended = plain(value, method)
    if form is not None:
        mended = form(method, mended)
    try:
        return lenient.read(lenient.type_info(kind), {} if mended is None else mended)
    except lenient.Misfit as fault:
        raise DecodeError(method, fault.path, fault.reason) from fault


def plain(value: object, method: str) -> object:
    """Return params or a result as plain values. Raises DecodeError."""
    if type(value) is not msgspec.Raw:
        return value
    try:
        return msgspec.json.decode(value) if value else None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        pass
    try:
        return _mend(bytes(value))
    except ValueError as fault:
        raise DecodeError(method, "$", str(fault)) from fault


def encode(message: Wire) -> dict[str, Any]:
    """Turn params or a result into plain JSON values.

    A field that is UNSET or has its default is not sent.
    """
    return cast(dict[str, Any], msgspec.to_builtins(message))
