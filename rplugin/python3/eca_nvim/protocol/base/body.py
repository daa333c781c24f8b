"""The body of a JSON-RPC message: decodes its outermost object, but not `params` and `result`.

`decode` decodes these once, directly into their type. Rule: bad encoding never loses a text;
invalid UTF-8, or half a surrogate pair (from servers that cut text anywhere), becomes U+FFFD.
"""

import json
from typing import Any

import msgspec

NOTHING = msgspec.Raw(b"")
"""The value of `params` and `result` if the message has none."""


MOST_DIGITS = 4000


class Body(msgspec.Struct, frozen=True):
    """A message: `id`, `method` and `error` are decoded, None if absent; the rest is raw."""

    id: Any = None
    method: Any = None
    params: msgspec.Raw = NOTHING
    result: msgspec.Raw = NOTHING
    error: Any = None


_decoder = msgspec.json.Decoder(Body)


def decode_body(body: bytes) -> Body:
    """Decode the outermost object of a message. Raises ValueError if it is not a JSON object."""
    try:
        return _decoder.decode(body)
    except msgspec.ValidationError as fault:
        raise ValueError("not a JSON object") from fault
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        mended = json.dumps(_mend(body)).encode()
    try:
        return _decoder.decode(mended)
    except msgspec.DecodeError as fault:
        raise ValueError(f"not a JSON object: {fault}") from fault


def decode_raw(raw: msgspec.Raw) -> object:
    """Decode a raw part to plain values. Raises ValueError if it is not JSON."""
    try:
        return msgspec.json.decode(raw) if raw else None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _mend(bytes(raw))


def _whole(digits: str) -> int | str:
    """Read a whole number; one that is too long for Python stays text."""
    return int(digits) if len(digits) <= MOST_DIGITS else digits


def _mend(data: bytes) -> object:
    try:
        value = json.loads(data.decode(errors="replace"), strict=False, parse_int=_whole)
        text = json.dumps(value, ensure_ascii=False)
    except RecursionError as fault:
        raise ValueError("nested too deeply") from fault
    return json.loads(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))
