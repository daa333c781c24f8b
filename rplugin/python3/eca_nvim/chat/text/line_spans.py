"""Line spans: where two texts differ, line by line.

Rule kept here: whatever is compared, it takes a bounded time: what is too different is one span.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

MOST_COMPARED = 1 << 24
"""Lines of the one times lines of the other that are compared one by one, at most."""
MOST_LINES = 1 << 16
"""Lines of either that are compared at all, at most."""

Lines: TypeAlias = Sequence[str]
Span: TypeAlias = tuple[int, int, int, int]
"""First and last line (exclusive) in the one, and in the other."""


def spans(before: Lines, after: Lines) -> list[Span]:
    """Find the places that differ, in order."""
    from difflib import SequenceMatcher  # noqa: PLC0415 - the start compares nothing

    head = _common(before, after)
    tail = _common(before[head:][::-1], after[head:][::-1])
    old, new = before[head : len(before) - tail], after[head : len(after) - tail]
    if not old and not new:
        return []
    if len(old) * len(new) > MOST_COMPARED or max(len(old), len(new)) > MOST_LINES:
        return [(head, head + len(old), head, head + len(new))]
    matcher = SequenceMatcher(None, old, new)  # it finds no meaning in lines that are everywhere
    return [
        (head + first, head + last, head + new_first, head + new_last)
        for tag, first, last, new_first, new_last in matcher.get_opcodes()
        if tag != "equal"
    ]


def _common(one: Lines, other: Lines) -> int:
    """Count the lines at the beginning that are equal."""
    count = 0
    for first, second in zip(one, other, strict=False):
        if first != second:
            break
        count += 1
    return count
