"""Hunks between: makes the unified diff from one text to another, in the form agents use."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from eca_nvim.chat.text.line_spans import Lines, Span, spans

AROUND = 3
"""Context lines before and after a difference."""


def hunks_between(before: str, after: str) -> tuple[str, int, int]:
    """Return the hunks from one text to another, and how many lines they add and remove.

    A text that ends all its lines in CRLF keeps that, so it is no difference.
    """
    old, new = (list(_marked(text)) for text in comparable(before, before, after))
    found = spans(old, new)
    lines = [line for group in _groups(found) for line in _hunk(old, new, group)]
    added = sum(new_end - new_start for _, _, new_start, new_end in found)
    removed = sum(old_end - old_start for old_start, old_end, _, _ in found)
    return "\n".join(lines), added, removed


def comparable(file: str, *texts: str) -> Sequence[str]:
    """Return texts with plain line ends, if all lines of their file end in CRLF."""
    if 0 < file.count("\r\n") == file.count("\n"):
        return [text.replace("\r\n", "\n") for text in texts]
    return texts


def _marked(text: str) -> Iterator[str]:
    """Yield the lines; a last line without a line feed has the note that diffs use."""
    if text:
        *lines, last = text.removesuffix("\n").split("\n")
        yield from lines
        yield last if text.endswith("\n") else f"{last}\n\\ No newline at end of file"


def _groups(found: Iterable[Span]) -> list[list[Span]]:
    """Group differences whose context lines touch or overlap."""
    groups: list[list[Span]] = []
    for span in found:
        if groups and span[0] - groups[-1][-1][1] <= 2 * AROUND:
            groups[-1].append(span)
        else:
            groups.append([span])
    return groups


def _hunk(old: Lines, new: Lines, group: Sequence[Span]) -> Iterator[str]:
    above = min(AROUND, group[0][0])
    below = min(AROUND, len(old) - group[-1][1])
    at, old_end = group[0][0] - above, group[-1][1] + below
    yield (f"@@ -{_range(at, old_end)} +{_range(group[0][2] - above, group[-1][3] + below)} @@")
    for old_start, old_stop, new_start, new_stop in group:
        yield from (f" {line}" for line in old[at:old_start])
        yield from (f"-{line}" for line in old[old_start:old_stop])
        yield from (f"+{line}" for line in new[new_start:new_stop])
        at = old_stop
    yield from (f" {line}" for line in old[at:old_end])


def _range(start: int, end: int) -> str:
    """Format a range as diffs do: one line as its number, no lines as the line before them."""
    if end - start == 1:
        return f"{start + 1}"
    return f"{start + 1 if end > start else start},{end - start}"
