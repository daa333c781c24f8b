"""Proposed change: computes a file's text after a proposed change.

Rules kept here:
- Pure. Line numbers are 1-based, and those of the unchanged file for all changes of a proposal.
  Both ends of a range are included.
- A change that does not fit is an error; it is never made in part.
"""

from __future__ import annotations

from collections.abc import Sequence

from eca_nvim.protocol.eca.draft import ProposedChange


class DoesNotFit(ValueError):
    """Raised when changes do not fit a file; the message is one line that says why."""


def changed_text(text: str | None, changes: Sequence[ProposedChange]) -> str | None:
    """Return a file's text after some changes, None if it is deleted; `text` None: no such file.

    Changes without a range are to the whole file. Raises DoesNotFit.
    """
    whole = [change for change in changes if change.range is None or change.kind == "create"]
    if whole:
        if len(changes) > 1:
            raise DoesNotFit("a change of the whole file cannot be combined with others")
        return _whole(whole[0])
    if text is None:
        raise DoesNotFit("there is no such file")
    return _spliced(text, changes)


def _whole(change: ProposedChange) -> str | None:
    match change.kind:
        case "delete":
            return None
        case "create" | "change":
            return change.content or ""
        case _:
            raise DoesNotFit(f"{change.kind!r} is not a kind of change")


def _spliced(text: str, changes: Sequence[ProposedChange]) -> str:
    lines, ends = _lines(text)
    below = len(lines) + 1
    for first, last, replacement in sorted(map(_splice, changes), reverse=True):
        if not 1 <= first <= min(last, len(lines)) + 1 or last >= below:
            raise DoesNotFit(f"lines {first} to {last} do not exist, or are changed twice")
        lines[first - 1 : last] = replacement
        below = first
    return "\n".join(lines) + ("\n" if ends and lines else "")


def _splice(change: ProposedChange) -> tuple[int, int, list[str]]:
    assert change.range is not None
    first, last = change.range.start_line, change.range.end_line
    match change.kind:
        case "delete":
            return first, last, []
        case "change":
            return first, last, _lines(change.content or "")[0]
        case _:
            raise DoesNotFit(f"{change.kind!r} is not a kind of change")


def _lines(text: str) -> tuple[list[str], bool]:
    """Split a text into lines; return them, and whether the last one has a line feed."""
    ends = text.endswith("\n") or not text
    return text.removesuffix("\n").split("\n") if text else [], ends
