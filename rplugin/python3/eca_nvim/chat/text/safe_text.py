"""Safe text: makes text from outside safe to draw: controls, invisible characters, links.

Rules kept here:
- Characters that change the direction of text, have no width or look blank are escaped as
  `<U+202E>`, because whoever approves a text must see all of it.
- Joiners and variation selectors stay where writing and emoji need them: after a character that
  is not ASCII. Anywhere else they could only hide something.
- A character may have as many marks as languages need; further marks are escaped.
- Blanks that Japanese or French need stay in prose. In arguments of a tool they are escaped,
  because a shell does not treat them as spaces.
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
from typing import Final
from urllib.parse import urlsplit

ALWAYS = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\U00013430-\U0001343f\U00016fe4"
    "\U0001bca0-\U0001bca3\U0001d159\U0001d173-\U0001d17a\U000e0000-\U000e00ff\U000e01f0-\U000e0fff"
)
"""Characters that are always escaped (inside of a character class): soft hyphen, fillers, zero
width space, directions, line and paragraph separators, invisible operators, annotations, tags,
controls of scripts, and code points that Unicode reserves as ignorable."""

JOINERS = "\u200c\u200d\ufe00-\ufe0f\U000e0100-\U000e01ef"
_MARKS = (
    "\u0300-\u034e\u0350-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"
)
SOMETIMES = JOINERS + _MARKS
"""Characters that are escaped depending on their neighbours (inside of a character class)."""

MOST_MARKS = 4
"""Most marks that a character may have."""

BLANKS = "\u00a0\u1680\u2000-\u200a\u202f\u205f\u2800\u3000"
"""Characters that look like a space but are not (inside of a character class)."""

_always = re.compile(f"[{ALWAYS}]")
_sometimes = re.compile(f"[{SOMETIMES}]")
_joiner = re.compile(f"[{JOINERS}]")
_blanks = re.compile(f"[{BLANKS}]")
_WIDTHLESS = "\u200c\u200d"
_KEYCAP = "\ufe0f\u20e3"


def escape(character: str) -> str:
    """Return the escape of a character: `<U+202E>`."""
    return f"<U+{ord(character):04X}>"


def escape_always(text: str) -> str:
    """Escape the characters in ALWAYS."""
    return _always.sub(lambda found: escape(found.group()), text)


def escape_blanks(text: str) -> str:
    """Escape the characters in BLANKS."""
    if text.isascii():
        return text
    return _blanks.sub(lambda found: escape(found.group()), text)


class Neighbours:
    """Escapes the characters in SOMETIMES, in a text that arrives in chunks."""

    __slots__ = ("_before", "_held", "_marks")

    def __init__(self) -> None:
        self._before = ""
        self._held = ""
        self._marks = 0

    @property
    def holds_back(self) -> bool:
        """Whether a character is held back."""
        return bool(self._held)

    def note_plain(self, chunk: str) -> None:
        """Note a chunk without characters in SOMETIMES, while nothing is held back."""
        self._before, self._marks = chunk[-1:] or self._before, 0

    def feed(self, chunk: str) -> str:
        """Return the text up to now, except a final joiner, which waits for the next character."""
        text = self._held + chunk
        cut = len(text) - 1 if _joiner.match(text[-1:]) else len(text)
        self._held = text[cut:]
        return self._escaped(text[:cut], self._held)

    def finish(self) -> str:
        """Return the character held back, if any; the text ends here."""
        held, self._held = self._held, ""
        return self._escaped(held, "")

    def _escaped(self, text: str, after: str) -> str:
        if not _sometimes.search(text):
            self.note_plain(text)
            return text
        pieces: list[str] = []
        for place, character in enumerate(text):
            shown = self._escaped_one(character, text[place + 1 : place + 2] or after)
            self._before = shown[-1]
            pieces.append(shown)
        return "".join(pieces)

    def _escaped_one(self, character: str, follower: str) -> str:
        if character in _WIDTHLESS:
            joins = self._can_be_joined() and self._before not in _WIDTHLESS
            joins = joins and not follower.isascii()
            return character if joins and not _sometimes.match(follower) else escape(character)
        if unicodedata.category(character) not in ("Mn", "Me"):
            self._marks = 0
            return character
        if _joiner.match(character):
            varies = self._can_be_joined() and not _joiner.match(self._before)
            is_needed = varies or character + follower == _KEYCAP
            return character if is_needed else escape(character)
        self._marks += 1
        return character if self._marks <= MOST_MARKS else escape(character)

    def _can_be_joined(self) -> bool:
        """Return whether the previous character can be joined or varied."""
        return not self._before.isascii() and not self._before.isspace()


_PLAIN = bytes((*b"\t\n", *range(0x20, 0x7F)))
_SLICE = 1 << 16
_DIRTY = re.compile(f"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff{ALWAYS}{SOMETIMES}]")
_CSI = r"[0-?]{0,64}[ -/]{0,8}"
_ESCAPES = re.compile(
    rf"\x1b\[{_CSI}[@-~]"  # colours, cursor
    r"|\x1b[\]PX^_][^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)"  # OSC, DCS …: titles, links
    r"|\x1b(?![\[\]PX^_])[ -/]{0,8}[0-~]"
    rf"|\x9b{_CSI}[@-~]"
)
_UNFINISHED = re.compile(
    f"(?:\r|[\ud800-\udbff]|\x1b(?:\\[{_CSI}|[\\]PX^_][^\x07\x1b\x9c]{{0,256}}|[ -/]{{0,8}})"
    f"|\x9b{_CSI})\\Z"
)
"""A possible start of an escape; cut_characters, because it is searched again with each chunk."""
_PAIRS = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_CONTROLS = {code: 0x2400 + code for code in range(0x20) if chr(code) not in "\t\n"}
_CONTROLS |= {0x7F: 0x2421}
_CONTROLS |= dict.fromkeys(range(0x80, 0xA0), 0xFFFD)
_CONTROLS |= dict.fromkeys(range(0xD800, 0xE000), 0xFFFD)
_SPACES = re.compile(r"[ \t\n\v\f\r]+")

HIDDEN = "*****"
"""Shown instead of a secret."""


def _joined(pair: re.Match[str]) -> str:
    return pair.group().encode("utf-16-le", "surrogatepass").decode("utf-16-le")


IN_LINE = re.compile(r"\x1b\[(?:([0-9;:]{0,64})m|([02]?)K)|(\r)")
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


_PLAIN_LINK: Final = frozenset(map(chr, range(0x21, 0x7F))) - {"\\"}
"""Characters of a link that all programs read in the same way. Browsers take `\\` for `/`."""


def host_of(link: str) -> str | None:
    """Return the host of a link to the web; None if it is none, or may lead elsewhere."""
    if not _PLAIN_LINK.issuperset(link):
        return None
    try:
        parts = urlsplit(link)
    except ValueError:
        return None
    return parts.hostname or None if parts.scheme in ("http", "https") else None
