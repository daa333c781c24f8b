"""Before a change: a file before an agent's change, computed from its diff and the result.

Rules kept here:
- The result is exact to the byte, or None. An agent's diff has lines but not how they end, and an
  agent writes bytes that it could not read as something else.
- Before a write of a whole file there may have been any text: the server sends a diff from nothing.
- The lines of a hunk are expected at exactly the places that the diff names.
"""

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
"""Line feeds at the end of a file that are tried, at most: diffs leave out empty lines there."""
MOST_PLACES = 100
"""Places of a replaced text that are tried, at most."""
UNCLEAR = ("\r", "\ufffd")
"""Characters that a tool may have changed in lines that its diff does not show."""


class ReportedChange:
    """A change of one file as the agent reports it: hunks, and the texts the tool was given."""

    __slots__ = ("_change", "_hunks", "_reversed", "_whole_text", "path")

    def __init__(self, change: FileChange) -> None:
        self.path = change.path
        self._change = change
        self._whole_text = change.whole
        self._hunks = _hunks(change)
        self._reversed = reverse_hunks(self._hunks or ())

    def may_follow(self, content: bytes | None) -> bool:
        """Return whether a content may be the one after the change; None: there is no file."""
        if self._whole_text is not None:
            return content is not None and _lines_of(content) == _lines(self._whole_text)
        return self._hunks is None or _has_lines_before(content, self._reversed)

    def before(self, after: bytes) -> bytes | None:
        """Return the content before the change, exact to the byte; None if it is not certain.

        after: the content that the change left.
        """
        if self._whole_text is not None or self._hunks is None or not self.may_follow(after):
            return None
        try:
            text = after.decode()
            reversed_text = apply_hunks(text, self._reversed)
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
        match self._change:
            case FileChange(old=str(old), new=str(new), every=every) if old.strip("\n"):
                for text in _variants(before, _ends(after) + _ends(old) + 1):
                    if _leads_to(text, after, old, new, every=every):
                        yield text


def reported_changes(call: ToolCall) -> Mapping[str, ReportedChange]:
    """Return the changes that a call reports, by path."""
    return {change.path: ReportedChange(change) for change in call.changes or ()}


def _hunks(change: FileChange) -> Sequence[Hunk] | None:
    """Parse the hunks of a change; None if they are malformed or have no place in the file."""
    try:
        return change_hunks(change) if change.placed else None
    except MalformedDiff:
        return None


def _has_lines_before(content: bytes | None, hunks: Sequence[Hunk]) -> bool:
    """Return whether a content has the lines before the hunks, at exactly their places."""
    if content is None:
        return not any(hunk.before for hunk in hunks)
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
    """Return whether the hunks show the last line that is not empty; no hunks count as yes."""
    if not hunks:
        return True
    last = hunks[-1]
    return last.target - 1 + len(last.after) >= len(_lines(after.rstrip("\n")))


def _variants(text: str, most: int) -> Iterator[str]:
    """Yield the texts that look the same in a diff: with up to `most` line feeds at the end."""
    lines = text.rstrip("\n")
    return (lines + "\n" * count for count in range(most + 1)) if most <= MOST_ENDS else iter(())


def _ends(text: str) -> int:
    """Count the line feeds at the end."""
    return len(text) - len(text.rstrip("\n"))


def _leads_to(before: str, after: str, old: str, new: str, *, every: bool) -> bool:
    """Return whether replacing `old` by `new` makes one text into the other."""
    if every:
        return before.replace(old, new) in _as_replaced(before, after)
    return any(_replaced_once(before, made, old, new) for made in _as_replaced(before, after))


def _as_replaced(before: str, after: str) -> Iterator[str]:
    """Yield what the replacement alone may have made.

    The tool may have added or removed the last line feed afterwards, so that the file ends as it
    did before.
    """
    yield after
    if not before.endswith("\n"):
        yield after + "\n"
    elif after.endswith("\n") and not after.endswith("\n\n"):
        yield after[:-1]


def _replaced_once(before: str, after: str, old: str, new: str) -> bool:
    """Return whether one text is the other with one occurrence of `old` replaced by `new`."""
    if len(before) - len(old) + len(new) != len(after):
        return False
    head, tail = _common_prefix(before, after), _common_prefix(before[::-1], after[::-1])
    low, high = max(0, len(before) - tail - len(old)), head + len(old)
    for _ in range(MOST_PLACES):
        place = before.find(old, low, high)
        if place < 0:
            return False
        if after.startswith(new, place):
            return True
        low = place + 1
    return False


def _common_prefix(one: str, other: str) -> int:
    """Return the number of equal characters at the beginning, by bisection."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
