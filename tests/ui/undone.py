"""What undoing turns would do, in the words of the host."""

from pathlib import Path

from tests.ui.talk import Value

from eca_nvim.review.change_list import Table
from eca_nvim.review.undo import UndoPlan, done_line, plan_table


def planned(path: Path | str, **fields: object) -> Table:
    """Return the plan of a file: restored with one more line, changed by `fields`."""
    about = {"path": str(path), "what": "restore", "added": 1, "removed": 2, "seen": "so"}
    return {**about, "conflict": None, "fault": None, "command": None, **fields}


def plan(
    *files: Table,
    turns: tuple[int, ...] = (2,),
    unkept: tuple[str, ...] = (),
    again: bool = False,
    messages: bool = False,
) -> Value:
    """Answer the intent `plan_undo`."""
    return plan_table(turns, "shout", UndoPlan([*files], again), unkept, messages=messages)


def outcome(done: list[str], failed: list[Value] | None = None, *, again: bool = False) -> Value:
    """Answer the intent `undo_turn`, of turn 2."""
    told = done_line([2], len(done), again=again)
    return {"done": done, "failed": failed or [], "told": told}
