"""Frame sender: sends view ops to Neovim in frames, on the host's event loop, packed.

Rules kept here:
- A frame is sent as one byte string: pynvim inspects each value that it packs itself, which costs
  more than making the ops.
- Keys whose value is None are left out of maps: Lua reads an absent key as nil, so that users never
  see `vim.NIL`.
- A field whose value is None keeps its place in an op; the Lua side reads it as nil.
- An integer of more than 64 bits cannot be packed: it becomes None.
- Ops pushed in one iteration of the loop are sent together.
- Nothing here waits for Neovim: a frame is a notification, and the next one is sent after the
  acknowledgement of the last.
- An op that cannot be packed is left out of its frame, logged and reported; the others are drawn.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress

from msgspec.msgpack import Encoder

from eca_nvim.chat.vocabulary.ops import (
    AppendText,
    CloseBlock,
    Notify,
    OpenBlock,
    RemoveBlock,
    SetBody,
    SetHeader,
    ShowPlace,
    ViewOp,
    wire,
)
from eca_nvim.nvim.frame_queue import Frame, FrameQueue

LEAST, MOST = -(2**63), 2**63 - 1
UNSENDABLE = (OverflowError, RecursionError, TypeError, ValueError)
"""Raised for a value that cannot be packed: its type, size or depth, or a lone surrogate."""

_PLAIN = frozenset({AppendText, CloseBlock, OpenBlock, RemoveBlock, SetBody, SetHeader, ShowPlace})
"""Ops without maps, only text and our own numbers: they are packed as they are."""
_encode = Encoder().encode


def packed(ops: Iterable[ViewOp]) -> bytes:
    """Pack ops as `lua/eca/view/frames.lua` unpacks them. Raises one of UNSENDABLE."""
    return _encode([wire_form(op) for op in ops])


def wire_form(op: ViewOp) -> list[object]:
    """Return an op as it is in a frame: its name, then its fields in the order of its class."""
    form = wire(op)
    return form if type(op) in _PLAIN else [plain(field) for field in form]


def plain(value: object) -> object:
    """Return a value with all mappings as dicts and all other sequences as lists, recursively."""
    match value:
        case str() | float() | None:
            return value
        case int():
            return value if LEAST <= value <= MOST else None
        case Mapping():
            items = ((key, plain(item)) for key, item in value.items())
            return {key: item for key, item in items if item is not None}
        case Sequence():
            return [plain(item) for item in value]
        case _:
            raise TypeError(f"cannot be sent to Neovim: {value!r}")


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
