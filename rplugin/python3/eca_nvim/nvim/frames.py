"""Frames: queues view ops, cuts frames from the queue, and sends them to Neovim, packed.

Nothing here waits for Neovim: a frame is a notification, and the next one is sent after the
acknowledgement of the last. Nothing is lost meanwhile; memory is limited by what there is to show.
"""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import count, groupby
from operator import attrgetter
from typing import Any

from msgspec import Struct
from msgspec.msgpack import Encoder
from msgspec.structs import replace

from eca_nvim.chat.vocabulary import call_details, ops, options, panels, previews
from eca_nvim.chat.vocabulary.bases import name_of

INTERVAL = 0.04
"""Seconds between two frames while text streams in: nobody reads faster, and each frame costs."""
BURST = 1 << 9
"""Characters of queued text that are sent without waiting: a stream brings less in an interval."""
GOAL_MS, AIM_MS = 3.0, 2.0
"""Milliseconds per frame: frames that take longer than the first shrink, smaller ones grow until
they take the second."""
BACKLOG, LONGER = 1 << 19, 2.5
"""While more characters than the first are queued, as with a history or a very long message, frames
may take so many times longer: nobody reads along, and each frame redraws the screen."""
SMALLEST_FRAME, FIRST_FRAME, LARGEST_FRAME = 1 << 12, 1 << 15, 1 << 19
"""Size of a frame in characters: minimum, initial, maximum."""
PIECE = SMALLEST_FRAME
"""Characters of a text that are drawn in one frame, so that a frame has room for one."""
FLAT_SIZE = 1 << 9
"""The cost of an op besides its text, as the number of characters drawn in the same time."""
_PACED = frozenset(
    {
        *(ops.AppendText, ops.SetHeader, ops.SetBody, ops.SetStatus, ops.SetQueue),
        *(call_details.SetUsedFiles, previews.SetPreview),
    }
)
"""Ops that come many times a second while an agent works."""


class Frame(Struct, frozen=True):
    """Ops to draw together; the acknowledgement has the same `number`."""

    number: int
    ops: tuple[ops.ViewOp, ...]


_of_block, _of_chat = attrgetter("chat", "block"), attrgetter("chat")
_STATES: Mapping[type, tuple[str, Callable[[Any], Hashable]]] = {
    ops.OpenBlock: ("header", _of_block),
    ops.SetHeader: ("header", _of_block),
    ops.SetBody: ("body", _of_block),
    ops.SetStatus: ("status", _of_chat),
    ops.SetQueue: ("queue", _of_chat),
    options.SetOptions: ("options", _of_chat),
    ops.SetWork: ("work", attrgetter("server")),
    ops.SetToolServer: ("tools", lambda op: (op.told["server_name"], op.told["name"])),
    ops.SetTools: ("offered", attrgetter("server", "mcp")),
    ops.SetProviders: ("providers", attrgetter("server")),
    ops.SetJobs: ("jobs", attrgetter("server")),
    previews.SetPreview: ("preview", attrgetter("id")),
    ops.FilesChanged: ("files", lambda op: (op.chat, tuple(op.paths), op.moved)),
}
"""What an op sets as a whole, and where: a later op that sets the same replaces it."""


