"""What the float that asks before an undo says, and what is said after it."""

from collections.abc import Mapping
from typing import Any

import pytest

from eca_nvim.chat.vocabulary.ops import Segment
from eca_nvim.review.change_list import Table
from eca_nvim.review.undo import UndoPlan, done_line, no_plan, plan_table


def planned(**fields: object) -> Table:
    about = {"path": "/a", "what": "restore", "added": 1, "removed": 2, "seen": "so"}
    return {**about, "conflict": None, "fault": None, "command": None, **fields}


def rows(table: Mapping[str, Any]) -> list[Any]:
    return list(table["rows"])


def worded(**fields: object) -> tuple[str | None, str | None]:
    """Return what is read of a file while it stays, and while it is restored."""
    (row,) = rows(plan_table([1], "", UndoPlan([planned(**fields)])))
    return joined(row["kept"]), joined(row["taken"])


def joined(segments: list[Segment] | None) -> str | None:
    return None if segments is None else "".join(text for text, _ in segments).strip()


@pytest.mark.parametrize(
    ("fields", "kept", "taken"),
    [
        ({}, None, "+1 -2      restored"),
        ({"what": "create"}, None, "+1 -2      created again"),
        ({"what": "link", "added": 0}, None, "+0 -2      a link again"),
        ({"what": "delete", "removed": 1200}, None, "+1 -1200   deleted"),
        ({"what": "delete", "added": 123456}, None, "+123456 -2  deleted"),
        ({"command": "changed"}, None, "+1 -2      restored, changed by a command"),
        (
            {"conflict": "changed since"},
            "+1 -2      changed since, kept as it is",
            "+1 -2      changed since, restored",
        ),
        (
            {"conflict": "unsaved changes", "what": "delete", "command": "made"},
            "+1 -2      unsaved changes, kept as it is",
            "+1 -2      unsaved changes, deleted, made by a command",
        ),
        ({"fault": "it is larger"}, "cannot be restored: it is larger", None),
        ({"fault": "a", "conflict": "b"}, "cannot be restored: a", None),
    ],
)
def test_a_row_says_what_becomes_of_its_file(
    fields: Table, kept: str | None, taken: str | None
) -> None:
    assert worded(**fields) == (kept, taken)


def test_a_turn_of_which_no_file_was_kept_stays_unless_the_server_puts_it_back() -> None:
    (row,) = rows(plan_table([], "x", UndoPlan([]), ["fix\nit"]))
    assert row["name"] == "▌ fix it"
    assert joined(row["kept"]) == "no checkpoint, its files stay"
    assert joined(row["taken"]) == "restored by the server, over what was saved since"


@pytest.mark.parametrize(
    ("numbers", "again", "messages", "title", "verb"),
    [
        ([2], False, False, "undo turn 2: a b", "undo"),
        ([3, 2, 1], False, True, "undo turns 1 to 3: a b", "undo, messages too"),
        ([], False, True, "undo turns of earlier sessions: a b", "undo, messages too"),
        ([2], True, False, "redo turn 2: a b", "redo"),
    ],
)
def test_the_title_names_the_turns_and_the_first_prompt(
    numbers: list[int], again: bool, messages: bool, title: str, verb: str
) -> None:
    table = plan_table(numbers, "a\nb", UndoPlan([planned()], again), messages=messages)
    assert (table["title"], table["verb"], table["again"]) == (title, verb, again)


def test_why_there_is_nothing_to_undo() -> None:
    assert no_plan(None) == {"rows": [], "why": "nothing to undo"}
    assert no_plan("undo turn 2 first")["why"] == "undo turn 2 first"
    assert plan_table([1], "", UndoPlan([]))["why"] == "no file to restore"


@pytest.mark.parametrize(
    ("numbers", "count", "again", "line"),
    [
        ([2], 1, False, "turn 2 undone in 1 file"),
        ([2], 2, True, "turn 2 redone in 2 files"),
        ([3, 2], 5, False, "turns 2 to 3 undone in 5 files"),
        ([2], 0, False, None),
    ],
)
def test_what_was_done_is_a_line(
    numbers: list[int], count: int, again: bool, line: str | None
) -> None:
    assert done_line(numbers, count, again=again) == line
