"""Codec: from the bytes of one message to its outermost object and back.

A layer with types of its own passes its own codec. If that leaves `params` and `result` as raw
bytes, the layer can decode each message once, directly into its types.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import NamedTuple, Protocol

from eca_nvim.jsonrpc.messages import Envelope, NotAMessage


class Codec(Protocol):
    """Reads and writes JSON."""

    def decode(self, body: bytes) -> Envelope:
        """Read the outermost object of a message.

        Raises NotAMessage, and nothing else, for bytes that are not a JSON object.
        """

    def encode(self, message: Mapping[str, object]) -> bytes:
        """Write a JSON object as UTF-8 without raw line feeds."""


class JsonEnvelope(NamedTuple):
    """The outermost object of a message, with decoded parts."""

    id: object
    method: object
    params: object
    result: object
    error: object


class JsonCodec:
    """A codec with the standard library's JSON."""

    def decode(self, body: bytes) -> JsonEnvelope:
        """Read the outermost object of a message. Raises NotAMessage."""
        try:
            message = json.loads(body)
        except (ValueError, RecursionError) as error:
            raise NotAMessage(f"not JSON: {error}") from error
        if not isinstance(message, dict):
            raise NotAMessage("not a JSON object")
        get = message.get
        return JsonEnvelope(get("id"), get("method"), get("params"), get("result"), get("error"))

    def encode(self, message: Mapping[str, object]) -> bytes:
        """Write a JSON object as ASCII."""
        return json.dumps(message, separators=(",", ":")).encode()
