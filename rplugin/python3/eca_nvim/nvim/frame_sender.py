"""Sends view ops to Neovim in frames: `frame_queue` on the host's event loop.

Rules kept here:
- Ops pushed in one iteration of the loop are sent together.
- Nothing here waits for Neovim: a frame is a notification, and the next one is sent after the
  acknowledgement of the last.
- An op that cannot be packed is left out of its frame, logged and reported; the others are drawn.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress

from eca_nvim.chat.vocabulary.ops import Notify, ViewOp
from eca_nvim.nvim.frame_queue import Frame, FrameQueue
from eca_nvim.nvim.wire import UNSENDABLE, packed

SendFrame = Callable[[int, bytes], None]
"""Sends a frame to Neovim: its number and its packed ops."""

log = logging.getLogger(__name__)


class FrameSender:
    """Queues the session's ops and sends them in frames; `lost` is called with unsendable ops."""

    def __init__(
        self,
        send: SendFrame,
        loop: asyncio.AbstractEventLoop,
        lost: Callable[[Sequence[ViewOp]], None],
    ) -> None:
        self._send = send
        self._lost = lost
        self._loop = loop
        self._queue = FrameQueue()
        self._timer: asyncio.Handle | None = None
        self._prepared: bytes | None = None

    def push(self, ops: Iterable[ViewOp]) -> None:
        """Queue ops to be drawn."""
        self._queue.push(ops)
        self._schedule()

    def drawn(self, number: int, milliseconds: float) -> None:
        """Handle the acknowledgement of a frame (intent `drawn`)."""
        self._queue.drawn(number, milliseconds)
        self._schedule()

    def _schedule(self) -> None:
        """Set the timer for the next frame."""
        due = self._queue.due()
        if due is None:
            return
        if due <= self._loop.time():
            if isinstance(self._timer, asyncio.TimerHandle):  # it was set before an urgent op came
                self._timer.cancel()
                self._timer = None
            self._timer = self._timer or self._loop.call_soon(self._send_next)
        elif self._timer is None:
            self._timer = self._loop.call_at(due, self._send_next)

    def _send_next(self) -> None:
        self._timer = None
        frame = self._queue.take(self._loop.time())
        if frame is not None:
            prepared, self._prepared = self._prepared, None
            try:
                self._send(frame.number, prepared or packed(frame.ops))
            except UNSENDABLE:
                self._send_sendable(frame)
            self._loop.call_soon(self._prepare)
        self._schedule()

    def _prepare(self) -> None:
        """Pack the next frame while Neovim draws; one with an unsendable op when it is sent."""
        frame = self._queue.prepare()
        if frame is not None:
            with suppress(*UNSENDABLE):
                self._prepared = packed(frame.ops)

    def _send_sendable(self, frame: Frame) -> None:
        """Send those ops of a frame that can be packed, and report the others as lost."""
        sendable: list[ViewOp] = []
        lost: list[ViewOp] = []
        for op in frame.ops:
            try:
                packed([op])
            except UNSENDABLE:
                log.exception("cannot send to Neovim: %.1000s", op.name)
                lost.append(op)
            else:
                sendable.append(op)
        self._send(frame.number, packed(sendable))
        self._lost(lost)


def report_lost(
    ops: Sequence[ViewOp],
    warn: Callable[[str, str], bool],
    push: Callable[[Iterable[ViewOp]], None],
) -> None:
    """Show in each chat one line that names the ops that could not be drawn.

    `warn` shows a line in a chat and returns whether the chat exists; if not, the line is shown as
    a message.
    """
    names: dict[str | None, dict[str, None]] = {}
    for op in ops:
        names.setdefault(getattr(op, "chat", None), {})[op.name] = None
    for chat, lost in names.items():
        line = f"cannot draw {', '.join(lost)}; see :Eca log"
        if chat is None or not warn(chat, line):
            push([Notify("error", line)])
