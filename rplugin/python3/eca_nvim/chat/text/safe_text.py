"""Text from outside, made safe to draw: nothing acts on the terminal, and nothing is invisible."""

import re
import unicodedata
from typing import Final
from urllib.parse import urlsplit

# Whoever approves a text must see all of it, so whatever turns the direction of text, has no width
# or looks blank is written out as `<U+202E>`.
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
"""Most marks that a character may have: as many as languages need."""

BLANKS = "\u00a0\u1680\u2000-\u200a\u202f\u205f\u2800\u3000"
"""Characters that look like a space but are not (inside of a character class). Japanese and French
need them in prose; a shell does not take them for spaces."""

_always = re.compile(f"[{ALWAYS}]")
_sometimes = re.compile(f"[{SOMETIMES}]")
_joiner = re.compile(f"[{JOINERS}]")
_blanks = re.compile(f"[{BLANKS}]")
_WIDTHLESS = "\u200c\u200d"
_KEYCAP = "\ufe0f\u20e3"

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


def _escaped(found: re.Match[str]) -> str:
    return f"<U+{ord(found.group()):04X}>"


def _is_dirty(text: str) -> bool:
    # A long text is looked at in slices, because memory that is new costs more than to look. To
    # take the plain characters out of the bytes first costs a tenth of a search.
    for at in range(0, len(text), _SLICE):
        odd = text[at : at + _SLICE].encode(errors="surrogatepass").translate(None, _PLAIN)
        if odd and _DIRTY.search(odd.decode(errors="surrogatepass")):
            return True
    return False


def _without_controls(text: str) -> str:
    return _without_oddities(_ESCAPES.sub("", text).replace("\r\n", "\n").replace("\r", "\n"))


def _without_oddities(text: str) -> str:
    return _always.sub(_escaped, _PAIRS.sub(_joined, text).translate(_CONTROLS))


class Cleaner:
    """Cleans a text that arrives in chunks, which may be cut within CRLF, an escape or a pair."""

    __slots__ = ("_before", "_held", "_joiner", "_marks")

    def __init__(self) -> None:
        self._held = ""  # what may be the start of an escape
        self._joiner = ""  # a joiner at the end: the next character says whether it may stay
        self._before = ""
        self._marks = 0

    def feed(self, chunk: str) -> str:
        """Return the part of the text so far that can be drawn."""
        if not self._held and not self._joiner and not _is_dirty(chunk):
            self._before, self._marks = chunk[-1:] or self._before, 0
            return chunk
        text = self._held + chunk
        cut = unfinished_escape(text)
        self._held = text[cut:]
        return self.fit(_without_controls(text[:cut]))

    def finish(self) -> str:
        """Return the rest; the text ends here."""
        held, self._held = self._held, ""
        return self.fit(_without_controls(held), ends=True)

    def fit(self, text: str, *, ends: bool = False) -> str:
        """Escape the characters in SOMETIMES where no writing needs them."""
        text = self._joiner + text
        cut = len(text) - 1 if not ends and _joiner.match(text[-1:]) else len(text)
        text, self._joiner = text[:cut], text[cut:]
        if not _sometimes.search(text):
            self._before, self._marks = text[-1:] or self._before, 0
            return text
        pieces: list[str] = []
        for place, character in enumerate(text):
            follower = text[place + 1 : place + 2] or self._joiner
            stays = self._may_stay(character, follower)
            pieces.append(character if stays else f"<U+{ord(character):04X}>")
            self._before = pieces[-1][-1]
        return "".join(pieces)

    def _may_stay(self, character: str, follower: str) -> bool:
        # Joiners and variation selectors stay where writing and emoji need them: after a character
        # that is not ASCII. Anywhere else they could only hide something.
        joins = not self._before.isascii() and not self._before.isspace()
        if character in _WIDTHLESS:
            joins = joins and self._before not in _WIDTHLESS and not follower.isascii()
            return joins and not _sometimes.match(follower)
        if unicodedata.category(character) not in ("Mn", "Me"):
            self._marks = 0
            return True
        if _joiner.match(character):
            varies = joins and not _joiner.match(self._before)
            return varies or character + follower == _KEYCAP
        self._marks += 1
        return self._marks <= MOST_MARKS


def clean(text: str) -> str:
    """Make a text safe to draw; its line breaks stay.

    ANSI escapes are removed, other control characters become pictures (␀, ␛), CRLF and a lone CR
    become LF, tabs stay. Half a surrogate pair, which cannot be encoded, becomes U+FFFD.
    """
    return Cleaner().fit(_without_controls(text), ends=True) if _is_dirty(text) else text


def literal(text: str) -> str:
    """Make an argument of a tool safe to draw, without removing anything.

    A shell also reads what a terminal hides: escapes, a CR at the end of a line, odd blanks.
    """
    if not text.isascii():
        text = _blanks.sub(_escaped, text)
    return Cleaner().fit(_without_oddities(text), ends=True) if _is_dirty(text) else text


def literal_line(text: str) -> str:
    """Make an argument of a tool safe for a header: one line, no runs of white space."""
    return _SPACES.sub(" ", literal(text)).strip(" ")


def literal_name(text: str) -> str:
    """Make a file name safe for a header; a line break becomes a picture, too."""
    return literal(text).replace("\n", "␤")


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
    """Format a time: 0.3s, 4s, 1m05s, 2h07m, 3d04h; "" below a twentieth of a second."""
    if milliseconds < 50:
        return ""
    if milliseconds < 1000:
        return f"{milliseconds / 1000:.1f}s"
    seconds = int(milliseconds // 1000)
    if seconds >= 100 * 3600:
        return f"{seconds // 86400}d{seconds // 3600 % 24:02}h"
    if seconds >= 3600:
        return f"{seconds // 3600}h{seconds % 3600 // 60:02}m"
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
