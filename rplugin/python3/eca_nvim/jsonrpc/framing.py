"""Framing: cuts a stream of bytes into messages, and frames messages for the wire; without I/O.

Bytes may arrive in pieces of any size, and the cost is linear in their number. A server's mistake
is a value in the list, a `FramingFault`, never an exception: a message with a wrong header is lost,
the good message after it never is.
"""

import re
from enum import Enum
from typing import Final, NamedTuple, Protocol, TypeAlias

MAX_MESSAGE_BYTES: Final = 256 * 1024 * 1024
"""Most bytes of a message; a header that announces more is a fault."""

EXCERPT_BYTES: Final = 160
"""Most bytes of the stream that a fault quotes."""

_MAX_HEADER_LINE: Final = 64 * 1024  # bytes; only the end of a longer line is searched
_REACH: Final = 128  # bytes; a Content-Length field and its value are shorter
_FIELD: Final = b"content-length"
# Reading is tolerant of names in any case, lines that end in LF alone, and other fields.
_VALUE: Final = re.compile(rb"[ \t]*:[ \t]*(\S*)[ \t]*\r?")
_LENGTH: Final = re.compile(rb"\d{1,18}")
_USUAL_HEADER: Final = re.compile(rb"Content-Length: (\d{1,18})\r\n\r\n")
_OTHER_FIELD: Final = re.compile(rb"content-[a-z-]+[ \t]*:", re.IGNORECASE)
_CHARSET: Final = re.compile(rb"content-type[ \t]*:[^\r\n]*?charset=\"?([\w.-]+)", re.IGNORECASE)
_CHARSETS: Final = (b"utf-8", b"utf8")
_MESSAGE_ENDS: Final = b"}]\n"


class FaultReason(Enum):
    """Why a piece of the stream is not a message."""

    JUNK = "unexpected data outside of any message"
    BAD_LENGTH = "a Content-Length that is not a valid size"
    WRONG_LENGTH = "a Content-Length that does not fit its message"
    TOO_LONG = "a line over the limit"
    CHARSET = "a message in a charset other than utf-8"


class FramingFault(NamedTuple):
    """Bytes that are not a message: their number, and the first ones."""

    reason: FaultReason
    excerpt: bytes
    size: int

    def __str__(self) -> str:
        return f"{self.reason.value}, {self.size} bytes: {self.excerpt!r}"


Framed: TypeAlias = bytes | FramingFault


class Framing(Protocol):
    """Marks where one message ends and the next begins."""

    def feed(self, data: bytes) -> list[Framed]:
        """Add the next bytes of the stream; return the messages and faults they complete."""

    def encode(self, body: bytes) -> bytes:
        """Return the bytes of one message."""


class ContentLengthFraming:
    """Framing with a Content-Length header, as in the language server protocol.

    A header is found at the end of any line, even after junk or the rest of a broken message. JSON
    strings have no raw line feeds, so a header inside a body, or a body that does not end in a
    bracket, proves that the length was wrong.
    """

    def __init__(self, limit: int = MAX_MESSAGE_BYTES) -> None:
        self._limit = limit
        self._buffer = bytearray()
        self._start = 0  # of the current line or body
        self._searched = 0  # there is no line feed between _start and here
        self._announced: int | None = None  # bytes, as the current header says
        self._is_foreign = False  # the current header has another charset
        self._body_size: int | None = None  # bytes; None while a header is read
        self._junk: int | None = None  # where bytes begin that are in no message

    def feed(self, data: bytes) -> list[Framed]:
        """Add the next bytes of the stream; return the messages and faults they complete.

        Each run of junk is reported once, at the latest at the end of the call.
        """
        self._buffer += data
        found: list[Framed] = []
        while self._start < len(self._buffer):
            take = self._take_header if self._body_size is None else self._take_body
            if not take(found):
                break
        if self._junk is not None:
            self._report_junk(found)
        del self._buffer[: self._start]
        self._searched -= self._start
        self._start = 0
        return found

    def encode(self, body: bytes) -> bytes:
        """Return the bytes of one message."""
        # In the strict form: servers are not tolerant.
        return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)

    def _take_header(self, found: list[Framed]) -> bool:
        """Read the usual header at once, because every token has one; others line by line."""
        usual = _USUAL_HEADER.match(self._buffer, self._start)
        if usual is None or (size := int(usual[1])) > self._limit:
            return self._take_line(found)
        if self._junk is not None:
            self._report_junk(found)
        self._announced, self._body_size = None, size
        self._start = self._searched = usual.end()
        return self._take_body(found)

    def _take_line(self, found: list[Framed]) -> bool:
        """Read one line outside of a body; return False if it has not arrived completely."""
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
            if _LENGTH.fullmatch(value) and int(value) <= self._limit:
                self._announced = int(value)
            else:
                self._announced = None
                line = bytes(self._buffer[self._start : end + 1])
                found.append(FramingFault(FaultReason.BAD_LENGTH, line[:EXCERPT_BYTES], len(line)))
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

    def _take_body(self, found: list[Framed]) -> bool:
        """Read one body; return False if it has not arrived completely."""
        buffer, start, size = self._buffer, self._start, self._body_size or 0
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
        body = bytes(buffer[start:end])
        if self._is_foreign:
            found.append(FramingFault(FaultReason.CHARSET, body[:EXCERPT_BYTES], size))
        else:
            found.append(body)
        self._body_size, self._is_foreign = None, False
        self._start = self._searched = end
        return True

    def _give_up_body(self, size: int, found: list[Framed]) -> bool:
        """Read a wrong body again, line by line, to find the next header in it."""
        excerpt = bytes(self._buffer[self._start : self._start + min(size, EXCERPT_BYTES)])
        found.append(FramingFault(FaultReason.WRONG_LENGTH, excerpt, size))
        self._body_size, self._is_foreign = None, False
        return True

    def _length_before(self, line_end: int) -> tuple[int, bytes] | None:
        """Return offset and value of a Content-Length field that ends at this line end."""
        first = max(self._start, line_end - _REACH)
        before, field, after = self._buffer[first:line_end].lower().rpartition(_FIELD)
        value = _VALUE.fullmatch(after) if field else None
        return (first + len(before), bytes(value[1])) if value else None

    def _skip_to(self, offset: int) -> None:
        """Take the bytes before the offset for junk, if there are any."""
        if self._junk is None and offset > self._start:
            self._junk = self._start
        self._start = offset

    def _report_junk(self, found: list[Framed]) -> None:
        if (begin := self._junk) is not None:
            excerpt = bytes(self._buffer[begin : min(self._start, begin + EXCERPT_BYTES)])
            found.append(FramingFault(FaultReason.JUNK, excerpt, self._start - begin))
            self._junk = None


class LineFraming:
    """Framing with one message per line, as in the agent client protocol; skips empty lines."""

    def __init__(self, limit: int = MAX_MESSAGE_BYTES) -> None:
        self._limit = limit
        self._line = bytearray()
        self._dropped = 0  # dropped bytes of a line over the limit
        self._excerpt = b""

    def feed(self, data: bytes) -> list[Framed]:
        """Add the next bytes of the stream; return the messages and faults they complete."""
        found: list[Framed] = []
        *ends, rest = data.split(b"\n")
        for end in ends:
            self._extend(end)
            self._finish_line(found)
        self._extend(rest)
        return found

    def encode(self, body: bytes) -> bytes:
        """Return the bytes of one message, which must not contain a line feed."""
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
