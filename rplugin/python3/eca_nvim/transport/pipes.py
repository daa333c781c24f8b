"""Pipes: read from and write to a child process.

Rules this file keeps:

- A pipe is read in pieces of up to the kernel's buffer size; messages may have any size.
- The event loop reads directly: waking a task for every token would cost twice as much.
- After a whole piece, whatever else is ready comes first: Neovim's keys and acknowledgements do not
  wait until a fast server has finished.
- Writers never wait: bytes are queued, and one task writes them completely and in order.
- A pipe belongs to one task, its `run`, and is closed when that ends.
"""

from __future__ import annotations

import asyncio
import fcntl
import logging
import math
import os
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from io import FileIO
from types import TracebackType

import anyio

_READ_BYTES = 256 * 1024
_LAST_READS = 64  # another process that still has the pipe must not keep us reading for ever

logger = logging.getLogger(__name__)


class _End(AbstractContextManager[None]):
    """The end of a pipe, and the exception of the reading code if that caused it."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.reached: asyncio.Future[None] = loop.create_future()

    def reach(self) -> None:
        if not self.reached.done():
            self.reached.set_result(None)

    def __exit__(
        self, _kind: object, fault: BaseException | None, _traceback: TracebackType | None
    ) -> bool:
        if fault is not None and not self.reached.done():
            self.reached.set_exception(fault)
        return isinstance(fault, Exception)


def _enlarge(descriptor: int) -> None:
    """Let a pipe hold a whole read where the kernel can: each read costs, whatever it gets."""
    if sys.platform == "linux":
        with suppress(OSError):  # there is a limit for all pipes of a user
            fcntl.fcntl(descriptor, fcntl.F_SETPIPE_SZ, _READ_BYTES)


class ReadPipe:
    """A pipe that a child process writes to."""

    def __init__(self, file: FileIO) -> None:
        os.set_blocking(file.fileno(), False)
        _enlarge(file.fileno())
        self.ended = anyio.Event()
        self._file = file
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
        end = _End(loop)

        def listen() -> None:
            if not end.reached.done():
                loop.add_reader(self._file, read)

        def read() -> None:
            with end:
                data = self._file.read(_READ_BYTES)
                if data:
                    sink(data)
                elif data is not None:  # None: a spurious wake-up
                    end.reach()
                if data and len(data) == _READ_BYTES:
                    loop.remove_reader(self._file)
                    loop.call_soon(listen)

        listen()
        try:
            await end.reached
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
                    await self._write(data)
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

    async def _write(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            written = self._file.write(rest)
            if written is None:
                await anyio.wait_writable(self._file)
            else:
                rest = rest[written:]
