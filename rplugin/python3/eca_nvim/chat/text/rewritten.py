"""Rewritten: the lines that an answer puts in the place of others, and where they differ.

Models wrap code in fences and talk around it: only the code counts. What a model leaves out of the
indentation that all lines shared comes back.
"""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

from msgspec import Struct

from eca_nvim.chat.text.text_differences import Lines, Span, changed_part, spans

MOST_ANSWER: Final = 1 << 18
"""Characters of an answer, at most: more is no rewrite of lines that somebody has selected."""
AHEAD: Final = 10
"""Lines of the old text beyond the length of an unfinished answer that it is compared with."""
MOST_WORDS, FIRST_WORDS = 500, 50
"""Lines of a hunk in which changed words are looked for: in a whole answer, and while it comes."""

_CHATTER: Final = (
    "here",
    "sure",
    "certainly",
    "okay",
    "ok,",
    "below",
    "of course",
    "the rewritten",
)
"""How a line begins that only introduces the code below it; it ends with a colon."""

Part = tuple[int, int, int]
"""A part of a line that differs: the line's place in its list, first and last byte (exclusive)."""


class Hunk(Struct, frozen=True):
    """Lines that take the place of others.

    first, last: of the old lines (0-based, the last exclusive; both the same: nothing is replaced).
    old_parts, new_parts: what differs in lines that are changed rather than replaced.
    """

    first: int
    last: int
    lines: Sequence[str]
    old_parts: Sequence[Part] = ()
    new_parts: Sequence[Part] = ()


def rewritten(answer: str, old: Lines, *, is_whole: bool = True) -> list[str]:
    """Return the lines that an answer gives for old ones; of an unfinished one the whole lines.

    A line feed is no part of a line. A carriage return at its end is only kept if old lines have
    one: a file whose lines all end in CRLF has none of them here.
    """
    lines = answer.replace("\0", "").split("\n")
    if not is_whole:
        lines.pop()
    if not any(line.endswith("\r") for line in old):
        lines = [line.removesuffix("\r") for line in lines]
    lines = _without_blank_ends(_without_chatter(_code(lines, old), old), old)
    return indented(lines, old)


def _fence(line: str) -> str:
    """Return the backticks or tildes that begin or end a code block, "" if the line does not."""
    text = line.lstrip(" ")
    mark = text[:1]
    if mark not in ("`", "~") or len(line) - len(text) > 3:
        return ""
    marks = text[: len(text) - len(text.lstrip(mark))]
    info = text[len(marks) :]
    return marks if len(marks) >= 3 and not (mark == "`" and "`" in info) else ""


def _closes(line: str, fence: str) -> bool:
    """Return whether a line ends the code block that a fence has begun."""
    marks = _fence(line)
    return marks.startswith(fence) and line.strip() == marks


def _code(lines: Lines, old: Lines) -> Lines:
    """Return the code in an answer: the longest block in fences, else all of it."""
    if any(map(_fence, old)):  # the text has blocks of its own: only a fence around all of it goes
        return _unwrapped(lines, old)
    blocks = list(_blocks(lines))
    return max(blocks, key=len) if blocks else lines


def _blocks(lines: Lines) -> Iterator[Lines]:
    fence, inside = "", list[str]()
    for line in lines:
        if not fence:
            fence, inside = _fence(line), []
        elif _closes(line, fence):
            yield inside
            fence = ""
        else:
            inside.append(line)
    if fence:
        yield inside


def _unwrapped(lines: Lines, old: Lines) -> Lines:
    first = next((at for at, line in enumerate(lines) if line.strip()), None)
    if first is None or not (fence := _fence(lines[first])) or lines[first] == old[0]:
        return lines
    inside = lines[first + 1 :]
    last = next((at for at in range(len(inside) - 1, -1, -1) if inside[at].strip()), -1)
    return inside[:last] if last >= 0 and _closes(inside[last], fence) else inside


def _without_chatter(lines: Lines, old: Lines) -> Lines:
    first = next((at for at, line in enumerate(lines) if line.strip()), 0)
    line = lines[first].strip() if lines else ""
    is_chatter = line.endswith(":") and line.casefold().startswith(_CHATTER)
    return lines[first + 1 :] if is_chatter and lines[first] not in old else lines


def _without_blank_ends(lines: Lines, old: Lines) -> list[str]:
    """Remove blank lines at both ends that were not there before."""
    kept = list(lines)
    while kept and not kept[0].strip() and old[:1] and old[0].strip():
        del kept[0]
    while kept and not kept[-1].strip() and (len(kept) == 1 or (old[-1:] and old[-1].strip())):
        del kept[-1]
    return kept


def indented(lines: list[str], old: Lines) -> list[str]:
    """Add the indentation that all old lines have, if the new ones begin in the first column."""
    missing = _shared_indent(old)
    if not missing or _shared_indent(lines):
        return lines
    found = [missing + line if line.strip() else line for line in lines]
    return lines if found == list(old) else found  # else it was the indentation that had to go


def _shared_indent(lines: Lines) -> str:
    """Return the blanks with which all lines begin that are not blank."""
    indents = [line[: len(line) - len(line.lstrip(" \t"))] for line in lines if line.strip()]
    shared = min(indents, key=len, default="")
    while not all(indent.startswith(shared) for indent in indents):
        shared = shared[:-1]
    return shared


def hunks(old: Lines, new: Lines, *, is_whole: bool = True) -> list[Hunk]:
    """Return how the new lines differ from the old ones, in order.

    Of an unfinished answer only what it has reached counts: old lines that may still follow stay.
    """
    if is_whole:
        return [_hunk(old, new, span, MOST_WORDS) for span in spans(old, new)]
    reached = old[: len(new) + AHEAD]
    found = [_so_far(span, len(reached)) for span in spans(reached, new)] if new else []
    return [_hunk(old, new, span, FIRST_WORDS) for span in found]


def _so_far(span: Span, end: int) -> Span:
    """Cut a difference at the end of the old lines to as many of them as there are new ones."""
    first, last, new_first, new_last = span
    return span if last < end else (first, min(last, first + new_last - new_first), *span[2:])


def _hunk(old: Lines, new: Lines, span: Span, most_words: int) -> Hunk:
    first, last, new_first, new_last = span
    lines = new[new_first:new_last]
    return Hunk(first, last, lines, *changed_parts(old[first:last], lines, most_words))


def changed_parts(old: Lines, new: Lines, most: int) -> tuple[list[Part], list[Part]]:
    """Return what differs in lines that are changed rather than replaced, in both of them.

    most: how many lines are looked at.
    """
    old_parts, new_parts = list[Part](), list[Part]()
    for at, (before, after) in enumerate(islice(zip(old, new, strict=False), most)):
        if (part := changed_part(before, after)) is not None:
            start, ends = part
            head = len(before[:start].encode())
            old_parts.append((at, head, len(before[: ends[0]].encode())))
            new_parts.append((at, head, len(after[: ends[1]].encode())))
    return old_parts, new_parts
