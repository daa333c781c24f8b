"""Answers: what the agent's requests are answered with; nothing is raised once it has ended."""

from __future__ import annotations

from contextlib import suppress

from eca_nvim.jsonrpc import MessageId
from eca_nvim.protocol.acp import encode
from eca_nvim.protocol.base.types import Wire
from eca_nvim.transport import Connection, ConnectionClosed


class Answers:
    """Answers the requests of one agent process. Raises NotOpen for one that has its answer."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def respond(self, request_id: MessageId, result: Wire) -> None:
        """Answer a request by a result."""
        with suppress(ConnectionClosed):
            self._connection.respond(request_id, encode(result))

    def refuse(self, request_id: MessageId, code: int, message: str) -> None:
        """Answer a request by an error; `message` is one line."""
        with suppress(ConnectionClosed):
            self._connection.respond_error(request_id, code, message)
