"""Hunks between: the unified diff from one text to another, in the form agents send them."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import unified_diff


def hunks_between(before: str, after: str) -> tuple[str, int, int]:
    """Give the hunks from one text to another, and how many lines they add and remove.

    A carriage return at a line's end does not count.
    """
    old, new = (list(_marked(text.replace("\r\n", "\n"))) for text in (before, after))
    told = list(unified_diff(old, new, lineterm=""))[2:]
    added = sum(line.startswith("+") for line in told)
    removed = sum(line.startswith("-") for line in told)
    return "\n".join(told), added, removed


def _marked(text: str) -> Iterator[str]:
    """Give the lines; one that does not end says so as diffs do."""
    if text:
        *lines, last = text.removesuffix("\n").split("\n")
        yield from lines
        yield last if text.endswith("\n") else f"{last}\n\\ No newline at end of file"
