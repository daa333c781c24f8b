"""Sends view ops to Neovim in frames: the thin shell around `queue`, on the host's event loop.

Rules kept here:
- Ops pushed in one turn of the loop go together.
- Whatever Neovim does, nothing here waits: a frame goes out as a notification, and the next one
  when its acknowledgement has come.
- An op that cannot be sent is left out of its frame, logged and told; all others are drawn.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence

from eca_nvim.chat.vocabulary.ops import Notify, ViewOp
from eca_nvim.nvim.frame_queue import Frame, FrameQueue
from eca_nvim.nvim.wire import UNSENDABLE, packed

SendFrame = Callable[[int, bytes], None]
"""Takes a frame's number and its ops, packed."""

log = logging.getLogger(__name__)


class FrameSender:
    """The way from the session to the screen."""

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
            try:
                self._send(frame.number, packed(frame.ops))
            except UNSENDABLE:
                self._send_rest(frame)
        self._set_alarm()

    def _send_rest(self, frame: Frame) -> None:
        """Send of a frame what can be sent, and tell of what is lost."""
        fit: list[ViewOp] = []
        lost: list[ViewOp] = []
        for op in frame.ops:
            try:
                packed([op])
            except UNSENDABLE:
                log.exception("cannot send to Neovim: %.1000s", op.name)
                lost.append(op)
            else:
                fit.append(op)
        self._send(frame.number, packed(fit))
        self._lost(lost)


def tell_lost(
    ops: Sequence[ViewOp],
    warn: Callable[[str, str], bool],
    push: Callable[[Iterable[ViewOp]], None],
) -> None:
    """Say in one line in each chat what could not be drawn of it.

    `warn` says a line in a chat, and whether there is one of that id; where there is none, the line
    is a message.
    """
    names: dict[str | None, dict[str, None]] = {}
    for op in ops:
        names.setdefault(getattr(op, "chat", None), {})[op.name] = None
    for chat, lost in names.items():
        line = f"cannot draw {', '.join(lost)}; see :Eca log"
        if chat is None or not warn(chat, line):
            push([Notify("error", line)])
