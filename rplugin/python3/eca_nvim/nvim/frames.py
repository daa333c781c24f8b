"""Sends view ops to Neovim in frames: the thin shell around `queue`, on the host's event loop.

Rules kept here:
- Ops pushed in one turn of the loop go together.
- Whatever Neovim does, nothing here waits: a frame goes out as a notification, and the next one
  when its acknowledgement has come.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable

from eca_nvim.chat.ops import ViewOp
from eca_nvim.nvim.queue import FrameQueue
from eca_nvim.nvim.wire import wire_form

SendFrame = Callable[[int, list[list[object]]], None]
"""Takes a frame's number and its ops in wire form."""


class FrameSender:
    """The way from the session to the screen."""

    def __init__(self, send: SendFrame, loop: asyncio.AbstractEventLoop) -> None:
        self._send = send
        self._loop = loop
        self._queue = FrameQueue()
        self._alarm: asyncio.Handle | None = None

    def push(self, ops: Iterable[ViewOp]) -> None:
        """Add ops to what is to be drawn."""
        self._queue.push(ops)
        self._set_alarm()

    def drawn(self, number: int, milliseconds: float) -> None:
        """Take the acknowledgement of a frame (intent `drawn`)."""
        self._queue.drawn(number, milliseconds)
        self._set_alarm()

    def _set_alarm(self) -> None:
        """See to it that the next frame goes when it is due."""
        due = self._queue.due()
        if due is None:
            return
        if due <= self._loop.time():
            if isinstance(self._alarm, asyncio.TimerHandle):  # it was set when there was time
                self._alarm.cancel()
                self._alarm = None
            self._alarm = self._alarm or self._loop.call_soon(self._go)
        elif self._alarm is None:
            self._alarm = self._loop.call_at(due, self._go)

    def _go(self) -> None:
        self._alarm = None
        frame = self._queue.take(self._loop.time())
        if frame is not None:
            self._send(frame.number, [wire_form(op) for op in frame.ops])
        self._set_alarm()
