r"""Safe text: makes text from outside safe to draw.

Rules kept here:
- Nothing acts on the terminal: ANSI escapes are removed, other control characters become pictures
  (␀, ␛), CRLF and a lone CR become LF, tabs stay.
- Nothing is invisible: characters without width or that change the direction are escaped
  (`invisible.py`).
- Everything can be encoded: half a surrogate pair becomes U+FFFD, two halves are joined.
- Clean text is returned as it is. To detect it, plain characters are removed from its bytes first,
  at a tenth of the cost of a search.
"""

from __future__ import annotations

import re
import unicodedata

from eca_nvim.chat.text.invisible import (
    ALWAYS,
    SOMETIMES,
    Neighbours,
    escape_always,
    escape_blanks,
)
from eca_nvim.patterns import late_pattern

_PLAIN = bytes((*b"\t\n", *range(0x20, 0x7F)))
_SLICE = 1 << 16
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
"""A possible start of an escape; cut_characters, because it is searched again with each chunk."""
_PAIRS = late_pattern("[\ud800-\udbff][\udc00-\udfff]")
_CONTROLS = {code: 0x2400 + code for code in range(0x20) if chr(code) not in "\t\n"}
_CONTROLS |= {0x7F: 0x2421}
_CONTROLS |= dict.fromkeys(range(0x80, 0xA0), 0xFFFD)
_CONTROLS |= dict.fromkeys(range(0xD800, 0xE000), 0xFFFD)
_SPACES = late_pattern(r"[ \t\n\v\f\r]+")

HIDDEN = "*****"
"""Shown instead of a secret."""


def _joined(pair: re.Match[str]) -> str:
    return pair.group().encode("utf-16-le", "surrogatepass").decode("utf-16-le")


IN_LINE = late_pattern(r"\x1b\[(?:([0-9;:]{0,64})m|([02]?)K)|(\r)")
"""What sets the colour, erases a part of the line, or goes back to its start. The groups hold the
parameters of the colour, which part is erased, the carriage return."""


def without_other_escapes(text: str) -> str:
    """Remove all escapes except those of `IN_LINE` from a raw text."""
    return _ESCAPES.sub(lambda it: it.group() if IN_LINE.fullmatch(it.group()) else "", text)


def unfinished_escape(text: str) -> int:
    """Return where the end of a text may be the start of an escape, else the text's length."""
    tail = _UNFINISHED.search(text)
    return tail.start() if tail else len(text)


def _is_dirty(text: str) -> bool:
    """Look at a long text in slices: memory that is new costs more than to look."""
    if len(text) <= _SLICE:
        return _has_dirt(text)
    return any(_has_dirt(text[at : at + _SLICE]) for at in range(0, len(text), _SLICE))


def _has_dirt(text: str) -> bool:
    odd = text.encode(errors="surrogatepass").translate(None, _PLAIN)
    return bool(odd) and _DIRTY.search(odd.decode(errors="surrogatepass")) is not None


def clean(text: str) -> str:
    """Make a text safe to draw; its line breaks stay."""
    if not _is_dirty(text):
        return text
    neighbours = Neighbours()
    return neighbours.feed(_without_controls(text)) + neighbours.finish()


def _without_controls(text: str) -> str:
    return _without_oddities(_ESCAPES.sub("", text).replace("\r\n", "\n").replace("\r", "\n"))


def _without_oddities(text: str) -> str:
    return escape_always(_PAIRS.sub(_joined, text).translate(_CONTROLS))


def literal(text: str) -> str:
    """Make an argument of a tool safe to draw, without removing anything.

    A shell also reads what a terminal hides: escapes, a CR at the end of a line, odd blanks.
    """
    text = escape_blanks(text)
    if not _is_dirty(text):
        return text
    neighbours = Neighbours()
    return neighbours.feed(_without_oddities(text)) + neighbours.finish()


def literal_line(text: str) -> str:
    """Make an argument of a tool safe for a header: one line, no runs of white space."""
    return _SPACES.sub(" ", literal(text)).strip(" ")


def literal_name(text: str) -> str:
    """Make a file name safe for a header; a line break becomes a picture, too."""
    return literal(text).replace("\n", "␤")


class Cleaner:
    """Cleans a text that arrives in chunks, which may be cut within CRLF, an escape or a pair."""

    __slots__ = ("_held", "_neighbours")

    def __init__(self) -> None:
        self._held = ""
        self._neighbours = Neighbours()

    def feed(self, chunk: str) -> str:
        """Return the part of the text so far that can be drawn."""
        if not self._held and not self._neighbours.holds_back and not _is_dirty(chunk):
            self._neighbours.note_plain(chunk)
            return chunk
        text = self._held + chunk
        cut = unfinished_escape(text)
        self._held = text[cut:]
        return self._neighbours.feed(_without_controls(text[:cut]))

    def finish(self) -> str:
        """Return the rest; the text ends here."""
        if not self._held and not self._neighbours.holds_back:
            return ""
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
    """Cut a clean line to a number of screen cells, ending in an ellipsis."""
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
    """Cut a clean line in its middle to a number of screen cells, keeping more of its end."""
    if width(text) <= cells:
        return text
    head = truncate(text, cells // 3)
    room = cells - width(head)
    start = len(text)
    while start > 0 and (room := room - _cells(text[start - 1])) >= 0:
        start -= 1
    return head + text[start:]


def duration(milliseconds: float) -> str:
    """Format a time: 0.3s, 4s, 1m05s; "" below a twentieth of a second."""
    if milliseconds < 50:
        return ""
    if milliseconds < 1000:
        return f"{milliseconds / 1000:.1f}s"
    seconds = int(milliseconds // 1000)
    return f"{seconds}s" if seconds < 60 else f"{seconds // 60}m{seconds % 60:02}s"


def body_lines(text: str) -> list[str]:
    """Split a raw text into clean lines, without empty lines at both ends."""
    return clean(text).strip("\n").split("\n")


def literal_lines(text: str) -> list[str]:
    """Split an argument of a tool into clean lines, without empty lines at both ends."""
    return literal(text).strip("\n").split("\n")
