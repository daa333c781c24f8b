"""Checkpoints of calls that are heard of late, when the agent has gone on with its work."""

from __future__ import annotations

import tempfile
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.chat.driver import Driver
from tests.review.agent import Agent, Moment, edited, slurp

from eca_nvim.chat.events import ChatEvent
from eca_nvim.review.ledger import Ledger
from eca_nvim.review.listing import Present, entries
from eca_nvim.review.records import FileRecord
from eca_nvim.review.steps import UNSEEN
from eca_nvim.review.undoing import plan, undo

Value: TypeAlias = Any
Contents: TypeAlias = Mapping[str, bytes]

NOTES = "# Notes\n\none\ntwo\n"


class Desk:
    """An agent at work in a turn, and a ledger that hears of it later."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.agent = Agent(folder)
        self.driver = Driver((str(folder),))
        self.ledger = Ledger()
        self.unheard = deque[ChatEvent]()
        self.driver.run("do it")

    def work(self, *calls: Iterable[Moment]) -> None:
        """Let the agent act, and keep what it tells."""
        for call in calls:
            for moment in call:
                self.take(moment)

    def take(self, moment: Moment) -> None:
        """Let one thing happen."""
        if callable(moment):
            moment()
        else:
            self.unheard.append(moment)

    def hear(self, count: int | None = None) -> None:
        """Hear some of what was told, or all."""
        for _ in range(len(self.unheard) if count is None else min(count, len(self.unheard))):
            event = self.unheard.popleft()
            self.driver.hear(event)
            self.ledger.witness(self.driver.chat, event)

    def files(self) -> Mapping[str, FileRecord]:
        return {
            Path(path).name: record
            for turn in self.ledger.turns("chat")
            for path, record in turn.files.items()
        }

    def before(self) -> Mapping[str, bytes | str | None]:
        """Give what the files were, by name: content, None for no file, or why it is not known."""
        return {name: content(record) for name, record in self.files().items()}

    def listed(self) -> Sequence[str]:
        """List the changes as the user sees them."""
        shown = []
        for turn in self.ledger.turns("chat"):
            for path in turn.files:
                present = Present(self.ledger.snapshot(path))
                found = entries(turn, path, present)
                shown += [f"{Path(path).name}: {it['text']}" for it in found]
        return shown

    def undo(self) -> Mapping[str, str | None]:
        (turn,) = self.ledger.turns("chat")
        faults = undo(turn, list(turn.files), self.ledger)
        return {Path(path).name: fault for path, fault in faults.items()}


def content(record: FileRecord) -> bytes | str | None:
    before = record.before
    return before.fault if before.blob is None else before.blob.read()


def contents(folder: Path) -> Contents:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    (tmp_path / "README").write_text(NOTES)
    (tmp_path / "other").write_text("\n".join("abcdefghij"))
    return Desk(tmp_path)


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
def test_a_file_that_was_changed_and_moved(desk: Desk, calls: Value) -> None:
    before = contents(desk.folder)
    for call in calls(desk.agent):
        desk.work(call)
    desk.hear()
    assert desk.before() == {"README": NOTES.encode(), "NOTES": None}
    assert desk.listed() == ["NOTES: moved from README", "NOTES: three"]
    assert set(desk.undo().values()) == {None}
    assert contents(desk.folder) == before


def test_names_that_were_used_again(desk: Desk) -> None:
    before = contents(desk.folder)
    for call in swap_names(desk.agent):
        desk.work(call)
    desk.hear()
    assert desk.listed() == ["NOTES: moved from README", "NOTES: three", "other: E"]
    desk.undo()
    assert contents(desk.folder) == before


def test_a_file_that_was_edited_again_and_again(desk: Desk) -> None:
    for number in range(5):
        desk.work(desk.agent.edit("README", "two", f"{number} two"))
    desk.work(desk.agent.edit("README", "0 1 2 3 4 two", "two"))
    desk.work(desk.agent.edit("README", "one", "eins"))
    desk.hear()
    assert desk.before() == {"README": NOTES.encode()}
    assert desk.listed() == ["README: eins"]


def test_an_edit_that_was_taken_back_is_none(desk: Desk) -> None:
    desk.work(
        desk.agent.edit("README", "one", "eins"),
    )
    desk.work(desk.agent.edit("README", "eins", "one"))
    desk.hear()
    assert desk.before() == {}


def test_an_edit_of_a_file_that_was_deleted_says_that_it_was_not_seen(desk: Desk) -> None:
    desk.work(desk.agent.edit("README", "one", "eins"))
    desk.work(desk.agent.delete("README"))
    desk.hear()
    assert desk.before() == {"README": UNSEEN.fault}
    assert desk.listed() == ["README: deleted, its earlier text was not seen"]
    assert desk.undo() == {"README": UNSEEN.fault}


def test_a_file_that_was_made_is_new_when_that_was_seen(desk: Desk) -> None:
    write = desk.agent.write("made", "1\n\n2\n")
    desk.work([next(write), next(write)])
    desk.hear()
    desk.work(write)
    desk.work(desk.agent.edit("made", "2", "zwei"))
    desk.hear()
    assert desk.before() == {"made": None}
    desk.work(desk.agent.move("made", "NOTES"))
    desk.hear()
    assert desk.before() == {"NOTES": None}
    assert desk.listed() == ["NOTES: new file"]


def test_a_file_that_is_gone_again_when_it_is_seen_may_not_be_new(desk: Desk) -> None:
    write = desk.agent.write("made", "1\n\n2\n")
    desk.work([next(write), next(write)])
    desk.hear()
    desk.work(write, desk.agent.move("made", "NOTES"))
    desk.hear()
    assert desk.before() == {"made": UNSEEN.fault, "NOTES": None}


def test_a_text_that_came_back_counts_when_it_was_seen_between(desk: Desk) -> None:
    for text in ("1\n", NOTES, "2\n"):
        for moment in desk.agent.write("README", text):
            desk.take(moment)
            desk.hear()
    desk.work(desk.agent.write("README", NOTES), desk.agent.write("README", "3\n"))
    desk.hear()
    assert desk.before() == {"README": NOTES.encode()}


def test_a_file_that_was_written_before_anything_was_heard_may_not_be_new(desk: Desk) -> None:
    desk.work(desk.agent.write("README", "other\n"))
    desk.work(desk.agent.move("README", "NOTES"))
    desk.hear()
    assert desk.before() == {"README": UNSEEN.fault, "NOTES": None}
    assert desk.listed() == ["NOTES: moved from README, its earlier text was not seen"]
    assert desk.undo() == dict.fromkeys(("README", "NOTES"), UNSEEN.fault)
    assert contents(desk.folder)["NOTES"] == b"other\n"
    (turn,) = desk.ledger.turns("chat")
    present = {path: Present(desk.ledger.snapshot(path)) for path in turn.files}
    assert {it["fault"] for it in plan(turn, present).files} == {UNSEEN.fault}


def test_what_was_seen_while_the_model_wrote_the_call_counts(desk: Desk) -> None:
    write = desk.agent.write("README", "other\n")
    desk.work([next(write), next(write)])
    desk.hear()
    desk.work(write)
    desk.hear()
    assert desk.before() == {"README": NOTES.encode()}


def test_the_file_nearest_to_its_change_counts(desk: Desk) -> None:
    """The user saves it after the model has named it, and the call is heard late."""
    edit = desk.agent.edit("README", "one", "eins")
    named = [next(edit), next(edit)]
    desk.work(named)
    desk.hear()
    saved = NOTES.replace("two", "mine")
    (desk.folder / "README").write_text(saved)
    desk.work(edit)
    desk.hear()
    assert desk.before() == {"README": saved.encode()}


def test_a_call_that_is_forbidden_changed_nothing(desk: Desk) -> None:
    desk.work(desk.agent.refused("README", "one", "eins"))
    desk.hear()
    assert desk.before() == {}


def test_calls_that_were_written_together_are_seen_one_after_the_other(desk: Desk) -> None:
    """The second is looked at when it is named, and the first has not run then."""
    first, second = desk.agent.write("README", "1\n"), desk.agent.write("README", "2\n")
    desk.work([next(first), next(first), next(second), next(second)])
    desk.hear()
    desk.work(first, second)
    desk.hear()
    assert desk.before() == {"README": NOTES.encode()}


# --- any calls, heard at any time ---------------------------------------------------------------

NAMES = ("a", "b", "c")
LINES = st.sampled_from([b"a\n", b"b\n", b"\n", b"a\r\n", b"\xff\n"])
PLAIN = st.sampled_from([b"a\n", b"b\n", b"c\n"])
PIECES = ("a", "b", "\n", "a\n", "b\na\n", "c", "aa")


def originals(lines: st.SearchStrategy[bytes]) -> st.SearchStrategy[Contents]:
    content = st.builds(
        lambda whole, last: b"".join(whole) + last,
        st.lists(lines, max_size=8),
        st.sampled_from([b"", b"end"]),
    )
    return st.dictionaries(st.sampled_from(NAMES), content, min_size=1)


def draw_call(draw: st.DrawFn, agent: Agent, kinds: Sequence[str]) -> Iterable[Moment] | None:
    """Choose something that the agent can do with the files as they are."""
    there = sorted(contents(agent.folder))
    kind = draw(st.sampled_from(kinds))
    name = draw(st.sampled_from(there if there and kind != "write" else NAMES))
    new = draw(st.sampled_from(PIECES))
    if kind == "write":
        return agent.write(name, new * draw(st.integers(0, 3)))
    if name not in there:
        return None
    if kind == "move":
        free = [it for it in NAMES if it not in there]
        return agent.move(name, draw(st.sampled_from(free))) if free else None
    if kind == "delete":
        return agent.delete(name)
    old = [it for it in PIECES if it in slurp(agent.folder / name)]
    if not old:
        return None
    piece, every = draw(st.sampled_from(old)), draw(st.booleans())
    before = (agent.folder / name).read_bytes()
    if edited(before.decode(errors="replace"), piece, new, every=every).encode() == before:
        return None
    return agent.edit(name, piece, new, every=every)


def play(draw: st.DrawFn, desk: Desk, kinds: Sequence[str], lag: st.SearchStrategy[int]) -> None:
    """Let the agent do a few things, and hear of them with a lag."""
    for _ in range(draw(st.integers(1, 6))):
        for moment in draw_call(draw, desk.agent, kinds) or ():
            desk.take(moment)
            desk.hear(draw(lag))
    desk.hear()


def check(desk: Desk, before: Contents, *, unseen: bool) -> None:
    after = contents(desk.folder)
    files = desk.files()
    for name in NAMES:
        if name not in files:
            assert before.get(name) == after.get(name)
        elif not (unseen and files[name].before == UNSEEN):
            assert content(files[name]) == before.get(name)
            assert not files[name].mixed


def run(
    data: st.DataObject,
    kinds: Sequence[str],
    lines: st.SearchStrategy[bytes],
    lag: st.SearchStrategy[int],
    *,
    unseen: bool,
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for name, there in data.draw(originals(lines)).items():
            (Path(folder) / name).write_bytes(there)
        before = contents(Path(folder))
        desk = Desk(Path(folder))
        play(data.draw, desk, kinds, lag)
        check(desk, before, unseen=unseen)


@given(st.data())
@settings(deadline=None)
def test_whatever_is_heard_late_is_right_or_said_to_be_unseen(data: st.DataObject) -> None:
    kinds = ("edit", "edit", "edit", "write", "move", "delete")
    run(data, kinds, LINES, st.sampled_from([0, 0, 0, 1, 2, 9]), unseen=True)


@given(st.data())
@settings(deadline=None)
def test_what_is_heard_in_time_is_all_seen(data: st.DataObject) -> None:
    run(data, ("edit", "move"), LINES, st.just(9), unseen=False)
