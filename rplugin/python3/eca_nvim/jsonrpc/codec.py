"""From the bytes of one message to its outermost object and back.

A layer with types of its own brings its own codec: one that leaves `params` and `result` as
raw bytes lets that layer decode each message once, straight into its types.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import NamedTuple, Protocol

from eca_nvim.jsonrpc.messages import Envelope, NotAMessage


class Codec(Protocol):
    """A way to read and write JSON."""

    def decode(self, body: bytes) -> Envelope:
        """Read the outermost object of a message.

        Raise `NotAMessage`, and nothing else, for bytes that are no JSON object.
        """

    def encode(self, message: Mapping[str, object]) -> bytes:
        """Write a JSON object as UTF-8 without raw line ends."""


class JsonEnvelope(NamedTuple):
    """The outermost object of a message, its parts decoded."""

    id: object
    method: object
    params: object
    result: object
    error: object


class JsonCodec:
    """The standard library's JSON."""

    def decode(self, body: bytes) -> JsonEnvelope:
        """Read the outermost object of a message; raise `NotAMessage`."""
        try:
            message = json.loads(body)
        except (ValueError, RecursionError) as error:
            raise NotAMessage(f"no JSON, {error}") from error
        if not isinstance(message, dict):
            raise NotAMessage("no JSON object")
        get = message.get
        return JsonEnvelope(get("id"), get("method"), get("params"), get("result"), get("error"))

    def encode(self, message: Mapping[str, object]) -> bytes:
        """Write a JSON object as ASCII."""
        return json.dumps(message, separators=(",", ":")).encode()
