"""Codec: JSON-RPC bodies whose `params` and `result` stay undecoded.

An adapter decodes each message once, directly into the types of its protocol.
"""

from __future__ import annotations

from collections.abc import Mapping

from eca_nvim.jsonrpc import Envelope, JsonCodec, NotAMessage
from eca_nvim.protocol.base.body import decode_body


class RawCodec:
    """Leaves `params` and `result` undecoded; writes ASCII, which can encode any text."""

    def __init__(self) -> None:
        self._plain = JsonCodec()

    def decode(self, body: bytes) -> Envelope:
        """Read the outermost object of a message. Raises NotAMessage."""
        try:
            return decode_body(body)
        except ValueError as error:
            raise NotAMessage(str(error)) from error

    def encode(self, message: Mapping[str, object]) -> bytes:
        """Write a JSON object as ASCII."""
        return self._plain.encode(message)
