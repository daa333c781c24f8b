"""Printed: the end of what a command has printed, within a number of bytes.

Rule kept here: the bytes are UTF-8, and no character is cut, neither at the start, where bytes are
dropped, nor at the end, where more may come.
"""

from __future__ import annotations

import codecs
from collections import deque

_PIECE = 1 << 16
"""Bytes up to which neighbouring pieces are joined: many tiny ones would cost more memory."""


class Printed:
    """The last `limit` bytes that were printed."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._pieces = deque[bytearray]()
        self._size = 0
        self._is_cut = False

    def add(self, data: bytes) -> None:
        """Add bytes at the end."""
        last = self._pieces[-1] if self._pieces else None
        if last is not None and len(last) + len(data) <= _PIECE:
            last += data
        else:
            self._pieces.append(bytearray(data))
        self._size += len(data)
        while self._pieces and self._size - len(self._pieces[0]) >= self._limit:
            self._size -= len(self._pieces.popleft())
            self._is_cut = True

    def shrink(self, limit: int) -> None:
        """Keep no more than `limit` bytes from now on."""
        self._limit = min(self._limit, limit)
        self.add(b"")

    def text(self, limit: int) -> tuple[str, bool]:
        """Return at most `limit` bytes of text, and whether its beginning is missing."""
        limit, kept = min(limit, self._limit), b"".join(self._pieces)
        text = _decoded(_end_of(kept, limit))
        encoded = text.encode()
        if len(encoded) > limit:  # bytes that are no text are longer as characters
            text = _decoded(_end_of(encoded, limit))
        return text, self._is_cut or len(encoded) > limit or len(kept) > limit


def _end_of(data: bytes, limit: int) -> bytes:
    """Return the last bytes, from the first that begins a character."""
    if len(data) <= limit:
        return data
    start = len(data) - limit
    while start < len(data) and data[start] & 0xC0 == 0x80 and start < len(data) - limit + 4:
        start += 1
    return data[start:]


def _decoded(data: bytes) -> str:
    return codecs.getincrementaldecoder("utf-8")("replace").decode(data)
