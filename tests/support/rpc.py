"""Msgpack-RPC with a child process over two pipes, without threads.

Bytes are read and written only in `pump`, so nothing changes between two lines of a test. Writing
never blocks: what the child does not read yet is kept for the next pump. An answer that comes after
its request was given up is dropped.
"""

import os
import select
import time
from collections.abc import Callable
from typing import NamedTuple

import msgpack
from tests.support.screen import Value

CHUNK = 1 << 16
REQUEST, RESPONSE, NOTIFICATION = 0, 1, 2


class ChannelClosed(ConnectionError):
    """Raised if the child has closed its end: it has exited, or is about to."""


class Response(NamedTuple):
    """The answer to one request; `error` is None if it succeeded."""

    error: Value
    result: Value


class Channel:
    """One msgpack-RPC peer. It calls `notified` with a notification's method and parameters."""

    def __init__(
        self, reader: int, writer: int, notified: Callable[[str, list[Value]], None]
    ) -> None:
        self._reader, self._writer, self._notified = reader, writer, notified
        self._outgoing = bytearray()
        self._packer = msgpack.Packer(unicode_errors="surrogateescape")
        self._unpacker = msgpack.Unpacker(
            ext_hook=_handle_number, strict_map_key=False, unicode_errors="surrogateescape"
        )
        self._last_id = 0
        self._awaited: dict[int, Response | None] = {}
        os.set_blocking(writer, False)

    def notify(self, method: str, *parameters: Value) -> None:
        """Queue a notification."""
        self._queue([NOTIFICATION, method, parameters])

    def send(self, method: str, *parameters: Value) -> int:
        """Queue a request; returns its id, for `take` and `forget`."""
        self._last_id += 1
        self._awaited[self._last_id] = None
        self._queue([REQUEST, self._last_id, method, parameters])
        return self._last_id

    def take(self, request: int) -> Response | None:
        """Return the answer to a request, once; None if it has not come."""
        response = self._awaited[request]
        if response is not None:
            del self._awaited[request]
        return response

    def forget(self, request: int) -> None:
        """Drop the answer to a request when it comes."""
        self._awaited.pop(request, None)

    def request(self, method: str, *parameters: Value, deadline: float) -> Response | None:
        """Send a request; wait until `deadline` (monotonic seconds); None without an answer."""
        request = self.send(method, *parameters)
        response = self.take(request)
        while response is None and (left := deadline - time.monotonic()) > 0:
            self.pump(left)
            response = self.take(request)
        if response is None:
            self.forget(request)
        return response

    def pump(self, timeout: float) -> None:
        """Write queued bytes and read what came; return after `timeout` seconds without either.

        Raises ChannelClosed at the end of the stream.
        """
        writers = [self._writer] if self._outgoing else []
        readable, writable, _ = select.select([self._reader], writers, [], max(0.0, timeout))
        if writable:
            self._write()
        if readable:
            self._read()

    def _queue(self, message: list[Value]) -> None:
        self._outgoing += self._packer.pack(message)
        self._write()

    def _write(self) -> None:
        try:
            written = os.write(self._writer, self._outgoing)
        except BlockingIOError:
            return
        except BrokenPipeError:
            raise ChannelClosed("the child reads no more") from None
        del self._outgoing[:written]

    def _read(self) -> None:
        data = os.read(self._reader, CHUNK)
        if not data:
            raise ChannelClosed("the child has closed its output")
        self._unpacker.feed(data)
        for message in self._unpacker:
            self._dispatch(message)

    def _dispatch(self, message: list[Value]) -> None:
        match message:
            case [int(kind), number, error, result] if kind == RESPONSE:
                if number in self._awaited:
                    self._awaited[number] = Response(error, result)
            case [int(kind), method, parameters] if kind == NOTIFICATION:
                self._notified(method, parameters)
            case [int(kind), number, method, _] if kind == REQUEST:
                self._queue([RESPONSE, number, f"a test answers no {method}", None])
            case _:
                raise ValueError(f"not msgpack-rpc: {message!r}")


def _handle_number(_kind: int, data: bytes) -> int:
    """Decode buffers, windows and tab pages, which are extension types, as numbers."""
    number: int = msgpack.unpackb(data)
    return number
