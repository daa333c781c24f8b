r"""Invisible: characters that are invisible, or that disguise other characters.

Rules kept here:
- Characters that change the direction of text, have no width or look blank are escaped as
  `<U+202E>`, because whoever approves a text must see all of it.
- Joiners and variation selectors stay where writing and emoji need them: after a character that
  is not ASCII. Anywhere else they could only hide something.
- A character may have as many marks as languages need; further marks are escaped.
- Blanks that Japanese or French need stay in prose. In arguments of a tool they are escaped,
  because a shell does not treat them as spaces.
"""

from __future__ import annotations

import unicodedata

from eca_nvim.patterns import late_pattern

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

_always = late_pattern(f"[{ALWAYS}]")
_sometimes = late_pattern(f"[{SOMETIMES}]")
_joiner = late_pattern(f"[{JOINERS}]")
_blanks = late_pattern(f"[{BLANKS}]")
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
