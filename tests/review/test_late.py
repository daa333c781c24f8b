"""Checkpoints if messages about calls come late, when the agent has continued."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from tests.review.agent import Agent, Moment
from tests.review.late import LateDesk, contents

from eca_nvim.chat.vocabulary.query_intents import FileWritten
from eca_nvim.review.change_list import Present
from eca_nvim.review.turn_changes import UNSEEN
from eca_nvim.review.undo import plan_undo

Value: TypeAlias = Any
NOTES = "# Notes\n\none\ntwo\n"


@pytest.fixture
def desk(tmp_path: Path) -> LateDesk:
    (tmp_path / "README").write_text(NOTES)
    (tmp_path / "other").write_text("\n".join("abcdefghij"))
    return LateDesk(tmp_path, tmp_path.with_name(f"{tmp_path.name}-store"))


def edit_and_move(agent: Agent) -> Iterator[Iterable[Moment]]:
    yield agent.edit("README", "two\n", "two\nthree\n")
    yield agent.move("README", "NOTES")


def move_and_edit(agent: Agent) -> Iterator[Iterable[Moment]]:
    yield agent.move("README", "NOTES")
    yield agent.edit("NOTES", "two\n", "two\nthree\n")


def edit_move_edit_move(agent: Agent) -> Iterator[Iterable[Moment]]:
    yield agent.edit("README", "two\n", "zwei\n")
    yield agent.move("README", "between")
    yield agent.edit("between", "zwei\n", "two\nthree\n")
    yield agent.move("between", "NOTES")


def swap_names(agent: Agent) -> Iterator[Iterable[Moment]]:
    yield agent.move("README", "NOTES")
    yield agent.edit("NOTES", "two\n", "two\nthree\n")
    yield agent.move("other", "README")
    yield agent.edit("README", "e\n", "E\n")
    yield agent.move("README", "other")


@pytest.mark.parametrize("calls", [edit_and_move, move_and_edit, edit_move_edit_move])
def test_a_file_that_was_changed_and_moved(desk: LateDesk, calls: Value) -> None:
    before = contents(desk.folder)
    for call in calls(desk.agent):
        desk.work(call)
    desk.end()
    assert desk.before() == {"README": NOTES.encode(), "NOTES": None}
    assert desk.listed() == ["NOTES: moved from README", "NOTES: three"]
    assert set(desk.undo().values()) == {None}
    assert contents(desk.folder) == before


def test_names_that_were_used_again(desk: LateDesk) -> None:
    before = contents(desk.folder)
    for call in swap_names(desk.agent):
        desk.work(call)
    desk.end()
    assert desk.listed() == ["NOTES: moved from README", "NOTES: three", "other: E"]
    desk.undo()
    assert contents(desk.folder) == before


def test_a_file_that_was_edited_again_and_again(desk: LateDesk) -> None:
    for number in range(5):
        desk.work(desk.agent.edit("README", "two", f"{number} two"))
    desk.work(desk.agent.edit("README", "0 1 2 3 4 two", "two"))
    desk.work(desk.agent.edit("README", "one", "eins"))
    desk.end()
    assert desk.before() == {"README": NOTES.encode()}
    assert desk.listed() == ["README: eins"]


def test_an_edit_that_was_taken_back_is_none(desk: LateDesk) -> None:
    desk.work(
        desk.agent.edit("README", "one", "eins"),
    )
    desk.work(desk.agent.edit("README", "eins", "one"))
    desk.end()
    assert desk.before() == {}


def test_an_edit_of_a_file_that_was_deleted(desk: LateDesk) -> None:
    desk.work(desk.agent.edit("README", "one", "eins"))
    desk.work(desk.agent.delete("README"))
    desk.end()
    assert desk.before() == {"README": NOTES.encode()}
    assert desk.listed() == ["README: deleted"]
    assert desk.undo() == {"README": None}


def test_a_file_that_was_made_is_new_when_that_was_seen(desk: LateDesk) -> None:
    write = desk.agent.write("made", "1\n\n2\n")
    desk.work([next(write), next(write)])
    desk.hear()
    desk.work(write)
    desk.work(desk.agent.edit("made", "2", "zwei"))
    desk.hear()
    assert desk.before() == {"made": None}
    desk.work(desk.agent.move("made", "NOTES"))
    desk.end()
    assert desk.before() == {"NOTES": None}
    assert desk.listed() == ["NOTES: new file"]


def test_a_file_that_is_gone_again_when_it_is_seen(desk: LateDesk) -> None:
    write = desk.agent.write("made", "1\n\n2\n")
    desk.work([next(write), next(write)])
    desk.hear()
    desk.work(write, desk.agent.move("made", "NOTES"))
    desk.end()
    assert desk.before() == {"NOTES": None}


def test_a_text_that_came_back_counts_when_it_was_seen_between(desk: LateDesk) -> None:
    for text in ("1\n", NOTES, "2\n"):
        for moment in desk.agent.write("README", text):
            desk.take(moment)
            desk.hear()
    desk.work(desk.agent.write("README", NOTES), desk.agent.write("README", "3\n"))
    desk.end()
    assert desk.before() == {"README": NOTES.encode()}


def test_a_file_that_was_written_before_anything_was_heard(desk: LateDesk) -> None:
    before = contents(desk.folder)
    desk.work(desk.agent.write("README", "other\n"))
    desk.work(desk.agent.move("README", "NOTES"))
    desk.end()
    assert desk.before() == {"README": NOTES.encode(), "NOTES": None}
    assert desk.undo() == dict.fromkeys(("README", "NOTES"))
    assert contents(desk.folder) == before


def test_without_a_store_it_is_said_that_it_was_not_seen(tmp_path: Path) -> None:
    (tmp_path / "README").write_text(NOTES)
    desk = LateDesk(tmp_path)
    desk.work(desk.agent.write("README", "other\n"))
    desk.end()
    assert desk.before() == {"README": UNSEEN.fault}
    assert desk.undo() == {"README": UNSEEN.fault}
    (turn,) = desk.ledger.turns("chat")
    present = {path: Present(desk.ledger.snapshot(path)) for path in turn.files}
    assert {it["fault"] for it in plan_undo([turn], present).files} == {UNSEEN.fault}


def test_what_was_seen_while_the_model_wrote_the_call_counts(desk: LateDesk) -> None:
    write = desk.agent.write("README", "other\n")
    desk.work([next(write), next(write)])
    desk.hear()
    desk.work(write)
    desk.end()
    assert desk.before() == {"README": NOTES.encode()}


def test_the_file_nearest_to_its_change_counts(desk: LateDesk) -> None:
    """The user saves it after the model has named it, and the call is heard late."""
    edit = desk.agent.edit("README", "one", "eins")
    named = [next(edit), next(edit)]
    desk.work(named)
    desk.hear()
    saved = NOTES.replace("two", "mine")
    (desk.folder / "README").write_text(saved)
    desk.trees.commands.user_writes(FileWritten(str(desk.folder / "README"), "written"))
    desk.work(edit)
    desk.end()
    assert desk.before() == {"README": saved.encode()}


def test_a_call_that_is_forbidden_changed_nothing(desk: LateDesk) -> None:
    desk.work(desk.agent.refused("README", "one", "eins"))
    desk.end()
    assert desk.before() == {}


def test_calls_that_were_written_together_are_seen_one_after_the_other(desk: LateDesk) -> None:
    """The second is looked at when it is named, and the first has not run then."""
    first, second = desk.agent.write("README", "1\n"), desk.agent.write("README", "2\n")
    desk.work([next(first), next(first), next(second), next(second)])
    desk.hear()
    desk.work(first, second)
    desk.end()
    assert desk.before() == {"README": NOTES.encode()}
