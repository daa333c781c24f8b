"""The queue of view ops and the frames cut from it, without I/O: ops in, frames out.

Rules kept here:
- Order is kept. Only an op that a later one makes invisible is dropped: an older status, header,
  body, queue or list of work of the same thing. A block that is still queued is opened with its
  last header. Such an op never overtakes ops with visible effects (events, answers).
- Adjacent pieces of text for the same block are joined; a text larger than a frame is cut at a line
  break if there is one, else between two code points.
- Nothing is lost while no frames are taken; memory is limited by what there is to show.
- The time is passed in: monotonic seconds.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from eca_nvim.chat.vocabulary.call_details import SetFilesUsed
from eca_nvim.chat.vocabulary.ops import (
    Answer,
    AppendText,
    CloseBlock,
    Emit,
    OpenBlock,
    SetBody,
    SetHeader,
    SetPending,
    SetQueue,
    SetStatus,
    SetWork,
    ViewOp,
)
from eca_nvim.chat.vocabulary.options import SetOptions

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
WHOLE = 1 << 12
"""Characters of text in the op that opens a block, at most: it cannot be cut."""
FLAT_SIZE = 1 << 9
"""The cost of an op besides its text, as the number of characters drawn in the same time."""
LISTED = 1 << 5
"""The same of a value that an option can have, and of a used file."""
_PACED = frozenset({AppendText, SetHeader, SetBody, SetStatus, SetQueue, SetFilesUsed})
"""Ops that come many times a second while an agent works."""


class Frame(Struct, frozen=True):
    """Ops to draw together; the acknowledgement has the same `number`."""

    number: int
    ops: tuple[ViewOp, ...]


class _QueuedText:
    """Text to append to a block, in pieces; of the first one what comes before `start` is sent."""

    __slots__ = ("block", "chat", "pieces", "start")

    def __init__(self, op: AppendText) -> None:
        self.chat, self.block = op.chat, op.block
        self.pieces: deque[str] = deque((op.text,))
        self.start = 0

    def add(self, text: str) -> None:
        """Append text."""
        self.pieces.append(text)

    def continues(self, op: AppendText) -> bool:
        """Return whether `op` appends to the same block."""
        return op.block == self.block and op.chat == self.chat

    def take(self, room: int) -> AppendText:
        """Remove the first `room` characters (at least one), or fewer up to a line break.

        What stays is not copied.
        """
        taken: list[str] = []
        while self.pieces and room > 0:
            first, end = self.pieces[0], self.start + room
            if len(first) > end:
                taken.append(self._cut(first, end, "".join(taken)))
                break
            taken.append(first[self.start :])
            room = end - len(first)
            self.pieces.popleft()
            self.start = 0
        return AppendText(self.chat, self.block, "".join(taken))

    def _cut(self, first: str, end: int, before: str) -> str:
        """Cut the first piece after its last line break before `end`, or there.

        before: what is taken already; if only that has a line break, no more is taken.
        """
        start = self.start
        cut = first.rfind("\n", start, end) + 1
        if not cut:
            cut = start if "\n" in before else end
        self.start = cut
        return first[start:cut]


class OpQueue:
    """Ops to be drawn, in order."""

    def __init__(self) -> None:
        self._entries: deque[ViewOp | _QueuedText | None] = deque()
        self.characters = 0
        """Characters of text to be appended."""
        self._first = 0
        self._places: dict[Hashable, int] = {}

    def __bool__(self) -> bool:
        return bool(self._entries)

    @property
    def least_size(self) -> int:
        """The size of all ops in characters, without those of ops that are not cut."""
        return self.characters + FLAT_SIZE * len(self._entries)

    def push(self, op: ViewOp) -> None:
        """Add an op at the end."""
        if isinstance(op, AppendText):
            self._push_text(op)
        elif isinstance(op, OpenBlock):
            self._push_block(op)
        elif type(op) in _KEYS:
            self._push_state(op)
        else:
            if isinstance(op, Emit | Answer):
                self._places.clear()
            self._entries.append(op)

    def _push_block(self, op: OpenBlock) -> None:
        """Add a block; a long text follows it in ops of its own."""
        self._places[_of_header(op)] = self._first + len(self._entries)
        if len(op.text) <= WHOLE:
            self._entries.append(op)
            return
        self._entries.append(replace(op, text="", closed=False))
        self._push_text(AppendText(op.chat, op.block, op.text))
        if op.closed:
            self._entries.append(CloseBlock(op.chat, op.block))

    def _push_text(self, op: AppendText) -> None:
        self.characters += len(op.text)
        last = self._entries[-1] if self._entries else None
        if isinstance(last, _QueuedText) and last.continues(op):
            last.add(op.text)
        elif op.text:
            self._entries.append(_QueuedText(op))

    def _push_state(self, op: ViewOp) -> None:
        key = _KEYS[type(op)](op)
        older = self._places.get(key)
        if older is not None and self._set_opening_header(older - self._first, op):
            return
        if older is not None:
            self._entries[older - self._first] = None
            self._drop_blank_end()
        self._places[key] = self._first + len(self._entries)
        self._entries.append(op)

    def _set_opening_header(self, place: int, op: ViewOp) -> bool:
        """Put a header into the op that opens its block; returns False if that op is gone."""
        opening = self._entries[place]
        if not isinstance(opening, OpenBlock) or not isinstance(op, SetHeader):
            return False
        self._entries[place] = replace(opening, header=op.header, lost=op.lost)
        return True

    def _drop_blank_end(self) -> None:
        while self._entries and self._entries[-1] is None:
            self._entries.pop()

    def take(self, size: int) -> tuple[ViewOp, ...]:
        """Remove ops from the front, about `size` characters of them, at least one op."""
        ops: list[ViewOp] = []
        room = size
        while self._entries and room > 0:
            op = self._take_one(room)
            if op is None:
                continue
            room -= _add(ops, op)
        return tuple(ops)

    def _take_one(self, room: int) -> ViewOp | None:
        entry = self._entries[0]
        if isinstance(entry, _QueuedText):
            op = entry.take(room)
            self.characters -= len(op.text)
            if entry.pieces:
                return op
            self._remove_first()
            return op
        self._remove_first()
        if type(entry) in _KEYS:
            key = _KEYS[type(entry)](entry)
            if self._places.get(key, self._first) < self._first:
                del self._places[key]
        return entry

    def _remove_first(self) -> None:
        self._entries.popleft()
        self._first += 1


class FrameQueue:
    """Decides when the next frame is sent and how large it is.

    At most one frame is in flight. A frame with only a little text, or with updates of what is on
    the screen already, is sent INTERVAL after the last one; any other as soon as that is drawn.

        ops      a  b c   d    e !      f        letters: text; `!` opens a block
        frames   1──┤     2──┤   3──┤      4     from sent to drawn
                 a        bcd    e!        f
                 └INTERVAL┘                └ INTERVAL after 3
    """

    def __init__(self) -> None:
        self._ops = OpQueue()
        self._size = FIRST_FRAME
        self._number = 0
        self._in_flight = False
        self._next: tuple[ViewOp, ...] = ()
        self._longer = self._next_longer = 1.0
        self._has_more = False
        self._is_urgent = False
        self._sent_at = float("-inf")

    def push(self, ops: Iterable[ViewOp]) -> None:
        """Add ops at the end."""
        for op in ops:
            self._ops.push(op)
            self._is_urgent = self._is_urgent or type(op) not in _PACED

    def due(self) -> float | None:
        """Return when the next frame may be sent; None if one is in flight or nothing is queued."""
        if self._in_flight or not (self._ops or self._next):
            return None
        at_once = self._has_more or self._is_urgent or self._ops.characters >= BURST
        return self._sent_at if at_once else self._sent_at + INTERVAL

    def take(self, now: float) -> Frame | None:
        """Return the next frame if it is due."""
        due = self.due()
        if due is None or now < due:
            return None
        self._number += 1
        self._in_flight = True
        self._sent_at = now
        ops, self._next = self._next or self._cut(), ()
        self._longer = self._next_longer
        self._has_more = bool(self._ops)
        self._is_urgent = False
        return Frame(self._number, ops)

    def prepare(self) -> Frame | None:
        """Cut the next frame while one is in flight, if there is enough for it; `take` returns it.

        It is packed while Neovim draws.
        """
        if not self._in_flight or self._next or self._ops.least_size < self._size:
            return None
        self._next = self._cut()
        return Frame(self._number + 1, self._next)

    def _cut(self) -> tuple[ViewOp, ...]:
        """Remove the ops of the next frame, and note how many times longer it may take."""
        self._next_longer = LONGER if self._ops.least_size > BACKLOG else 1.0
        return self._ops.take(self._size)

    def drawn(self, number: int, milliseconds: float) -> None:
        """Handle the acknowledgement of a frame, and adapt the size to the time it took."""
        if number != self._number or not self._in_flight:
            return
        self._in_flight = False
        goal, aim = GOAL_MS * self._longer, AIM_MS * self._longer
        if milliseconds > goal:
            self._size = max(SMALLEST_FRAME, int(self._size * max(0.25, goal / milliseconds)))
        elif self._has_more and milliseconds < aim:
            growth = aim / max(milliseconds, AIM_MS / 2)
            self._size = min(LARGEST_FRAME, int(self._size * growth))


def _of_header(op: OpenBlock | SetHeader) -> Hashable:
    return ("header", op.chat, op.block)


_KEYS: Mapping[type, Callable[[Any], Hashable]] = {
    OpenBlock: _of_header,
    SetHeader: _of_header,
    SetBody: lambda op: (op.name, op.chat, op.block),
    SetStatus: lambda op: (op.name, op.chat),
    SetQueue: lambda op: (op.name, op.chat),
    SetOptions: lambda op: (op.name, op.chat),
    SetWork: lambda op: (op.name, op.server),
}
"""The key of what an op sets as a whole: a later op with the same key replaces it."""


def _weight(op: ViewOp) -> int:
    match op:
        case AppendText() | OpenBlock():
            return FLAT_SIZE + len(op.text)
        case SetBody():
            return FLAT_SIZE + sum(map(len, op.lines)) + len(op.lines)
        case SetOptions():
            return FLAT_SIZE + sum(LISTED * len(it["offers"]) for it in op.options)
        case SetFilesUsed():
            return FLAT_SIZE + LISTED * (len(op.files) + len(op.dropped))
        case SetPending():
            return FLAT_SIZE + sum(len(it["detail"]) for it in op.items if isinstance(it, Mapping))
        case _:
            return FLAT_SIZE


def _add(ops: list[ViewOp], op: ViewOp) -> int:
    """Add an op to a frame and return its weight; text is joined to the op before if possible."""
    last = ops[-1] if ops else None
    if (
        isinstance(op, AppendText)
        and isinstance(last, AppendText)
        and (last.chat, last.block) == (op.chat, op.block)
    ):
        ops[-1] = AppendText(op.chat, op.block, last.text + op.text)
        return len(op.text)
    ops.append(op)
    return _weight(op)
