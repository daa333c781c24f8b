"""Line spans: finds where two texts differ, line by line.

Rule kept here: the time is bounded; texts that differ too much become one span.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

MOST_COMPARED = 1 << 24
"""Most pairs of lines (lines of one text times lines of the other) to compare in detail."""
MOST_LINES = 1 << 16
"""Most lines of either text to compare in detail."""

Lines: TypeAlias = Sequence[str]
Span: TypeAlias = tuple[int, int, int, int]
"""First and last line (exclusive) in the old text, then in the new one."""


def spans(before: Lines, after: Lines) -> list[Span]:
    """Return the spans that differ, in order."""
    from difflib import SequenceMatcher  # noqa: PLC0415 - not needed at start

    head = _common(before, after)
    tail = _common(before[head:][::-1], after[head:][::-1])
    old, new = before[head : len(before) - tail], after[head : len(after) - tail]
    if not old and not new:
        return []
    if len(old) * len(new) > MOST_COMPARED or max(len(old), len(new)) > MOST_LINES:
        return [(head, head + len(old), head, head + len(new))]
    matcher = SequenceMatcher(None, old, new)  # ignores very frequent lines
    return [
        (head + first, head + last, head + new_first, head + new_last)
        for tag, first, last, new_first, new_last in matcher.get_opcodes()
        if tag != "equal"
    ]


def _common(one: Lines, other: Lines) -> int:
    """Count the equal lines at the beginning."""
    count = 0
    for first, second in zip(one, other, strict=False):
        if first != second:
            break
        count += 1
    return count
