"""Pipes: read from and write to a child process, and keep the end of what it printed.

A pipe belongs to one task, its `run`, and is closed when that ends. Writers never wait: bytes are
queued, and one task writes them completely and in order.
"""

import asyncio
import codecs
import logging
import math
import os
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from io import FileIO

import anyio

from eca_nvim.system import widen

_PIECE = 1 << 16
"""Bytes up to which neighbouring pieces are joined: many tiny ones would cost more memory."""


class Printed:
    """The last `limit` bytes that were printed; no character is cut at their beginning."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._pieces = deque[bytearray]()
        self._size = 0
        self._is_cut = False

    def add(self, data: bytes) -> None:
        """Add bytes at the end."""
        last = self._pieces[-1] if self._pieces else None
        if last is not None and len(last) + len(data) <= _PIECE:
            last += data
        else:
            self._pieces.append(bytearray(data))
        self._size += len(data)
        while self._pieces and self._size - len(self._pieces[0]) >= self._limit:
            self._size -= len(self._pieces.popleft())
            self._is_cut = True

    def shrink(self, limit: int) -> None:
        """Keep no more than `limit` bytes from now on."""
        self._limit = min(self._limit, limit)
        self.add(b"")

    def text(self, limit: int) -> tuple[str, bool]:
        """Return at most `limit` bytes of text, and whether its beginning is missing."""
        limit, kept = min(limit, self._limit), b"".join(self._pieces)
        text = _decoded(_end_of(kept, limit))
        encoded = text.encode()
        if len(encoded) > limit:  # bytes that are no text are longer as characters
            text = _decoded(_end_of(encoded, limit))
        return text, self._is_cut or len(encoded) > limit or len(kept) > limit


def _end_of(data: bytes, limit: int) -> bytes:
    """Return the last bytes, from the first that begins a character."""
    if len(data) <= limit:
        return data
    start = len(data) - limit
    while start < len(data) and data[start] & 0xC0 == 0x80 and start < len(data) - limit + 4:
        start += 1
    return data[start:]


def _decoded(data: bytes) -> str:
    return codecs.getincrementaldecoder("utf-8")("replace").decode(data)


_READ_BYTES = 256 * 1024
_LAST_READS = 64  # another process that still has the pipe must not keep us reading for ever

logger = logging.getLogger(__name__)


class ReadPipe:
    """A pipe that a child process writes to."""

    def __init__(self, file: FileIO) -> None:
        os.set_blocking(file.fileno(), False)
        widen(file.fileno(), _READ_BYTES)  # each read costs, whatever it gets
        self.ended = anyio.Event()
        self._file = file
        self._room = memoryview(bytearray(_READ_BYTES))  # new memory for each read takes longer
        self._waiting = anyio.CancelScope()

    async def run(self, sink: Callable[[bytes], None]) -> None:
        """Pass arriving bytes to `sink`, until the end of the pipe or `finish`."""
        try:
            with self._waiting:
                await self._read_to_end(sink)
            if self._waiting.cancelled_caught:
                self._read_rest(sink)
        finally:
            self._file.close()
            self.ended.set()

    def finish(self) -> None:
        """Read what is in the pipe, then end: the process has exited."""
        self._waiting.cancel()

    async def _read_to_end(self, sink: Callable[[bytes], None]) -> None:
        loop = asyncio.get_running_loop()
        end: asyncio.Future[None] = loop.create_future()

        def listen() -> None:
            if not end.done():
                loop.add_reader(self._file, read)

        # Called by the loop itself: waking a task for every token would cost twice as much.
        def read() -> None:
            if end.done():
                return
            try:
                count = self._file.readinto(self._room)
                data = None if count is None else bytes(self._room[:count])
                if data:
                    sink(data)
            except Exception as fault:  # noqa: BLE001 - raised again in the awaiting task
                end.set_exception(fault)
                return
            if data == b"":  # None: a spurious wake-up
                end.set_result(None)
            # Whatever else is ready comes first: Neovim's keys do not wait for a fast server.
            elif data and len(data) == _READ_BYTES:
                loop.remove_reader(self._file)
                loop.call_soon(listen)

        listen()
        try:
            await end
        finally:
            loop.remove_reader(self._file)

    def _read_rest(self, sink: Callable[[bytes], None]) -> None:
        for _ in range(_LAST_READS):
            data = self._file.read(_READ_BYTES)
            if not data:
                return
            sink(data)


class WritePipe:
    """A pipe that a child process reads from."""

    def __init__(self, file: FileIO) -> None:
        os.set_blocking(file.fileno(), False)
        self.ended = anyio.Event()
        self.unwritten = 0
        """Bytes that are queued: the process has not made room for them by reading."""
        self._file = file
        self._queue, self._queued = anyio.create_memory_object_stream[bytes](math.inf)
        self._writing = anyio.CancelScope()

    def put(self, data: bytes) -> None:
        """Queue bytes; they are dropped if the pipe has ended or is ending."""
        try:
            self._queue.send_nowait(data)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            logger.debug("dropped %d bytes for a process that no longer reads", len(data))
        else:
            self.unwritten += len(data)

    async def run(self) -> None:
        """Write queued bytes, until `finish`, `abandon`, or the child closes its end."""
        try:
            with self._writing, self._queued:
                async for data in self._queued:
                    rest = memoryview(data)
                    while rest:
                        if (written := self._file.write(rest)) is None:
                            await anyio.wait_writable(self._file)
                        else:
                            rest = rest[written:]
                    self.unwritten -= len(data)
        except BrokenPipeError:
            logger.info("the process has closed its standard input")
        finally:
            self.close_now()
            self.ended.set()

    def finish(self) -> None:
        """Close the pipe as soon as all queued bytes are written."""
        self._queue.close()

    def abandon(self) -> None:
        """Close the pipe; queued bytes are lost."""
        self._writing.cancel()

    def write_now(self, data: bytes) -> None:
        """Write without an event loop; bytes that do not fit into the pipe are lost."""
        if not self._file.closed:
            with suppress(BrokenPipeError):
                self._file.write(data)

    def close_now(self) -> None:
        """Close the pipe without an event loop."""
        self._queue.close()
        self._file.close()
