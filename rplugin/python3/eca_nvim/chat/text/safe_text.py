r"""Safe text: what came from outside, made safe to draw.

Rules kept here:
- Nothing that could act: ANSI escapes go, other control characters become pictures (␀, ␛), CRLF
  and a lone CR become LF, tabs stay.
- Nothing that is not seen: what has no width or turns the direction is written out
  (`invisible.py`).
- Nothing that cannot be sent: half a surrogate pair becomes U+FFFD, two halves become one again.
- Text that has none of these is returned as it is. To find that out, what is plain is taken out of
  its bytes first, which costs a tenth of a search.
"""

from __future__ import annotations

import re
import unicodedata

from eca_nvim.chat.text.invisible import (
    ALWAYS,
    SOMETIMES,
    Neighbours,
    without_always,
    without_blanks,
)
from eca_nvim.patterns import late_pattern

_PLAIN = bytes((*b"\t\n", *range(0x20, 0x7F)))
_DIRTY = late_pattern(f"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff{ALWAYS}{SOMETIMES}]")
_CSI = r"[0-?]{0,64}[ -/]{0,8}"
_ESCAPES = late_pattern(
    rf"\x1b\[{_CSI}[@-~]"  # colours, cursor
    r"|\x1b[\]PX^_][^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)"  # OSC, DCS …: titles, links
    r"|\x1b(?![\[\]PX^_])[ -/]{0,8}[0-~]"
    rf"|\x9b{_CSI}[@-~]"
)
_UNFINISHED = late_pattern(
    f"(?:\r|[\ud800-\udbff]|\x1b(?:\\[{_CSI}|[\\]PX^_][^\x07\x1b\x9c]{{0,256}}|[ -/]{{0,8}})"
    f"|\x9b{_CSI})\\Z"
)
"""What may become an escape: bounded, for what is held back is read again with each chunk."""
_PAIRS = late_pattern("[\ud800-\udbff][\udc00-\udfff]")
_CONTROLS = {code: 0x2400 + code for code in range(0x20) if chr(code) not in "\t\n"}
_CONTROLS |= {0x7F: 0x2421}
_CONTROLS |= dict.fromkeys(range(0x80, 0xA0), 0xFFFD)
_CONTROLS |= dict.fromkeys(range(0xD800, 0xE000), 0xFFFD)
_SPACES = late_pattern(r"[ \t\n\v\f\r]+")

HIDDEN = "*****"
"""Stands for a secret."""


def _joined(pair: re.Match[str]) -> str:
    return pair.group().encode("utf-16-le", "surrogatepass").decode("utf-16-le")


COLOUR = late_pattern(r"\x1b\[([0-9;:]{0,64})m")
"""An escape that colours what follows it; its group holds the parameters."""


def without_other_escapes(text: str) -> str:
    """Take all escapes but colours out of a raw text."""
    return _ESCAPES.sub(lambda it: it.group() if COLOUR.fullmatch(it.group()) else "", text)


def _is_dirty(text: str) -> bool:
    odd = text.encode(errors="surrogatepass").translate(None, _PLAIN)
    return bool(odd) and _DIRTY.search(odd.decode(errors="surrogatepass")) is not None


def clean(text: str) -> str:
    """Make a whole text safe to draw; it may still have several lines."""
    if not _is_dirty(text):
        return text
    neighbours = Neighbours()
    return neighbours.feed(_without_controls(text)) + neighbours.finish()


def _without_controls(text: str) -> str:
    return _written(_ESCAPES.sub("", text).replace("\r\n", "\n").replace("\r", "\n"))


def _written(text: str) -> str:
    return without_always(_PAIRS.sub(_joined, text).translate(_CONTROLS))


def literal(text: str) -> str:
    """Make a text that a tool takes safe to draw, with nothing left out.

    An escape that a terminal hides, a CR at a line's end, a blank that is no space: a shell reads
    them all the same.
    """
    text = without_blanks(text)
    if not _is_dirty(text):
        return text
    neighbours = Neighbours()
    return neighbours.feed(_written(text)) + neighbours.finish()


def literal_line(text: str) -> str:
    """Make what a tool takes safe for a header: one line, no runs of white space."""
    return _SPACES.sub(" ", literal(text)).strip(" ")


def literal_name(text: str) -> str:
    """Make the name of a file safe for a header; a line break in it is a picture, too."""
    return literal(text).replace("\n", "␤")


class Cleaner:
    """Cleans a text that comes in chunks, cut anywhere: within CRLF, an escape or a pair."""

    __slots__ = ("_held", "_neighbours")

    def __init__(self) -> None:
        self._held = ""
        self._neighbours = Neighbours()

    def feed(self, chunk: str) -> str:
        """Return what of the text so far can be drawn now."""
        if not self._held and not self._neighbours.waits and not _is_dirty(chunk):
            self._neighbours.passed(chunk)
            return chunk
        text = self._held + chunk
        tail = _UNFINISHED.search(text)
        cut = tail.start() if tail else len(text)
        self._held = text[cut:]
        return self._neighbours.feed(_without_controls(text[:cut]))

    def finish(self) -> str:
        """Return what was held back."""
        held, self._held = self._held, ""
        rest = self._neighbours.feed(_without_controls(held))
        return rest + self._neighbours.finish()


def one_line(text: str) -> str:
    """Make a text safe for a header: one line, no runs of white space."""
    return _SPACES.sub(" ", clean(text)).strip(" ")


def width(text: str) -> int:
    """Count the screen cells of a clean text."""
    if text.isascii():
        return len(text)
    return sum(_cells(character) for character in text)


def _cells(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def truncate(text: str, cells: int) -> str:
    """Cut a clean line to a number of screen cells, the last one an ellipsis."""
    if len(text) <= cells * 4 and width(text) <= cells:
        return text
    room = cells - 1
    kept = 0
    for character in text:
        room -= _cells(character)
        if room < 0:
            break
        kept += 1
    return text[:kept] + "…"


def shorten(text: str, cells: int) -> str:
    """Cut a clean line in its middle to a number of screen cells; most of what stays is its end."""
    if width(text) <= cells:
        return text
    head = truncate(text, cells // 3)
    room = cells - width(head)
    start = len(text)
    while start > 0 and (room := room - _cells(text[start - 1])) >= 0:
        start -= 1
    return head + text[start:]


def duration(milliseconds: float) -> str:
    """Write a time as people say it: 0.3s, 4s, 1m05s; nothing below a twentieth of a second."""
    if milliseconds < 50:
        return ""
    if milliseconds < 1000:
        return f"{milliseconds / 1000:.1f}s"
    seconds = int(milliseconds // 1000)
    return f"{seconds}s" if seconds < 60 else f"{seconds // 60}m{seconds % 60:02}s"


def body_lines(text: str) -> list[str]:
    """Split a raw text into clean lines, without blank ones at either end."""
    return clean(text).strip("\n").split("\n")


def literal_lines(text: str) -> list[str]:
    """Split what a tool takes into clean lines, without blank ones at either end."""
    return literal(text).strip("\n").split("\n")