class OpQueue:
    """Ops to be drawn, in order, without those that a later one makes invisible."""

    def __init__(self) -> None:
        self.ops: OrderedDict[Hashable, ops.ViewOp] = OrderedDict()
        self._numbers = count()
        self._section = 0
        self.characters = 0
        """Characters of text to be appended."""

    def push(self, op: ops.ViewOp) -> None:
        """Add an op at the end; a long text in pieces."""
        if isinstance(op, ops.AppendText):
            self.characters += len(op.text)
            if not self._join(op):
                for piece in (op,) if 0 < len(op.text) <= PIECE else _pieces(op):
                    self.ops[next(self._numbers)] = piece
        elif isinstance(op, ops.OpenBlock) and len(op.text) > PIECE:
            self.push(replace(op, text="", closed=False))
            self.push(ops.AppendText(op.chat, op.block, op.text))
            if op.closed:
                self.push(ops.CloseBlock(op.chat, op.block))
        elif type(op) in _STATES:
            self._push_state(op)
        else:
            self.ops[next(self._numbers)] = op
            if isinstance(op, ops.Emit | ops.Answer):
                self._section += 1  # no later state overtakes what an autocommand can see

    def _join(self, op: ops.AppendText) -> bool:
        """Join a text with the last one if that is of the same block and has room for it.

        While Neovim draws nothing, as it waits for a key, each token would be an op.
        """
        key = next(reversed(self.ops), None)
        last = self.ops.get(key)
        if not isinstance(last, ops.AppendText) or (last.chat, last.block) != (op.chat, op.block):
            return False
        if len(last.text) + len(op.text) > PIECE:
            return False
        self.ops[key] = ops.AppendText(op.chat, op.block, last.text + op.text)
        return True

    def _push_state(self, op: ops.ViewOp) -> None:
        what, where = _STATES[type(op)]
        key = (self._section, what, where(op))
        older = self.ops.get(key)
        if isinstance(older, ops.OpenBlock) and isinstance(op, ops.SetHeader):
            self.ops[key] = replace(older, header=op.header, lost=op.lost)
            return
        if isinstance(older, ops.OpenBlock):  # it was removed since, and is opened again
            self._section += 1
            key = (self._section, what, where(op))
        self.ops[key] = op
        self.ops.move_to_end(key)

    def take(self, size: int) -> tuple[ops.ViewOp, ...]:
        """Remove ops from the front, about `size` characters of them, at least one op.

        Neighbouring texts of a block are joined: drawing each would cost more than its text.
        """
        taken: list[ops.ViewOp] = []
        block = None
        while self.ops and size > 0:
            op = self.ops.popitem(last=False)[1]
            before, block = block, _text_block(op)
            size -= _weight(op) - FLAT_SIZE * (block is not None and block == before)
            taken.append(op)
        joined: list[ops.ViewOp] = []
        for block, run in groupby(taken, _text_block):
            if block is None:
                joined += run
            else:
                text = "".join(op.text for op in run if isinstance(op, ops.AppendText))
                self.characters -= len(text)
                joined.append(ops.AppendText(*block, text))
        return tuple(joined)


def _pieces(op: ops.AppendText) -> Iterator[ops.AppendText]:
    """Cut a text after the last line break that fits, if there is one, else between code points."""
    start = 0
    while start < len(op.text):
        end = start + PIECE
        if end < len(op.text):
            end = op.text.rfind("\n", start, end) + 1 or end
        yield ops.AppendText(op.chat, op.block, op.text[start:end])
        start = end


def _text_block(op: ops.ViewOp) -> tuple[str, int] | None:
    """Return the chat and the block that an op appends to, None if it does something else."""
    return (op.chat, op.block) if isinstance(op, ops.AppendText) else None


def _weight(op: ops.ViewOp) -> int:
    match op:
        case ops.AppendText() | ops.OpenBlock():
            return FLAT_SIZE + len(op.text)
        case ops.SetBody():
            return FLAT_SIZE + sum(map(len, op.lines)) + len(op.lines)
        case panels.SetRows():
            return FLAT_SIZE * (1 + len(op.rows))
        case _:  # lists of choices and files are long, too, but rare: the next frames are smaller
            return FLAT_SIZE


