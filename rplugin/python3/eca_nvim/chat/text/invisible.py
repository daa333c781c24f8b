r"""Invisible: characters that nobody sees, or that make others look like what they are not.

Rules kept here:
- What steers the direction of text, has no width or is blank without being a space is written out
  as `<U+202E>`: who approves a text must see all of it.
- Joiners and variation selectors stay where writing and emoji need them: after a character that
  is not ASCII. Anywhere else they could only hide something.
- A character bears so many marks as languages need; more are written out.
- Blanks that writing needs, as in Japanese or French, stay in what is said. In what a tool takes
  they are written out: a shell does not take them for a space.
"""

from __future__ import annotations

import unicodedata

from eca_nvim.patterns import late_pattern

ALWAYS = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\U00013430-\U0001343f\U00016fe4"
    "\U0001bca0-\U0001bca3\U0001d159\U0001d173-\U0001d17a\U000e0000-\U000e00ff\U000e01f0-\U000e0fff"
)
"""What is always written out, as the inside of a character class: soft hyphen, fillers, zero width
space, directions, line and paragraph separators, invisible operators, annotations, tags, controls
of scripts, and codes that are to be ignored whatever they come to mean."""

JOINERS = "\u200c\u200d\ufe00-\ufe0f\U000e0100-\U000e01ef"
_MARKS = (
    "\u0300-\u034e\u0350-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"
)
SOMETIMES = JOINERS + _MARKS
"""What depends on its neighbours, as the inside of a character class."""

MOST_MARKS = 4
"""Marks that a character bears, at most."""

BLANKS = "\u00a0\u1680\u2000-\u200a\u202f\u205f\u2800\u3000"
"""What looks like a space and is none, as the inside of a character class."""

_always = late_pattern(f"[{ALWAYS}]")
_sometimes = late_pattern(f"[{SOMETIMES}]")
_joiner = late_pattern(f"[{JOINERS}]")
_blanks = late_pattern(f"[{BLANKS}]")
_WIDTHLESS = "\u200c\u200d"
_KEYCAP = "\ufe0f\u20e3"


def written_out(character: str) -> str:
    """Return a character as its code: `<U+202E>`."""
    return f"<U+{ord(character):04X}>"


def without_always(text: str) -> str:
    """Write out what always is."""
    return _always.sub(lambda found: written_out(found.group()), text)


def without_blanks(text: str) -> str:
    """Write out what looks like a space and is none."""
    return _blanks.sub(lambda found: written_out(found.group()), text)


class Neighbours:
    """Settles what depends on neighbours, in a text that comes in chunks."""

    __slots__ = ("_before", "_held", "_marks")

    def __init__(self) -> None:
        self._before = ""
        self._held = ""
        self._marks = 0

    @property
    def waits(self) -> bool:
        """Return whether something is held back."""
        return bool(self._held)

    def passed(self, chunk: str) -> None:
        """Take note of a chunk without anything to settle, while nothing is held back."""
        self._before, self._marks = chunk[-1:] or self._before, 0

    def feed(self, chunk: str) -> str:
        """Return what of the text so far is settled: a joiner waits for what it joins."""
        text = self._held + chunk
        cut = len(text) - 1 if _joiner.match(text[-1:]) else len(text)
        self._held = text[cut:]
        return self._settled(text[:cut], self._held)

    def finish(self) -> str:
        """Return what was held back: nothing comes after it."""
        held, self._held = self._held, ""
        return self._settled(held, "")

    def _settled(self, text: str, after: str) -> str:
        if not _sometimes.search(text):
            self.passed(text)
            return text
        pieces: list[str] = []
        for place, character in enumerate(text):
            shown = self._one(character, text[place + 1 : place + 2] or after)
            self._before = shown[-1]
            pieces.append(shown)
        return "".join(pieces)

    def _one(self, character: str, follower: str) -> str:
        if character in _WIDTHLESS:
            joins = self._can_be_joined() and self._before not in _WIDTHLESS
            joins = joins and not follower.isascii()
            return character if joins and not _sometimes.match(follower) else written_out(character)
        if unicodedata.category(character) not in ("Mn", "Me"):
            self._marks = 0
            return character
        if _joiner.match(character):
            varies = self._can_be_joined() and not _joiner.match(self._before)
            is_needed = varies or character + follower == _KEYCAP
            return character if is_needed else written_out(character)
        self._marks += 1
        return character if self._marks <= MOST_MARKS else written_out(character)

    def _can_be_joined(self) -> bool:
        """Return whether the character before can be joined to another, or varied."""
        return not self._before.isascii() and not self._before.isspace()
