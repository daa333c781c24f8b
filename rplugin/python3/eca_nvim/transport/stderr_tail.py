"""Stderr tail: the last lines of a process's standard error, for the report of its exit."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Final

from eca_nvim.patterns import late_pattern

MAX_LINES: Final = 200
MAX_BYTES: Final = 64 * 1024
MAX_LINE_BYTES: Final = 8 * 1024
"""A longer line is split into pieces, at a comma if possible, else at a blank: redaction would
not recognise a key that is cut in two, or cut from its name."""


_FAULT: Final = late_pattern(
    r"(?i)(?!\s).*?(error|fatal|cannot|unknown|invalid|unexpected|unrecogni[sz]ed)"
)


def telling_line(lines: Sequence[str]) -> str:
    """Return the line that says best why a process has ended, "" if all are blank.

    The last one that names a fault, as usage or a stack trace may follow it; else the last one.
    """
    told = [line for line in lines if line.strip()]
    faults = [line for line in told if _FAULT.match(line)]
    return (faults or told or [""])[-1]


class StderrTail:
    """Splits bytes into lines, and keeps the last lines.

    Lines are decoded as UTF-8, with U+FFFD for invalid bytes. They may contain escape sequences.
    """

    def __init__(self, on_line: Callable[[str], None]) -> None:
        self._on_line = on_line
        self._partial = b""
        self._lines: deque[bytes] = deque()
        self._size = 0

    @property
    def lines(self) -> tuple[str, ...]:
        """The last lines without line feeds, at most `MAX_LINES` and `MAX_BYTES`."""
        return tuple(_decode(line) for line in self._lines)

    def feed(self, data: bytes) -> None:
        """Add the next bytes."""
        *lines, rest = (self._partial + data).split(b"\n")
        for line in lines:
            self._add(line.removesuffix(b"\r"))
        while len(rest) > MAX_LINE_BYTES:
            end = _last(b",", rest) or _last(b" ", rest) or MAX_LINE_BYTES
            self._add(rest[:end])
            rest = rest[end:]
        self._partial = rest

    def finish(self) -> None:
        """Add a last line that has no line feed."""
        if self._partial:
            self._add(self._partial)
            self._partial = b""

    def _add(self, line: bytes) -> None:
        self._lines.append(line)
        self._size += len(line)
        while len(self._lines) > MAX_LINES or self._size > MAX_BYTES:
            self._size -= len(self._lines.popleft())
        self._on_line(_decode(line))


def _last(mark: bytes, line: bytes) -> int:
    """Return the end of a piece after the last `mark` in its second half; 0 if there is none."""
    return line.rfind(mark, MAX_LINE_BYTES // 2, MAX_LINE_BYTES) + 1


def _decode(line: bytes) -> str:
    return line.decode(errors="replace")
