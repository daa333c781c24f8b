"""Frame sender: sends view ops to Neovim in frames, on the host's event loop, packed.

Nothing here waits for Neovim: a frame is a notification, and the next one is sent after the
acknowledgement of the last.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence

from msgspec.msgpack import Encoder

from eca_nvim.chat.vocabulary import ops
from eca_nvim.chat.vocabulary.bases import name_of
from eca_nvim.nvim.frame_queue import FrameQueue

LEAST, MOST = -(2**63), 2**63 - 1
UNSENDABLE = (OverflowError, RecursionError, TypeError, ValueError)
"""Raised for a value that cannot be packed: its type, size or depth, or a lone surrogate."""

_PLAIN = frozenset(
    {
        *(ops.AppendText, ops.CloseBlock, ops.OpenBlock, ops.RemoveBlock),
        *(ops.SetBody, ops.SetHeader, ops.ShowPlace),
    }
)
"""Ops without maps, only text and our own numbers: they are packed as they are."""
_encode = Encoder().encode


def packed(frame: Iterable[ops.ViewOp]) -> bytes:
    """Pack ops as `lua/eca/view/frames.lua` unpacks them: each a map, as `wire` returns.

    One byte string, because pynvim inspects each value that it packs itself, which costs more than
    making the ops. Raises one of UNSENDABLE.
    """
    forms = ((type(op), ops.wire(op)) for op in frame)
    return _encode([form if kind in _PLAIN else plain(form) for kind, form in forms])


def plain(value: object) -> object:
    """Return a value with all mappings as dicts and all other sequences as lists, recursively.

    A key whose value is None is left out: Lua reads an absent key as nil, and users never see
    `vim.NIL`. An integer of more than 64 bits, which cannot be packed, becomes None.
    """
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
        lost: Callable[[Sequence[ops.ViewOp]], None],
    ) -> None:
        self._send = send
        self._lost = lost
        self._loop = loop
        self._queue = FrameQueue()
        self._timer: asyncio.TimerHandle | None = None

    def push(self, new: Iterable[ops.ViewOp]) -> None:
        """Queue ops to be drawn; those of one iteration of the loop are sent together."""
        self._queue.push(new)
        self._schedule()

    def drawn(self, number: int, milliseconds: float) -> None:
        """Handle the acknowledgement of a frame (intent `drawn`)."""
        self._queue.drawn(number, milliseconds)
        self._schedule()

    def _schedule(self) -> None:
        """Set the timer for the next frame, or set it to an earlier time."""
        due = self._queue.due()
        if due is None or (self._timer is not None and self._timer.when() <= due):
            return
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._loop.call_at(due, self._send_next)

    def _send_next(self) -> None:
        self._timer = None
        frame = self._queue.take(self._loop.time())
        if frame is None:  # a timer may be early, by the resolution of the clock
            self._schedule()
            return
        try:
            self._send(frame.number, packed(frame.ops))
        except UNSENDABLE:
            self._send_sendable(frame.number, frame.ops)

    def _send_sendable(self, number: int, frame: Sequence[ops.ViewOp]) -> None:
        """Send those ops of a frame that can be packed, and report the others as lost."""
        sendable: list[ops.ViewOp] = []
        lost: list[ops.ViewOp] = []
        for op in frame:
            try:
                packed([op])
            except UNSENDABLE:
                log.exception("cannot send to Neovim: %.1000s", name_of(op))
                lost.append(op)
            else:
                sendable.append(op)
        self._send(number, packed(sendable))
        self._lost(lost)


def report_lost(
    lost: Sequence[ops.ViewOp],
    warn: Callable[[str, str], bool],
    push: Callable[[Iterable[ops.ViewOp]], None],
) -> None:
    """Show in each chat one line that names the ops that could not be drawn.

    `warn` shows a line in a chat and returns whether the chat exists; if not, the line is shown as
    a message.
    """
    names: dict[str | None, dict[str, None]] = {}
    for op in lost:
        names.setdefault(getattr(op, "chat", None), {})[name_of(op)] = None
    for chat, its in names.items():
        line = f"cannot draw {', '.join(its)}; see :Eca log"
        if chat is None or not warn(chat, line):
            push([ops.Notify("error", line)])
