"""Tape: the last bytes that went over a connection, and the first ones, as they were.

Rules kept here:
- To record costs nothing that can be measured: bytes are copied, and looked at by nobody before
  somebody wants to see them.
- A connection keeps at most `LIMIT` bytes, its first `HEAD` among them: what was said when the
  server was introduced explains the rest.
"""

import time
from collections import deque
from collections.abc import Iterator
from typing import Final, NamedTuple

LIMIT: Final = 4 << 20
"""Bytes that are kept, what keeping them costs included."""
HEAD: Final = 512 << 10
"""Bytes from the beginning that stay."""
_CHUNK: Final = 64 << 10
"""Bytes that are kept or dropped together."""
_MARK: Final = 128
"""Bytes that the time and size of a piece need."""
_LONGEST: Final = 1 << 20
"""Bytes. Of a longer piece only the beginning is kept: it would replace all others."""
_EXCERPT: Final = 256


class Piece(NamedTuple):
    """What was read or written at once.

    number: from 0. at: as `time.monotonic`. size: bytes; `data` has fewer if it was too long.
    """

    number: int
    at: float
    is_sent: bool
    size: int
    data: bytes


class _Chunk:
    """Pieces that follow each other: `marks` has times, directions, kept and whole sizes."""

    __slots__ = ("data", "first", "marks")

    def __init__(self, first: int) -> None:
        self.first = first
        self.data = bytearray()
        self.marks: list[tuple[float, bool, int, int]] = []

    @property
    def end(self) -> int:
        """The number of the piece after its last one."""
        return self.first + len(self.marks)

    @property
    def cost(self) -> int:
        """The bytes that it needs."""
        return len(self.data) + _MARK * len(self.marks)

    def pieces(self, number: int) -> Iterator[Piece]:
        """Yield the pieces from a number on."""
        offset = 0
        for index, (at, is_sent, kept, size) in enumerate(self.marks, self.first):
            if index >= number:
                data = bytes(self.data[offset : offset + kept])
                yield Piece(index, at, is_sent, size, data)
            offset += kept


class Tape:
    """What went over one connection."""

    def __init__(self) -> None:
        self.began = time.monotonic()
        self.wall_clock = time.time()
        """When it began, in seconds since 1970."""
        self.ended: float | None = None
        """When the server ended, as `time.monotonic`; None while it runs."""
        self._last = _Chunk(0)
        self._chunks = deque([self._last])
        self._head: list[_Chunk] = []
        self._cost = self._head_cost = 0  # of the chunks that are full

    def add(self, data: bytes, *, is_sent: bool) -> None:
        """Note bytes that were read, or are to be written: hot path."""
        size = len(data)
        if size > _LONGEST:
            data = data[:_EXCERPT]
        chunk = self._last
        if len(chunk.data) + len(data) > _CHUNK:
            chunk = self._next()
        chunk.data += data
        chunk.marks.append((time.monotonic(), is_sent, len(data), size))

    @property
    def end(self) -> int:
        """The number of the next piece."""
        return self._last.end

    def since(self, number: int) -> Iterator[Piece]:
        """Yield the pieces from a number on; where some are not kept, numbers are missing."""
        for chunk in (*self._head, *self._chunks):
            if chunk.end > number:
                yield from chunk.pieces(number)

    def _next(self) -> _Chunk:
        self._cost += self._last.cost
        self._last = _Chunk(self._last.end)
        self._chunks.append(self._last)
        while self._cost + self._head_cost > LIMIT:
            gone = self._chunks.popleft()
            self._cost -= gone.cost
            is_first = gone.first == (self._head[-1].end if self._head else 0)
            if is_first and self._head_cost + gone.cost <= HEAD:
                self._head.append(gone)
                self._head_cost += gone.cost
        return self._last
