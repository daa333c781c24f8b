"""Attribution with commands, tools, the user and an undo at the same time."""

from __future__ import annotations

import time
from functools import partial

import pytest
from tests.chat.driver import ENDED
from tests.review.desk import contents
from tests.review.watched import Watched
from tests.support.growth import Work, is_linear

from eca_nvim.chat.vocabulary.events import ToolFinished
from eca_nvim.review import commands as watch_module
from eca_nvim.review.checkpoint_store import Tree
from eca_nvim.review.snapshots import Snapshot
from eca_nvim.review.tree_changes import TreeRequest
from eca_nvim.review.turn_changes import TurnChanges


def test_a_call_is_over_with_its_turn(watched: Watched) -> None:
    watched.start()
    watched.hear(ENDED)
    watched.put("a", b"somebody, later\n")
    assert watched.turns() == []


def test_what_was_changed_long_before_a_command_is_not_its(
    watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch_module, "REPORT_DELAY", 0)
    watched.put("a", b"somebody, since the prompt\n")
    watched.hear(ToolFinished(watched.start(waits=False)))
    assert watched.turns() == []


@pytest.mark.parametrize("changes_at", ["both", "first", "second"])
def test_commands_at_once_have_one_past(watched: Watched, changes_at: str) -> None:
    before = contents(watched.folder)
    first = watched.start(waits=False)
    if changes_at == "first":
        watched.put("a", b"changed\n")
        watched.hear(ToolFinished(first))
    second = watched.start(waits=False)
    if changes_at == "second":
        watched.hear(ToolFinished(first))
    watched.put("a", b"changed again\n")
    watched.hear(ToolFinished(second))
    assert watched.plan()["a"]["fault"] is None
    watched.undo()
    assert contents(watched.folder) == before


@pytest.mark.parametrize("content", [b"changed\n", None])
def test_a_command_that_began_after_its_tree_is_seen(
    watched: Watched, content: bytes | None
) -> None:
    before = contents(watched.folder)
    call = watched.start()
    watched.put("a", content)
    watched.hear(ToolFinished(call))
    watched.undo()
    assert contents(watched.folder) == before


def test_a_command_and_a_tool_at_once_are_taken_back(watched: Watched) -> None:
    before = contents(watched.folder)
    call = watched.start()
    watched.put("a", b"by the command\n")
    watched.write("a", b"by the tool\n")
    watched.hear(ToolFinished(call))
    assert watched.plan()["a"]["conflict"] is None
    watched.undo()
    assert contents(watched.folder) == before


@pytest.mark.parametrize("content", [b"by the command\n", None])
def test_a_tool_may_be_quicker_than_the_survey_of_a_command(
    watched: Watched, content: bytes | None
) -> None:
    before = contents(watched.folder)
    call = watched.start()
    watched.put("a", content)
    watched.hear(ToolFinished(call))
    watched.write("a", b"by the tool\n")
    watched.undo()
    assert contents(watched.folder) == before


def test_a_file_that_a_command_made_may_be_named_before_the_survey(watched: Watched) -> None:
    before = contents(watched.folder)
    call = watched.start()
    watched.put("deep/er/new", b"by the command\n")
    watched.hear(ToolFinished(call))
    watched.write("deep/er/new", b"by the tool\n")
    watched.undo()
    assert contents(watched.folder) == before
    assert not (watched.folder / "deep").exists()


