"""Before a change: a file before a change of an agent, worked out from what the change left.

Rules kept here:
- What is worked out is what was there, byte for byte; else nothing is: an agent's diff tells lines,
  not how they end, and agents write some of what they could not read as something else.
- A file that is written whole has any text before: the real server sends the diff from nothing.
- A change is looked for at its very places only.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from eca_nvim.chat.text.diffs import (
    DoesNotApply,
    Hunk,
    Line,
    MalformedDiff,
    apply_hunks,
    change_hunks,
    reverse_hunks,
)
from eca_nvim.chat.vocabulary.call_details import FileChange, ToolCall

MOST_ENDS = 10
"""Line feeds at the end of a file that are tried, at most; diffs leave empty lines there out."""
MOST_PLACES = 100
"""Places in a file where a tool may have replaced a text that are tried, at most."""
UNCLEAR = ("\r", "\ufffd")
"""What a tool may have put in place of something else in lines that its diff does not show."""


class ToldChange:
    """A change of one file as an agent tells it: hunks, and what the tool was given."""

    __slots__ = ("_arguments", "_back", "_hunks", "path")

    def __init__(self, change: FileChange, arguments: Mapping[str, object]) -> None:
        self.path = change.path
        self._arguments = arguments
        self._hunks = _hunks(change)
        self._back = reverse_hunks(self._hunks or ())

    @property
    def _whole(self) -> str | None:
        """Give the text that the file was to have; None when a piece of it was replaced."""
        content = self._arguments.get("content")
        return content if isinstance(content, str) else None

    def may_precede(self, content: bytes | None) -> bool:
        """Say whether the change may start from a content; None: from no file."""
        if self._whole is not None or self._hunks is None:
            return True
        return _are_there(content, self._hunks)

    def may_follow(self, content: bytes | None) -> bool:
        """Say whether the change may have left a content; None: no file."""
        if self._whole is not None:
            return content is not None and _lines_of(content) == _lines(self._whole)
        return self._hunks is None or _are_there(content, self._back)

    def before(self, after: bytes) -> bytes | None:
        """Return the content before the change, exact to the byte; None if it is not certain.

        after: the content that the change left.
        """
        if self._whole is not None or self._hunks is None or not self.may_follow(after):
            return None
        try:
            text = after.decode()
            reversed_text = apply_hunks(text, self._back)
        except (UnicodeDecodeError, DoesNotApply):
            return None
        # A diff from an empty text may also mean that there was no file.
        if not reversed_text or any(sign in text + reversed_text for sign in UNCLEAR):
            return None
        # The lines are right. The line feeds at the end may not be: diffs leave them out. The
        # tool's arguments tell which of the possible texts it was, unless several explain them.
        possible = list(self._explained(reversed_text, text))
        if not possible and not _reach_the_end(self._hunks, text):
            possible = [reversed_text]  # nothing was changed at the end
        return possible[0].encode() if len(possible) == 1 else None

    def _explained(self, before: str, after: str) -> Iterator[str]:
        """Yield the texts with the lines of `before` from which the tool makes `after`."""
        match self._arguments:
            case {"original_content": str(old), "new_content": str(new)} if old.strip("\n"):
                every = bool(self._arguments.get("all_occurrences"))
                for text in _variants(before, _ends(after) + _ends(old) + 1):
                    if _leads_to(text, after, old, new, every=every):
                        yield text


def told_change(call: ToolCall) -> ToldChange | None:
    """Read what a call tells of a change; None when it tells nothing."""
    if not isinstance(call.details, FileChange):
        return None
    return ToldChange(call.details, call.arguments or {})


def _hunks(change: FileChange) -> Sequence[Hunk] | None:
    """Read the hunks of a change; None when they make no sense."""
    try:
        return change_hunks(change)
    except MalformedDiff:
        return None


def _have_lines(hunks: Sequence[Hunk]) -> bool:
    return any(hunk.before for hunk in hunks)


def _are_there(content: bytes | None, hunks: Sequence[Hunk]) -> bool:
    """Say whether a content has, at their very places, the lines that hunks start from."""
    if content is None:
        return not _have_lines(hunks)
    lines = _lines_of(content)
    return all(_fits(lines, hunk.start, hunk.before) for hunk in hunks)


def _lines_of(content: bytes) -> list[str]:
    return _lines(content.decode(errors="replace"))


def _lines(text: str) -> list[str]:
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    return lines if lines[-1] else lines[:-1]


def _fits(lines: Sequence[str], start: int, wanted: Sequence[Line]) -> bool:
    place = max(0, start - 1)
    found = lines[place : place + len(wanted)]
    return found == [line.text.removesuffix("\r") for line in wanted]


def _reach_the_end(hunks: Sequence[Hunk], after: str) -> bool:
    """Say whether hunks tell of the last line, or of none at all."""
    if not hunks:
        return True
    last = hunks[-1]
    return last.target - 1 + len(last.after) >= len(_lines(after.rstrip("\n")))


def _variants(text: str, most: int) -> Iterator[str]:
    """Give the texts that a diff does not tell apart from one; `most` line feeds at the end."""
    lines = text.rstrip("\n")
    return (lines + "\n" * count for count in range(most + 1)) if most <= MOST_ENDS else iter(())


def _ends(text: str) -> int:
    """Count the line feeds at the end."""
    return len(text) - len(text.rstrip("\n"))


def _leads_to(before: str, after: str, old: str, new: str, *, every: bool) -> bool:
    """Say whether one text becomes another when a piece of it is replaced."""
    if every:
        return before.replace(old, new) in _unmended(before, after)
    return any(_replaced_once(before, made, old, new) for made in _unmended(before, after))


def _unmended(before: str, after: str) -> Iterator[str]:
    """Give a text, and as it was if the tool has seen to it that it ends like the one before."""
    yield after
    if not before.endswith("\n"):
        yield after + "\n"
    elif after.endswith("\n") and not after.endswith("\n\n"):
        yield after[:-1]


def _replaced_once(before: str, after: str, old: str, new: str) -> bool:
    """Say whether one text is the other with one piece of it replaced."""
    if len(before) - len(old) + len(new) != len(after):
        return False
    head, tail = _alike(before, after), _alike(before[::-1], after[::-1])
    low, high = max(0, len(before) - tail - len(old)), head + len(old)
    for _ in range(MOST_PLACES):
        place = before.find(old, low, high)
        if place < 0:
            return False
        if after.startswith(new, place):
            return True
        low = place + 1
    return False


def _alike(one: str, other: str) -> int:
    """Count the characters at the beginning that are equal."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
