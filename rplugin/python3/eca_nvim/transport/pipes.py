"""The two directions of a pipe to a child process.

Rules this file keeps:

- A pipe is read in pieces as large as the kernel holds; a message of any size passes.
- The event loop itself reads: to wake a task for every token would cost twice.
- Whoever writes never waits: bytes are queued, and one task writes them whole and in order.
- A pipe belongs to one task, its `run`, and is closed when that ends.
"""

from __future__ import annotations

import asyncio
import logging
import math
import os
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from io import FileIO
from types import TracebackType

import anyio

_READ_BYTES = 64 * 1024
_LAST_READS = 64  # a stranger that still holds the pipe must not keep us reading for ever

logger = logging.getLogger(__name__)


class _End(AbstractContextManager[None]):
    """The end of a pipe, and its reason when a fault of the code within brought it about."""

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


class ReadPipe:
    """What a child process writes."""

    def __init__(self, file: FileIO) -> None:
        os.set_blocking(file.fileno(), False)
        self.ended = anyio.Event()
        self._file = file
        self._waiting = anyio.CancelScope()

    async def run(self, sink: Callable[[bytes], None]) -> None:
        """Return `sink` what arrives, until the end of the pipe or `finish`."""
        try:
            with self._waiting:
                await self._read_to_end(sink)
            if self._waiting.cancelled_caught:
                self._read_rest(sink)
        finally:
            self._file.close()
            self.ended.set()

    def finish(self) -> None:
        """Take what is in the pipe and end: nobody will write to it any more."""
        self._waiting.cancel()

    async def _read_to_end(self, sink: Callable[[bytes], None]) -> None:
        loop = asyncio.get_running_loop()
        end = _End(loop)

        def read() -> None:
            with end:
                data = self._file.read(_READ_BYTES)
                if data:
                    sink(data)
                elif data is not None:  # None: woken for nothing
                    end.reach()

        loop.add_reader(self._file, read)
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
    """What a child process reads."""

    def __init__(self, file: FileIO) -> None:
        os.set_blocking(file.fileno(), False)
        self.ended = anyio.Event()
        self._file = file
        self._queue, self._queued = anyio.create_memory_object_stream[bytes](math.inf)
        self._writing = anyio.CancelScope()

    def put(self, data: bytes) -> None:
        """Queue bytes; they are dropped when the pipe has ended or is about to."""
        try:
            self._queue.send_nowait(data)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            logger.debug("dropped %d bytes for a process that reads no more", len(data))

    async def run(self) -> None:
        """Write what is queued, until `finish`, `abandon`, or the child closes its end."""
        try:
            with self._writing, self._queued:
                async for data in self._queued:
                    await self._write(data)
        except BrokenPipeError:
            logger.info("the process has closed its standard input")
        finally:
            self.close_now()
            self.ended.set()

    def finish(self) -> None:
        """Close the pipe as soon as all that was queued is written."""
        self._queue.close()

    def abandon(self) -> None:
        """Close the pipe; what is queued is lost."""
        self._writing.cancel()

    def write_now(self, data: bytes) -> None:
        """Write without an event loop; what does not fit into the pipe is lost."""
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
