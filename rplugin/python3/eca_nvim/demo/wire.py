"""Stdin and stdout as a JSON-RPC peer.

Rules kept here: stdout carries frames only; a slow reader slows us down instead of filling memory.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable

from eca_nvim.jsonrpc import ErrorResponse, Event, MessageId, Peer, Response

READ_BYTES = 1 << 16


class RequestFailed(Exception):
    """Raised when the client answered a request of ours with an error."""


class Wire:
    """One conversation over two pipes."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._peer = Peer()
        self._waiting: dict[MessageId, asyncio.Future[object]] = {}
        self.tap: Callable[[str, object], None] | None = None
        """Who hears what is sent, too."""

    @classmethod
    async def open(cls) -> Wire:
        """Take over stdin and stdout of this process."""
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader()
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
        transport, protocol = await loop.connect_write_pipe(
            asyncio.streams.FlowControlMixin, sys.stdout
        )
        return cls(reader, asyncio.StreamWriter(transport, protocol, None, loop))

    async def events(self) -> AsyncIterator[Event]:
        """Give what the client says, without the answers to our requests, until it leaves."""
        while data := await self._reader.read(READ_BYTES):
            for event in self._peer.receive_bytes(data):
                if isinstance(event, Response | ErrorResponse):
                    self._settle(event)
                else:
                    yield event

    def notify(self, method: str, params: object) -> None:
        """Send a notification."""
        if self.tap is not None:
            self.tap(method, params)
        self._writer.write(self._peer.send_notification(method, params))

    def respond(self, request_id: MessageId, result: object) -> None:
        """Answer a request."""
        self._writer.write(self._peer.respond(request_id, result))

    def refuse(self, request_id: MessageId, code: int, message: str) -> None:
        """Answer a request with an error."""
        self._writer.write(self._peer.respond_error(request_id, code, message))

    async def request(self, method: str, params: object) -> object:
        """Ask the client; raise RequestFailed when it answers with an error."""
        request_id, data = self._peer.send_request(method, params)
        answer = asyncio.get_running_loop().create_future()
        self._waiting[request_id] = answer
        self._writer.write(data)
        try:
            return await answer
        finally:
            self._waiting.pop(request_id, None)

    async def drain(self) -> None:
        """Wait while the client is slow to read."""
        await self._writer.drain()

    def _settle(self, answer: Response | ErrorResponse) -> None:
        waiting = self._waiting.get(answer.id) if answer.id is not None else None
        if waiting is None or waiting.done():
            return
        if isinstance(answer, Response):
            waiting.set_result(answer.result)
        else:
            waiting.set_exception(RequestFailed(answer.message))
