"""Undo words: the text of the float that asks before an undo, and of the message after it.

Rules kept here: a row has both texts, for a file that stays and for one that is restored. The user
can then choose in the view, which asks the host no second time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from eca_nvim.chat.text.safe_text import one_line
from eca_nvim.chat.vocabulary.ops import Segment
from eca_nvim.review.change_list import Table
from eca_nvim.review.undo import UndoPlan

NOTHING = "nothing to undo"
NO_FILE = "no file to restore"
_COUNTS = 8
"""Screen cells of the counts of lines."""

_PUT_BACK: Mapping[object, str] = {
    "restore": "restored",
    "create": "created again",
    "delete": "deleted",
}


def plan_table(
    numbers: Sequence[int],
    prompt: str,
    plan: UndoPlan,
    unkept: Sequence[str] = (),
    *,
    messages: bool = False,
) -> Table:
    """Build the answer to the intent `plan_undo`.

    numbers: the turns, the newest first. prompt: that of the oldest turn. unkept: the prompts of
    turns whose files were not kept. messages: the messages are undone, too.
    """
    act = "redo" if plan.again else "undo"
    key = "redo" if plan.again else "undo, messages too" if messages else "undo"
    rows = [*map(_file_row, plan.files), *map(_prompt_row, unkept)]
    return {
        "turns": numbers,
        "again": plan.again,
        "title": f"{act} {_named(numbers)}: {one_line(prompt)}",
        "verb": key,
        "rows": rows,
        "why": NO_FILE,
    }


def no_plan(why: str | None) -> Table:
    """Build the answer to the intent `plan_undo` if nothing to undo."""
    return {"rows": [], "why": why or NOTHING}


def done_line(numbers: Sequence[int], count: int, *, again: bool) -> str | None:
    """Return the message after an undo of so many files; None if there is no file."""
    files = "1 file" if count == 1 else f"{count} files"
    return f"{_named(numbers)} {'redone' if again else 'undone'} in {files}" if count else None


def _named(numbers: Sequence[int]) -> str:
    """Return the name of some turns, the newest first."""
    if not numbers:
        return "turns of earlier sessions"
    newest, oldest = numbers[0], numbers[-1]
    return f"turn {oldest}" if oldest == newest else f"turns {oldest} to {newest}"


def _file_row(file: Table) -> Table:
    kept, taken = _fates(file)
    about = {"path": file["path"], "seen": file["seen"]}
    return {**about, "kept": kept, "taken": taken}


def _fates(file: Table) -> tuple[Sequence[Segment] | None, Sequence[Segment] | None]:
    """Return the text for a file that stays, and for one that is restored; None if it cannot be."""
    if file["fault"] is not None:
        return [("  ", ""), (f"cannot be restored: {file['fault']}", "EcaError")], None
    counts, what = _counts(file), _PUT_BACK[file["what"]]
    if file["command"] is not None:
        what = f"{what}, {file['command']} by a command"
    conflict = file["conflict"]
    if conflict is None:
        return None, [*counts, (what, "EcaMuted")]
    kept = (f"{conflict}, kept as it is", "EcaToolWaiting")
    return [*counts, kept], [*counts, (f"{conflict}, {what}", "EcaMuted")]


def _counts(file: Table) -> Sequence[Segment]:
    added, removed = f"+{file['added']}", f"-{file['removed']}"
    pad = " " * (_COUNTS - len(added) - len(removed))
    counts = [(added, "EcaDiffAdd"), (" ", ""), (removed, "EcaDiffDelete")]
    return [("  ", ""), *counts, (f"{pad}  ", "")]


def _prompt_row(prompt: str) -> Table:
    kept = ("  no checkpoint, its files stay", "EcaToolWaiting")
    taken = ("  restored by the server, over what was saved since", "EcaError")
    return {"name": f"▌ {one_line(prompt)}", "kept": [kept], "taken": [taken]}
