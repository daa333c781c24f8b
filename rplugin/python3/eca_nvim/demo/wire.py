"""Stdin and stdout as a JSON-RPC peer.

Rules kept here: only frames are written to stdout. A slow reader slows us down instead of filling
our memory.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable

from eca_nvim.jsonrpc import ErrorResponse, Event, Framing, MessageId, Peer, Response

READ_BYTES = 1 << 16


class RequestFailed(Exception):
    """Raised when the client answers one of our requests with an error."""


class Wire:
    """The connection to one client, over two pipes."""

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        framing: Framing | None = None,
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._peer = Peer(framing=framing)
        self._waiting: dict[MessageId, asyncio.Future[object]] = {}
        self.on_sent: Callable[[str, object], None] | None = None
        """Called with each notification that is sent: method and parameters."""

    @classmethod
    async def open(cls, framing: Framing | None = None) -> Wire:
        """Connect to stdin and stdout of this process."""
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader()
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
        transport, protocol = await loop.connect_write_pipe(
            asyncio.streams.FlowControlMixin, sys.stdout
        )
        return cls(reader, asyncio.StreamWriter(transport, protocol, None, loop), framing)

    async def events(self) -> AsyncIterator[Event]:
        """Yield the client's messages, except answers to our requests, until it disconnects."""
        while data := await self._reader.read(READ_BYTES):
            for event in self._peer.receive_bytes(data):
                if isinstance(event, Response | ErrorResponse):
                    self._settle(event)
                else:
                    yield event

    def notify(self, method: str, params: object) -> None:
        """Send a notification."""
        if self.on_sent is not None:
            self.on_sent(method, params)
        self._writer.write(self._peer.send_notification(method, params))

    def respond(self, request_id: MessageId, result: object) -> None:
        """Answer a request."""
        self._writer.write(self._peer.respond(request_id, result))

    def refuse(self, request_id: MessageId, code: int, message: str) -> None:
        """Answer a request with an error."""
        self._writer.write(self._peer.respond_error(request_id, code, message))

    async def request(self, method: str, params: object) -> object:
        """Send a request and return its result. Raises RequestFailed on an error answer."""
        request_id, data = self._peer.send_request(method, params)
        answer = asyncio.get_running_loop().create_future()
        self._waiting[request_id] = answer
        self._writer.write(data)
        try:
            return await answer
        finally:
            self._waiting.pop(request_id, None)

    async def drain(self) -> None:
        """Wait until the client has read most of what was sent."""
        await self._writer.drain()

    def _settle(self, answer: Response | ErrorResponse) -> None:
        waiting = self._waiting.get(answer.id) if answer.id is not None else None
        if waiting is None or waiting.done():
            return
        if isinstance(answer, Response):
            waiting.set_result(answer.result)
        else:
            waiting.set_exception(RequestFailed(answer.message))
