"""The body of a JSON-RPC message: its outermost object, `params` and `result` left as bytes.

Left so, they are decoded once, straight into their type, by `decode`. Rule: text is never lost
for its encoding; what is no character (a byte that is no UTF-8, half of a surrogate pair, as a
server makes them that cuts text anywhere) becomes U+FFFD.
"""

import json
from typing import Any

import msgspec

NOTHING = msgspec.Raw(b"")
"""What `params` and `result` are when the message has none."""


MOST_DIGITS = 4000


class Body(msgspec.Struct, frozen=True):
    """A message: `id`, `method` and `error` decoded, None when absent, the rest raw."""

    id: Any = None
    method: Any = None
    params: msgspec.Raw = NOTHING
    result: msgspec.Raw = NOTHING
    error: Any = None


_decoder = msgspec.json.Decoder(Body)


def decode_body(body: bytes) -> Body:
    """Decode the outermost object of a message. Raises ValueError when it is no JSON object."""
    try:
        return _decoder.decode(body)
    except msgspec.ValidationError as fault:
        raise ValueError("no JSON object") from fault
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        mended = json.dumps(_mend(body)).encode()
    try:
        return _decoder.decode(mended)
    except msgspec.DecodeError as fault:
        raise ValueError(f"no JSON object: {fault}") from fault


def decode_raw(raw: msgspec.Raw) -> object:
    """Decode a part that was left raw to plain values. Raises ValueError when it is no JSON."""
    try:
        return msgspec.json.decode(raw) if raw else None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _mend(bytes(raw))


def _whole(digits: str) -> int | str:
    """Read a whole number; one that Python refuses to read stays text."""
    return int(digits) if len(digits) <= MOST_DIGITS else digits


def _mend(data: bytes) -> object:
    try:
        value = json.loads(data.decode(errors="replace"), strict=False, parse_int=_whole)
        text = json.dumps(value, ensure_ascii=False)
    except RecursionError as fault:
        raise ValueError("nested too deeply") from fault
    return json.loads(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))