def test_what_the_next_turn_writes_before_the_last_tree_is_its_own(
    watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = contents(watched.folder)
    call, late = watched.start(), TreeRequest()
    watched.put("a", b"by the command\n")
    with monkeypatch.context() as slow:
        slow.setattr(watched.trees.commands, "_take", lambda: late)
        watched.hear(ToolFinished(call))
    watched.turn("next")
    watched.write("a", b"by the tool\n")
    late.settle(watched.trees.take().tree)
    assert [watched.plan(number)["a"]["conflict"] for number in (2, 1)] == [None, "changed since"]
    watched.undo(2)
    assert watched.plan(1)["a"]["conflict"] is None
    watched.undo(1)
    assert contents(watched.folder) == before


# --- undone in between ----------------------------------------------------------------------------


def test_what_changes_after_an_undo_is_a_change_of_its_own(watched: Watched) -> None:
    before = contents(watched.folder)
    call = watched.start()
    watched.put("a", b"first\n")
    watched.look()
    watched.undo()
    watched.user_wrote("a")
    watched.put("a", b"second\n")
    watched.hear(ToolFinished(call))
    assert watched.listed() == [(1, "a", "lines", 1)]
    watched.undo()
    assert contents(watched.folder) == before


def test_an_undo_while_a_command_runs_is_done_again(watched: Watched) -> None:
    call = watched.start()
    watched.put("a", b"first\n")
    watched.look()
    watched.undo()
    watched.user_wrote("a")
    watched.hear(ToolFinished(call))
    planned = watched.plan()["a"]
    assert (planned["conflict"], planned["command"]) == (None, None)
    watched.undo(1)
    assert (watched.folder / "a").read_bytes() == b"first\n"


@pytest.mark.parametrize("first", ["named", "command"])
@pytest.mark.parametrize("second", ["named", "command"])
def test_a_turn_goes_on_after_an_undo(watched: Watched, first: str, second: str) -> None:
    before = contents(watched.folder)
    for how, content in ((first, b"first\n"), (second, b"second\n")):
        if how == "named":
            watched.write("a", content)
        else:
            watched.command(watched.change(a=content))
        assert watched.listed() == [(1, "a", "lines", 1)]
        watched.undo()
        watched.user_wrote("a")
    assert contents(watched.folder) == before


def test_each_of_many_commands_of_a_turn_is_the_same_work() -> None:
    def prepare(count: int) -> Work:
        commands = watch_module.Commands(TreeRequest, lambda _: Snapshot())
        turn = TurnChanges("1", 1, "do it")
        watches = [commands.begin(turn) for _ in range(count)]
        for watch in watches:
            commands.end(watch)
        return lambda: [commands.attribute(it, {}) for it in watches]

    assert is_linear(prepare, 20)


@pytest.mark.parametrize("at_once", [True, False])
def test_what_commands_of_two_chats_changed_at_once_is_uncertain_in_both(*, at_once: bool) -> None:
    commands = watch_module.Commands(TreeRequest, lambda _: Snapshot())
    turns = [TurnChanges(chat, 1, "do it") for chat in ("a", "b")]

    def tree() -> TreeRequest:
        request, now = TreeRequest(), time.time_ns()
        request.settle(Tree("", ("/",), now, now))
        return request

    watches = []
    for turn in turns:
        watches.append(commands.begin(turn, tree()))
        if not at_once:
            commands.end(watches[-1], tree())
    for watch in watches:
        if at_once:
            commands.end(watch, tree())
        assert commands.attribute(watch, {"/new": (Snapshot(), Snapshot(fault="made"))})
    assert [it.seen["/new"].changed_by_others for it in turns] == [at_once] * 2


def test_what_a_command_changed_before_the_tree_of_its_prompt_is_uncertain(
    watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch_module, "REPORT_DELAY", 10**12)  # a busy machine
    before, began = contents(watched.folder), time.time_ns()
    time.sleep(0.05)  # the clock of files is a coarse one
    watched.change(a=b"changed\n", new=b"new\n", b=None)()
    with monkeypatch.context() as patched:
        patched.setattr(watched.trees, "take", partial(watched.trees.take, began))
        watched.turn()
    watched.hear(ToolFinished(watched.start(waits=False)))
    conflicts = {name: it["conflict"] for name, it in watched.plan().items()}
    assert conflicts == dict.fromkeys(("a", "new", "b"), "changed by others, too")
    watched.undo()
    assert contents(watched.folder) == before
