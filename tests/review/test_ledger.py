"""The ledger: turns are watched as a server reports them, listed, and undone."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.chat.driver import ENDED
from tests.review.desk import Desk, contents
from tests.review.watched import Watched
from tests.support.calls import eca_call

from eca_nvim.chat.vocabulary.call_details import FileChange, ToolCall, ToolKind
from eca_nvim.chat.vocabulary.events import (
    AgentGone,
    ChatEvent,
    ToolFinished,
    ToolPreparing,
    ToolRejected,
    ToolRequested,
)
from eca_nvim.review import ledger
from eca_nvim.review.snapshots import Blobs, Snapshot, take_snapshot
from eca_nvim.review.undo import plan_undo


def test_a_turn_of_everything_is_taken_back_and_done_again(desk: Desk) -> None:
    before = contents(desk.folder)
    desk.write("a", b"1\ntwo\n3\n")
    desk.write("b", b"\0other")
    desk.write("c", None)
    desk.write("deep/new", b"new\n")
    after = contents(desk.folder)
    assert desk.listed() == [
        (1, "a", "lines", 2),
        (1, "b", "other", 1),
        (1, "c", "deleted", 1),
        (1, "new", "new", 1),
    ]
    whats = {name: it["what"] for name, it in desk.plan().items()}
    assert whats == {"a": "restore", "b": "restore", "c": "create", "new": "delete"}
    assert all(it["conflict"] is None for it in desk.plan().values())
    desk.undo()
    assert contents(desk.folder) == before
    assert not (desk.folder / "deep").exists()
    assert desk.listed() == []
    assert plan_undo([desk.turn_of(1)], desk.present()).again
    assert desk.plan(1)["new"]["what"] == "create"
    desk.undo(1)
    assert contents(desk.folder) == after


def test_a_file_is_read_once_before_a_call_and_once_after(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = list[str]()

    def noted(path: str, blobs: Blobs) -> Snapshot:
        read.append(path)
        return take_snapshot(path, blobs)

    monkeypatch.setattr(ledger, "take_snapshot", noted)
    desk.write("a", b"1\ntwo\n3\n")
    assert read == [str(desk.folder / "a")] * 2


def test_turns_are_taken_back_one_after_the_other(desk: Desk) -> None:
    desk.write("a", b"1\ntwo\n3\n")
    between = contents(desk.folder)
    desk.turn("again\nand again")
    desk.write("a", b"one\ntwo\n3\n")
    assert [(turn.number, turn.prompt) for turn in desk.turns()] == [
        (1, "do it"),
        (2, "again and again"),
    ]
    assert desk.listed() == [(1, "a", "lines", 2), (2, "a", "lines", 1)]
    assert desk.plan(1)["a"]["conflict"] == "changed since"
    desk.undo()
    assert contents(desk.folder) == between
    assert desk.listed() == [(1, "a", "lines", 2)]
    assert desk.plan(1)["a"]["conflict"] is None


def test_a_file_that_was_put_back_by_hand_is_not_done_again(desk: Desk) -> None:
    desk.write("a", b"1\ntwo\n3\n")
    desk.write("c", b"x\r\n")
    (desk.folder / "a").write_bytes(b"1\n2\n3\n")
    assert list(desk.plan()) == ["c"]
    desk.undo()
    assert list(desk.plan()) == ["c"]
    assert plan_undo([desk.turn_of(1)], desk.present()).again


def test_what_the_user_did_since_is_a_conflict(desk: Desk) -> None:
    desk.write("a", b"1\ntwo\n3\n")
    desk.edited[str(desk.folder / "a")] = "0\n1\ntwo\n3\n"
    assert desk.plan()["a"]["conflict"] == "unsaved changes"
    assert desk.listed() == [(1, "a", "lines", 3)]
    desk.edited.clear()
    (desk.folder / "a").write_bytes(b"1\ntwo\n3\n4\n")
    assert desk.plan()["a"]["conflict"] == "changed since"
    assert desk.listed() == [(1, "a", "lines", 2)]


def test_what_the_user_did_between_two_calls_is_a_conflict(desk: Desk) -> None:
    desk.write("a", b"1\ntwo\n3\n")
    (desk.folder / "a").write_bytes(b"1\ntwo\n3\nmine\n")
    desk.write("a", b"one\ntwo\n3\nmine\n")
    assert desk.plan()["a"]["conflict"] == "changed by others, too"


def test_what_the_user_wrote_while_a_call_waited_is_his(desk: Desk) -> None:
    path = desk.folder / "a"
    call = desk.request("edit_file", arguments={"path": str(path)})
    path.write_bytes(b"mine\n")
    desk.approved(call)
    path.write_bytes(b"mine\ntheirs\n")
    desk.hear(ToolFinished(call))
    desk.undo()
    assert path.read_bytes() == b"mine\n"


@pytest.mark.parametrize("late", [False, True])
def test_a_call_that_asked_for_nothing(watched: Watched, late: bool) -> None:
    path = watched.folder / "a"
    change = FileChange(str(path), "@@ -1,3 +1,3 @@\n 1\n-2\n+two\n 3", 1, 1)
    if late:
        path.write_bytes(b"1\ntwo\n3\n")
    given = {"original_content": "2", "new_content": "two"}
    call = watched.request("unheard_of", waits=False, details=change, arguments=given)
    path.write_bytes(b"1\ntwo\n3\n")
    watched.hear(ToolFinished(eca_call(call.id)))
    watched.hear(ENDED)
    watched.undo()
    assert path.read_bytes() == b"1\n2\n3\n"


@pytest.mark.parametrize("late", [False, True])
def test_a_call_that_changes_several_files(watched: Watched, late: bool) -> None:
    one, other = watched.folder / "a", watched.folder / "b"
    other.write_bytes(b"x\n")
    watched.turn()
    before = contents(watched.folder)
    changes = (
        FileChange(str(one), "@@ -1,3 +1,3 @@\n 1\n-2\n+two\n 3", 1, 1, old="2", new="two"),
        FileChange(str(other), "@@ -1 +1 @@\n-x\n+y", 1, 1, old="x", new="y"),
    )
    call = ToolCall("both", kind=ToolKind.EDIT, changes=changes)

    def act() -> None:
        one.write_bytes(b"1\ntwo\n3\n")
        other.write_bytes(b"y\n")

    if late:
        act()
    watched.hear(ToolRequested(call))
    if not late:
        act()
    watched.hear(ToolFinished(call))
    watched.hear(ENDED)
    assert {Path(str(entry["path"])).name for entry in watched.entries()} == {"a", "b"}
    watched.undo()
    assert contents(watched.folder) == before


@pytest.mark.parametrize("late", [False, True])
def test_a_file_that_was_moved(watched: Watched, late: bool) -> None:
    before = contents(watched.folder)
    source, destination = watched.folder / "a", watched.folder / "d"
    ends = {"source": str(source), "destination": str(destination)}
    if late:
        source.rename(destination)
    call = watched.request("move_file", waits=False, arguments=ends)
    if not late:
        source.rename(destination)
    watched.hear(ToolFinished(call))
    watched.hear(ENDED)
    (entry,) = watched.entries()
    assert (entry["kind"], entry["text"]) == ("moved", "moved from a")
    assert {name: it["what"] for name, it in watched.plan(only="d").items()} == {
        "a": "create",
        "d": "delete",
    }
    watched.undo()
    assert contents(watched.folder) == before


def test_some_files_of_a_turn_are_planned(desk: Desk) -> None:
    for name in ("a", "new", "other"):
        desk.write(name, b"changed\n")
    paths = [str(desk.folder / name) for name in ("new", "other", "elsewhere")]
    found = plan_undo([desk.turn_of(1)], desk.present(), paths)
    assert [Path(str(it["path"])).name for it in found.files] == ["new", "other"]


def test_a_file_that_cannot_go_back_where_it_was_stays(desk: Desk) -> None:
    source, destination = desk.folder / "a", desk.folder / "d"
    ends = {"source": str(source), "destination": str(destination)}
    call = desk.request("move_file", waits=False, arguments=ends)
    source.rename(destination)
    desk.hear(ToolFinished(call))
    source.mkdir()
    faults = desk.outcomes(desk.turn_of(1))
    assert set(faults.values()) == {"it is not a regular file"}
    assert destination.read_bytes() == b"1\n2\n3\n"


def test_a_call_that_was_stopped_half_way_is_recorded(desk: Desk) -> None:
    path = desk.folder / "a"
    call = desk.request("edit_file", arguments={"path": str(path)})
    desk.approved(call)
    path.write_bytes(b"half\n")
    assert desk.listed() == [(1, "a", "lines", 1)]
    desk.hear(ToolRejected(call))
    path.write_bytes(b"mine\n")
    assert desk.plan()["a"]["conflict"] == "changed since"


def test_what_was_open_when_the_agent_died_is_recorded(desk: Desk) -> None:
    path = desk.folder / "a"
    desk.approved(desk.request("edit_file", arguments={"path": str(path)}))
    path.write_bytes(b"half\n")
    desk.hear(AgentGone("killed"))
    assert desk.listed() == [(1, "a", "lines", 1)]


def test_calls_that_changed_nothing_leave_nothing(desk: Desk) -> None:
    desk.write("a", b"1\n2\n3\n")
    call = desk.request("edit_file", arguments={"path": str(desk.folder / "a")})
    desk.hear(ToolRejected(call))
    desk.hear(ToolFinished(desk.request("read_file", arguments={"path": str(desk.folder / "a")})))
    desk.hear(ToolFinished(desk.request("write_file", arguments={"path": "relative"})))
    assert desk.turns() == []


def test_what_is_not_kept_cannot_be_taken_back(desk: Desk) -> None:
    os.mkfifo(desk.folder / "pipe")
    call = desk.request("write_file", arguments={"path": str(desk.folder / "pipe")})
    (desk.folder / "pipe").unlink()
    (desk.folder / "pipe").write_bytes(b"file now\n")
    desk.hear(ToolFinished(call))
    assert desk.plan()["pipe"]["fault"] == "it is not a regular file"
    assert desk.listed() == [(1, "pipe", "other", 1)]
    (turn,) = desk.turns()
    faults = desk.outcomes(turn)
    assert list(faults.values()) == ["it is not a regular file"]
    assert (desk.folder / "pipe").read_bytes() == b"file now\n"


def test_line_ends_are_changes_of_lines(desk: Desk) -> None:
    desk.write("c", b"x\ny\n")
    (entry,) = desk.entries()
    assert (entry["before"], entry["after"]) == (["x\r", "y\r"], ["x", "y"])
    desk.write("a", b"1\n2\n3")
    entry = desk.entries()[-1]
    assert (entry["before_ends"], entry["after_ends"], entry["line"]) == (True, False, 3)


def test_changes_that_read_alike_have_keys_of_their_own(desk: Desk) -> None:
    desk.write("a", b"x\n1\nx\n2\nx\n3\n")
    keys = [entry["key"] for entry in desk.entries()]
    assert len(set(keys)) == len(keys) == 3


def test_keys_of_changes_stay_when_the_turn_goes_on(desk: Desk) -> None:
    desk.write("a", b"1\ntwo\n3\n")
    (first,) = desk.entries()
    desk.write("a", b"one\nmore\n1\ntwo\n3\n")
    above, second = desk.entries()
    assert above["line"] == 1
    assert (first["key"], first["line"], second["line"]) == (second["key"], 2, 4)


def test_keys_of_changes_stay_when_one_above_is_taken_back(desk: Desk) -> None:
    desk.write("a", b"x\n1\nx\n2\nx\n3\n")
    before = [entry["key"] for entry in desk.entries()]
    desk.edited[str(desk.folder / "a")] = "1\nx\n2\nx\n3\n"
    assert [entry["key"] for entry in desk.entries()] == before[1:]


def test_keys_of_changes_stay_when_lines_move(desk: Desk) -> None:
    desk.write("a", b"1\ntwo\n3\n")
    (first,) = desk.entries()
    desk.edited[str(desk.folder / "a")] = "0\n1\ntwo\n3\n"
    (second,) = desk.entries()
    assert first["key"] == second["key"]
    assert (first["line"], second["line"]) == (2, 3)
    assert (second["above"], second["below"]) == (["0", "1"], ["3"])


@pytest.mark.parametrize("over", [ENDED, AgentGone("it died")])
@pytest.mark.parametrize("queued", [False, True])
def test_what_the_user_writes_is_noted_only_while_a_turn_runs(
    watched: Watched, over: ChatEvent, queued: bool
) -> None:
    watched.hear(ToolPreparing(eca_call("t"), '{"path": "/a", "'))
    watched.user_writes("a", b"in the turn")
    assert watched.trees.commands._writes
    if queued:
        watched.driver.send("next", queue=True)
    watched.hear(over)
    watched.user_writes("a", b"after it")
    assert not watched.ledger._early
    assert not watched.trees.commands._writes


def test_what_the_user_writes_is_not_noted_for_a_chat_that_is_gone(watched: Watched) -> None:
    watched.user_writes("a", b"in the turn")
    watched.ledger.forget("chat")
    assert not watched.trees.commands._writes


def test_what_a_command_did_before_its_server_died_is_its_own(watched: Watched) -> None:
    watched.start()
    watched.put("a", b"by the command\n")
    watched.hear(AgentGone("it died"))
    watched.put("b", b"later, by others\n")
    assert [name for _, name, *_ in watched.listed()] == ["a"]


@pytest.mark.parametrize("kind", ToolKind)
def test_only_a_call_that_may_change_any_file_needs_a_survey(desk: Desk, kind: ToolKind) -> None:
    desk.hear(ToolRequested(ToolCall("any", kind=kind)))
    desk.hear(ToolRequested(ToolCall("named", kind=kind, changes=(FileChange("/a", "", 0, 0),))))
    calls = desk.driver.chat.root.calls
    looks = {ToolKind.READ, ToolKind.SEARCH, ToolKind.THINK, ToolKind.FETCH, ToolKind.SWITCH_MODE}
    looks |= {ToolKind.TASKS, ToolKind.ASK, ToolKind.AGENT}
    assert desk.ledger.is_watched("chat", calls["any"].id) == (kind not in looks)
    assert not desk.ledger.is_watched("chat", calls["named"].id)
