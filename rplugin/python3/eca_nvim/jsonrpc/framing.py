"""Cut a stream of bytes into messages, and wrap messages for the wire.

Rules this file keeps:

- It does no I/O, and knows of JSON only that a message ends in a bracket.
- Lengths are bytes. Bytes may arrive in pieces of any size: the messages are the same, and the
  work is linear in the number of bytes.
- What a server does wrong is a value in the list, a `FramingFault`, never an exception. A
  message whose header is wrong is lost; the good one after it never is.
- Names of header fields are read in any case, a line may end in LF alone, and fields other
  than Content-Length are skipped, but for a charset: a message in another one than utf-8 is a
  fault. What we write is strict: servers are not so tolerant.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import Final, NamedTuple, Protocol, TypeAlias

from eca_nvim.patterns import late_pattern

MAX_MESSAGE_BYTES: Final = 256 * 1024 * 1024
"""No message is longer; a header that announces more is a fault."""

EXCERPT_BYTES: Final = 160
"""How much of the offending bytes a fault carries."""

_MAX_HEADER_LINE: Final = 64 * 1024  # bytes; a longer line is junk but for its end
_REACH: Final = 128  # bytes; a Content-Length field begins no further from its line's end
_FIELD: Final = b"content-length"
_VALUE: Final = late_pattern(rb"[ \t]*:[ \t]*(\S*)[ \t]*\r?")
_LENGTH: Final = late_pattern(rb"\d{1,18}")
_USUAL_HEADER: Final = late_pattern(rb"Content-Length: (\d{1,18})\r\n\r\n")
_OTHER_FIELD: Final = late_pattern(rb"content-[a-z-]+[ \t]*:", re.IGNORECASE)
_CHARSET: Final = late_pattern(rb"content-type[ \t]*:[^\r\n]*?charset=\"?([\w.-]+)", re.IGNORECASE)
_CHARSETS: Final = (b"utf-8", b"utf8")
_MESSAGE_ENDS: Final = b"}]\n"


class FaultReason(Enum):
    """What is wrong with a piece of the stream."""

    JUNK = "junk outside of any message"
    BAD_LENGTH = "a Content-Length that is no size"
    WRONG_LENGTH = "a Content-Length that does not fit its message"
    TOO_LONG = "a line over the limit"
    CHARSET = "a message in another charset than utf-8"


class FramingFault(NamedTuple):
    """Bytes that are no message; `size` counts them, `excerpt` is how they begin."""

    reason: FaultReason
    excerpt: bytes
    size: int

    def __str__(self) -> str:
        return f"{self.reason.value}, {self.size} bytes: {self.excerpt!r}"


Framed: TypeAlias = bytes | FramingFault


class Framing(Protocol):
    """A way to mark where one message ends and the next begins."""

    def feed(self, data: bytes) -> list[Framed]:
        """Take the next bytes of the stream; return the messages and faults they complete."""

    def encode(self, body: bytes) -> bytes:
        """Return the bytes that carry one message."""


class ContentLengthFraming:
    """Messages behind a header with their length, as the language server protocol has them.

    A header is found at the end of any line, so that one glued to junk or to the rest of a
    broken message is not missed. JSON has no raw line end within a string: a header found
    inside a body, or a body that does not end in a bracket, shows that the length was wrong.
    """

    def __init__(self, limit: int = MAX_MESSAGE_BYTES) -> None:
        self._limit = limit
        self._buffer = bytearray()
        self._start = 0  # of the line or body being read
        self._searched = 0  # no line end from _start up to here
        self._announced: int | None = None  # bytes, by the header being read
        self._is_foreign = False  # the header being read, or read last, has another charset
        self._body_size: int | None = None  # bytes; none while a header is being read
        self._junk = bytearray()
        self._junk_size = 0

    def feed(self, data: bytes) -> list[Framed]:
        """Take the next bytes of the stream; return the messages and faults they complete.

        Junk is reported once for each run of it and at the end of each call.
        """
        self._buffer += data
        found: list[Framed] = []
        while self._take_next(found):
            pass
        self._report_junk(found)
        del self._buffer[: self._start]
        self._searched -= self._start
        self._start = 0
        return found

    def encode(self, body: bytes) -> bytes:
        """Return the bytes that carry one message."""
        return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)

    def _take_next(self, found: list[Framed]) -> bool:
        size = self._body_size
        return self._take_header(found) if size is None else self._take_body(size, found)

    def _take_header(self, found: list[Framed]) -> bool:
        """Read the usual header at once (it is on the path of every token), others by lines."""
        usual = _USUAL_HEADER.match(self._buffer, self._start)
        if usual is None or int(usual[1]) > self._limit:
            return self._take_line(found)
        self._report_junk(found)
        self._announced, self._body_size = None, int(usual[1])
        self._start = self._searched = usual.end()
        return True

    def _take_line(self, found: list[Framed]) -> bool:
        """Read one line outside of a body; false when the next has not arrived whole."""
        end = self._buffer.find(b"\n", self._searched)
        if end < 0:
            self._searched = len(self._buffer)
            if self._searched - self._start > _MAX_HEADER_LINE:
                self._skip_to(self._searched - _REACH)
            return False
        header = self._length_before(end)
        if header is not None:
            offset, value = header
            self._skip_to(offset)
            self._report_junk(found)
            self._set_length(value, end, found)
        elif not self._buffer[self._start : end].strip():
            self._body_size, self._announced = self._announced, None
        elif _OTHER_FIELD.match(self._buffer, self._start, end):
            charset = _CHARSET.match(self._buffer, self._start, end)
            self._is_foreign = charset is not None and charset[1].lower() not in _CHARSETS
        else:
            self._is_foreign = False
            self._skip_to(end + 1)
        self._start = self._searched = end + 1
        return True

    def _take_body(self, size: int, found: list[Framed]) -> bool:
        """Read one body; false when it has not arrived whole."""
        buffer, start = self._buffer, self._start
        end = start + size
        while (line_end := buffer.find(b"\n", self._searched, end)) >= 0:
            header = self._length_before(line_end)
            if header is not None and _LENGTH.fullmatch(header[1]):
                return self._give_up_body(size, found)
            self._searched = line_end + 1
        if len(buffer) < end:
            self._searched = len(buffer)
            return False
        if end == start or buffer[end - 1] not in _MESSAGE_ENDS:
            return self._give_up_body(size, found)
        found.append(self._body(start, end))
        self._body_size, self._is_foreign = None, False
        self._start = self._searched = end
        return True

    def _body(self, start: int, end: int) -> Framed:
        if self._is_foreign:
            excerpt = bytes(self._buffer[start : min(end, start + EXCERPT_BYTES)])
            return FramingFault(FaultReason.CHARSET, excerpt, end - start)
        return bytes(self._buffer[start:end])

    def _give_up_body(self, size: int, found: list[Framed]) -> bool:
        """Read what was taken for a body again as lines, to find the next header in it."""
        excerpt = bytes(self._buffer[self._start : self._start + min(size, EXCERPT_BYTES)])
        found.append(FramingFault(FaultReason.WRONG_LENGTH, excerpt, size))
        self._body_size, self._is_foreign = None, False
        return True

    def _length_before(self, line_end: int) -> tuple[int, bytes] | None:
        """Find a Content-Length field that ends there: where it begins, and its value."""
        first = max(self._start, line_end - _REACH)
        before, field, after = self._buffer[first:line_end].lower().rpartition(_FIELD)
        value = _VALUE.fullmatch(after) if field else None
        return (first + len(before), bytes(value[1])) if value else None

    def _set_length(self, value: bytes, line_end: int, found: list[Framed]) -> None:
        if _LENGTH.fullmatch(value) and int(value) <= self._limit:
            self._announced = int(value)
            return
        self._announced = None
        line = bytes(self._buffer[self._start : line_end + 1])
        found.append(FramingFault(FaultReason.BAD_LENGTH, line[:EXCERPT_BYTES], len(line)))

    def _skip_to(self, offset: int) -> None:
        """Count what lies before the offset as junk."""
        wanted = min(offset, self._start + EXCERPT_BYTES - len(self._junk))
        self._junk += self._buffer[self._start : wanted]
        self._junk_size += offset - self._start
        self._start = offset

    def _report_junk(self, found: list[Framed]) -> None:
        if self._junk_size:
            found.append(FramingFault(FaultReason.JUNK, bytes(self._junk), self._junk_size))
            self._junk.clear()
            self._junk_size = 0


class LineFraming:
    """One message a line, as the agent client protocol has them; empty lines are skipped."""

    def __init__(self, limit: int = MAX_MESSAGE_BYTES) -> None:
        self._limit = limit
        self._line = bytearray()
        self._dropped = 0  # bytes of a line over the limit that are already gone
        self._excerpt = b""

    def feed(self, data: bytes) -> list[Framed]:
        """Take the next bytes of the stream; return the messages and faults they complete."""
        found: list[Framed] = []
        *ends, rest = data.split(b"\n")
        for end in ends:
            self._extend(end)
            self._finish_line(found)
        self._extend(rest)
        return found

    def encode(self, body: bytes) -> bytes:
        """Return the bytes that carry one message, which must not hold a line end."""
        return body + b"\n"

    def _extend(self, piece: bytes) -> None:
        self._line += piece
        if len(self._line) > self._limit:
            if not self._dropped:
                self._excerpt = bytes(self._line[:EXCERPT_BYTES])
            self._dropped += len(self._line)
            self._line.clear()

    def _finish_line(self, found: list[Framed]) -> None:
        line = bytes(self._line.strip())
        if self._dropped:
            size = self._dropped + len(self._line)
            found.append(FramingFault(FaultReason.TOO_LONG, self._excerpt, size))
        elif line:
            found.append(line)
        self._line.clear()
        self._dropped = 0
