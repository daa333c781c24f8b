"""Prior: a file before a change of an agent, found when the change may have been made already.

Rules kept here: a call that asked for nothing may have run before we hear of it. Then the change
is taken back in the file as it is. What cannot be told stays as it is.
"""

from __future__ import annotations

from collections.abc import Sequence

from eca_nvim.chat.details import FileChange
from eca_nvim.chat.diffs import (
    DoesNotApply,
    Hunk,
    Line,
    MalformedDiff,
    apply_hunks,
    change_hunks,
    reverse_hunks,
)


def before_change(content: bytes | None, change: FileChange) -> bytes | None:
    """Give a file's content before a change, from the content now; None where there is no file."""
    try:
        hunks = change_hunks(change)
    except MalformedDiff:
        return content
    text = (content or b"").decode(errors="surrogateescape")
    back = reverse_hunks(hunks)
    if not hunks or not _is_there(text, back) or (_removes(hunks) and _is_there(text, hunks)):
        return content
    try:
        before = apply_hunks(text, back)
    except DoesNotApply:
        return content
    is_new = not before and hunks[0].start == 0
    return None if is_new else before.encode(errors="surrogateescape")


def _removes(hunks: Sequence[Hunk]) -> bool:
    return any(hunk.before for hunk in hunks)


def _is_there(text: str, hunks: Sequence[Hunk]) -> bool:
    """Say whether a text has, at their very places, the lines that hunks start from."""
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    return all(_fits(lines, hunk.start, hunk.before) for hunk in hunks)


def _fits(lines: Sequence[str], start: int, wanted: Sequence[Line]) -> bool:
    place = max(0, start - 1)
    found = lines[place : place + len(wanted)]
    return found == [line.text.removesuffix("\r") for line in wanted]