class FrameQueue:
    """Decides when the next frame is sent and how large it is; times are monotonic seconds.

    At most one frame is in flight. A frame with only a little text, or with updates of what is on
    the screen already, is sent INTERVAL after the last one; any other as soon as that is drawn.

        ops      a  b c   d    e !      f        letters: text; `!` opens a block
        frames   1──┤     2──┤   3──┤      4     from sent to drawn
                 a        bcd    e!        f
                 └INTERVAL┘                └ INTERVAL after 3
    """

    def __init__(self) -> None:
        self._queue = OpQueue()
        self._size = FIRST_FRAME
        self._number = 0
        self._in_flight = False
        self._has_more = False
        self._is_urgent = False
        self._sent_at = float("-inf")

    def push(self, new: Iterable[ops.ViewOp]) -> None:
        """Add ops at the end."""
        for op in new:
            self._queue.push(op)
            # That a server starts has been shown by the view itself. A frame of its own would only
            # delay the next one, which may say that it is ready.
            can_wait = type(op) in _PACED or (
                isinstance(op, ops.SetServer) and op.state == "starting"
            )
            self._is_urgent = self._is_urgent or not can_wait

    def due(self) -> float | None:
        """Return when the next frame may be sent; None if one is in flight or nothing is queued."""
        if self._in_flight or not self._queue.ops:
            return None
        at_once = self._has_more or self._is_urgent or self._queue.characters >= BURST
        return self._sent_at if at_once else self._sent_at + INTERVAL

    def take(self, now: float) -> Frame | None:
        """Return the next frame if it is due."""
        due = self.due()
        if due is None or now < due:
            return None
        self._number += 1
        self._in_flight = True
        self._sent_at = now
        taken = self._queue.take(self._size)
        self._has_more = bool(self._queue.ops)
        self._is_urgent = False
        return Frame(self._number, taken)

    def drawn(self, number: int, milliseconds: float) -> None:
        """Handle the acknowledgement of a frame, and adapt the size to the time it took."""
        if number != self._number or not self._in_flight:
            return
        self._in_flight = False
        queued = self._queue.characters + FLAT_SIZE * len(self._queue.ops)
        longer = LONGER if queued > BACKLOG else 1.0
        goal, aim = GOAL_MS * longer, AIM_MS * longer
        if milliseconds > goal:
            self._size = max(SMALLEST_FRAME, int(self._size * max(0.25, goal / milliseconds)))
        elif self._has_more and milliseconds < aim:
            growth = aim / max(milliseconds, AIM_MS / 2)
            self._size = min(LARGEST_FRAME, int(self._size * growth))


# --- sending --------------------------------------------------------------------------------------

LEAST, MOST = -(2**63), 2**63 - 1
UNSENDABLE = (OverflowError, RecursionError, TypeError, ValueError)
"""Raised for a value that cannot be packed: its type, size or depth, or a lone surrogate."""

_PLAIN = frozenset(
    {
        *(ops.AppendText, ops.CloseBlock, ops.OpenBlock, ops.RemoveBlock),
        *(ops.SetBody, ops.SetHeader, ops.ShowPlace),
        *(panels.SetPanel, panels.SetRows),
    }
)
"""Ops without maps of others, only text and our own numbers: they are packed as they are."""
_encode = Encoder().encode


def packed(frame: Iterable[ops.ViewOp]) -> bytes:
    """Pack ops as `lua/eca/view/frames.lua` unpacks them: each a map, as `wire` returns.

    One byte string, because pynvim inspects each value that it packs itself, which costs more than
    making the ops. Raises one of UNSENDABLE.
    """
    return _encode([wire(op) if type(op) in _PLAIN else plain(wire(op)) for op in frame])


def wire(op: ops.ViewOp) -> dict[str, object]:
    """Return an op's form in a frame: its name as `op`, and its fields.

    Those of None are left out, and those with an empty default: a block has seven of them, which
    would take a third of the time that a long history takes to unpack.
    """
    defaults = op.__struct_defaults__
    required = len(op.__struct_fields__) - len(defaults)
    form: dict[str, object] = {"op": op.__struct_config__.tag}
    for number, name in enumerate(op.__struct_fields__):
        value = getattr(op, name)
        is_default = number >= required and value == defaults[number - required]
        if value is not None and (value or not is_default):
            form[name] = value
    return form


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


log = logging.getLogger(__name__)


class FrameSender:
    """Queues the session's ops and sends them in frames.

    send: sends a frame to Neovim, its number and its packed ops. lost: called with unsendable ops.
    """

    def __init__(
        self,
        send: Callable[[int, bytes], None],
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
