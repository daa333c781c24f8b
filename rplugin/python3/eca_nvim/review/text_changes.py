"""Text changes: two texts compared line by line, and a change located in a third text.

Rules kept here:
- Texts are as the editor holds them: UTF-8 without its byte order mark, else Latin-1. A file with a
  NUL is binary and has no lines.
- Lines are exact, with their line feed: a missing last line feed is a difference, and so is a
  carriage return. Line numbers are 0-based here.
"""

from collections.abc import Sequence

from msgspec import Struct

from eca_nvim.chat.text.text_differences import Lines, Span, counted, spans

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class Change(Struct, frozen=True):
    """Lines `removed` that were replaced by the lines `added`, at line `start` of the new text."""

    start: int
    removed: tuple[str, ...]
    added: tuple[str, ...]

    @property
    def end(self) -> int:
        """The line after the change, in the new text."""
        return self.start + len(self.added)


def text_of(content: bytes) -> str | None:
    """Decode a file's content as the editor does; None for a binary file."""
    if b"\0" in content:
        return None
    try:
        return content.removeprefix(_BYTE_ORDER_MARK).decode()
    except UnicodeDecodeError:
        return content.decode("latin-1")


def is_latin1(content: bytes) -> bool:
    """Return whether the editor decodes a content as Latin-1, because it is not UTF-8."""
    try:
        content.decode()
    except UnicodeDecodeError:
        return True
    return False


def lines_of(text: str) -> list[str]:
    """Split a text into lines, each with its line feed."""
    lines = [line + "\n" for line in text.split("\n")]
    lines[-1] = lines[-1][:-1]
    if not lines[-1]:
        lines.pop()
    return lines


def changes(before: Lines, after: Lines) -> list[Change]:
    """Return the changes between two texts, in order."""
    return [
        Change(new, tuple(before[old:old_end]), tuple(after[new:new_end]))
        for old, old_end, new, new_end in spans(before, after)
    ]


class ChangePlace(Struct, frozen=True):
    """Where a change is in a later text; `is_lost`: its lines were changed again."""

    start: int
    is_lost: bool = False


def counts(before: str | None, after: str | None) -> tuple[int, int]:
    """Return the numbers of added and removed lines; None: no text."""
    return counted(spans(lines_of(before or ""), lines_of(after or "")))


def locate(change: Change, later: Sequence[Span], now: Lines) -> ChangePlace | None:
    """Return where a change is in a later text, None if it was reverted.

    later: the differences between the text after the change and the later text `now`.
    """
    shift = sum(
        (new_end - new) - (old_end - old)
        for old, old_end, new, new_end in later
        if old_end <= change.start and not _touches(change, old, old_end)
    )
    touching = [span for span in later if _touches(change, span[0], span[1])]
    if not touching:
        return ChangePlace(change.start + shift)
    first, last = touching[0], touching[-1]
    low = first[2] if first[0] <= change.start else change.start + shift
    high = last[3] if last[1] >= change.end else last[3] + change.end - last[1]
    if _holds(now[low:high], change.removed):
        return None
    if not change.added and first[0] == first[1]:
        return ChangePlace(low)
    return ChangePlace(max(0, min(low, len(now) - 1)), is_lost=True)


def _touches(change: Change, old: int, old_end: int) -> bool:
    """Return whether a later difference overlaps a change, rather than being next to it."""
    if not change.added:
        return old < change.start < old_end or old == old_end == change.start
    return old < change.end and old_end > change.start


def _holds(lines: Lines, removed: Lines) -> bool:
    """Return whether the lines now in the place of a change include what it removed."""
    if not removed:
        return not lines
    text, wanted = ("\n" + "".join(some) for some in (lines, removed))
    return wanted in text if wanted.endswith("\n") else text.endswith(wanted)
