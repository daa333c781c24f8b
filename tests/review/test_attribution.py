"""Attribution: surveys find what calls changed, and attribute it to the right call."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.chat.driver import Driver
from tests.review.desk import Desk, contents, set_content, witnessed
from tests.review.watched import Watched
from tests.support.calls import eca_call

from eca_nvim.chat.model.chat import Chat
from eca_nvim.chat.vocabulary.events import (
    AgentGone,
    ChatDeleted,
    ChatEvent,
    ToolFinished,
    ToolPreparing,
    ToolRejected,
    ToolRequested,
    ToolRunning,
)
from eca_nvim.chat.vocabulary.query_intents import FileWritten
from eca_nvim.chat.vocabulary.turn_events import TurnLapsed
from eca_nvim.review.checkpoint_store import MOST_FILE_BYTES


@pytest.mark.parametrize("waits", [True, False])
def test_all_that_a_command_did_is_taken_back_and_done_again(watched: Watched, waits: bool) -> None:
    before = contents(watched.folder)
    changed = {"a": b"1\ntwo\n3\n", "b": None, "deep__down__new": b"new\n"}
    watched.command(watched.change(**changed), waits=waits)
    after = contents(watched.folder)
    assert sorted(watched.listed(), key=str) == [
        (1, "a", "lines", 2),
        (1, "b", "deleted", 1),
        (1, "new", "new", 1),
    ]
    planned = watched.plan()
    assert {name: it["what"] for name, it in planned.items()} == {
        "a": "restore",
        "b": "create",
        "new": "delete",
    }
    assert all(it["conflict"] is None and it["command"] for it in planned.values())
    watched.undo()
    assert contents(watched.folder) == before
    assert not (watched.folder / "deep").exists()
    watched.undo(1)
    assert contents(watched.folder) == after


def test_a_command_that_failed_or_was_stopped_changed_files_all_the_same(watched: Watched) -> None:
    before = contents(watched.folder)
    for name, end in (("a", ToolFinished), ("c", ToolRejected)):
        call = watched.start()
        watched.put(name, b"half\n")
        watched.hear(end(call))
    watched.undo()
    assert contents(watched.folder) == before


def test_what_a_command_does_while_it_runs_is_listed(watched: Watched) -> None:
    watched.start()
    watched.put("a", b"1\ntwo\n3\n")
    watched.look()
    assert watched.listed() == [(1, "a", "lines", 2)]
    watched.put("a", b"one\ntwo\n3\n")
    watched.hear(AgentGone("killed"))
    assert watched.listed() == [(1, "a", "lines", 1)]
    assert not watched.trees.commands.watches


def test_files_are_changed_by_name_and_by_command_in_one_turn(watched: Watched) -> None:
    before = contents(watched.folder)
    watched.write("a", b"named\n")
    watched.command(watched.change(a=b"formatted\n"))
    watched.write("a", b"named again\n")
    watched.command(watched.change(c=b"x\n"), waits=False)
    watched.write("c", b"z\n")
    planned = watched.plan()
    assert {name: it["command"] for name, it in planned.items()} == {"a": None, "c": None}
    watched.undo()
    assert contents(watched.folder) == before


def test_there_and_back_again_is_no_change(watched: Watched) -> None:
    watched.command(watched.change(a=b"other\n"))
    watched.command(watched.change(a=b"1\n2\n3\n"))
    assert watched.turns() == []


def test_what_changed_between_turns_is_nobodys(watched: Watched) -> None:
    watched.put("a", b"somebody\n")
    watched.command(watched.change(c=b"x\n"))
    assert list(watched.plan()) == ["c"]


def test_what_changed_while_a_command_waited_is_nobodys(watched: Watched) -> None:
    call = watched.request("shell_command", arguments={"command": "do"})
    watched.put("a", b"mine\n")
    watched.approved(call, watched.trees.take())
    watched.hear(ToolFinished(call))
    assert watched.turns() == []


def test_what_the_user_wrote_is_his(watched: Watched) -> None:
    call = watched.start()
    for name, content in {"a": b"mine\n", "b": None, "mine": b"new\n"}.items():
        watched.put(name, content)
        watched.user_wrote(name)
    watched.hear(ToolFinished(call))
    assert watched.turns() == []


def test_what_a_command_made_of_the_users_words_is_taken_back_to_these(watched: Watched) -> None:
    call = watched.start()
    watched.put("a", b"mine\n")
    watched.user_wrote("a")
    watched.put("a", b"formatted\n")
    watched.hear(ToolFinished(call))
    watched.undo()
    assert (watched.folder / "a").read_bytes() == b"mine\n"


def test_a_path_by_another_name_is_the_same_file(watched: Watched, tmp_path: Path) -> None:
    link = tmp_path.with_name(f"{tmp_path.name}-link")
    link.symlink_to(tmp_path)
    watched.start()
    watched.put("a", b"mine\n")
    watched.trees.commands.user_writes(FileWritten(str(link / "a"), "written"))
    watched.look()
    assert watched.turns() == []


def test_what_another_chats_call_named_is_its_own(watched: Watched) -> None:
    other = Driver((str(watched.folder),))
    other.chat = Chat("other", other.chat.settings)
    other.run("beside")
    watched.start()
    path = watched.folder / "a"
    call = eca_call("beside", "write_file", arguments={"path": str(path)})
    for event in (ToolRequested(call), ToolFinished(call)):
        witnessed(other, watched.ledger, event)
        path.write_bytes(b"theirs\n")
    assert watched.turns() == []


def test_without_a_store_it_is_said_of_the_turn(desk: Desk) -> None:
    call = desk.request("shell_command", waits=False, arguments={"command": "do"})
    set_content(desk.folder / "a", b"changed\n")
    desk.hear(ToolFinished(call))
    assert desk.turns() == []
    assert [it.unknown for it in desk.ledger.all_turns("chat")] == ["no store"]
    assert desk.trees.commands.is_settled


def test_what_a_command_did_is_found_when_the_next_turn_has_begun(watched: Watched) -> None:
    before = contents(watched.folder)
    call = watched.start()
    watched.put("a", b"changed\n")
    watched.hear(ToolFinished(call))
    watched.turn("next")
    watched.write("c", b"next\n")
    assert [turn.number for turn in watched.turns()] == [1, 2]
    watched.undo()
    watched.undo(1)
    assert contents(watched.folder) == before


@pytest.mark.parametrize("over", [TurnLapsed(1, 0, is_idle=True), ChatDeleted()])
def test_a_command_is_over_with_a_turn_that_ended_without_a_word(
    watched: Watched, over: ChatEvent
) -> None:
    watched.start()
    watched.put("a", b"changed\n")
    watched.hear(over)
    watched.put("b", b"of another\n")
    assert list(watched.plan()) == ["a"]


def test_files_that_are_not_kept_are_listed(watched: Watched) -> None:
    watched.put("big", bytes(MOST_FILE_BYTES + 1))
    watched.command(watched.change(big=bytes(MOST_FILE_BYTES + 2)))
    assert watched.plan()["big"]["fault"] == "it is larger than 20 MiB"


@pytest.mark.parametrize("name", ["read_file", "grep", "directory_tree", "ask_user"])
def test_a_call_that_changes_nothing_is_not_watched(watched: Watched, name: str) -> None:
    call = watched.request(name, waits=False, arguments={})
    watched.put("a", b"somebody\n")
    watched.hear(ToolFinished(call))
    assert not watched.trees.commands.watches
    assert watched.turns() == []


@pytest.mark.parametrize("name", ["unheard_of", None, "shell_command", "write_file"])
def test_a_call_that_may_change_anything_is_watched(watched: Watched, name: str | None) -> None:
    before = contents(watched.folder)
    call = eca_call("any", name, arguments={"path": "relative"})
    for event in (ToolPreparing(call), ToolRequested(call), ToolRunning(call)):
        watched.hear(event)
    assert watched.ledger.is_watched("chat", watched.driver.chat.root.calls["any"].id)
    watched.put("a", b"changed\n")
    watched.hear(ToolFinished(call))
    watched.undo()
    assert contents(watched.folder) == before


def test_a_command_that_asks_while_it_runs_is_watched_once(watched: Watched) -> None:
    call = eca_call("c1", "shell_command", arguments={"command": "do"})
    watched.hear(ToolRunning(call))
    watched.hear(ToolRequested(call, needs_approval=True, request_id="1"))
    watched.change(a=b"changed\n")()
    watched.hear(ToolFinished(call))
    assert [entry[1] for entry in watched.listed()] == ["a"]
    watched.turn()
    watched.change(b=b"by somebody else\n")()
    assert [entry[1] for entry in watched.listed()] == ["a"]


def test_what_others_do_while_an_announced_command_asks_is_not_its_work(watched: Watched) -> None:
    call = eca_call("c1", "shell_command", arguments={"command": "do"})
    watched.hear(ToolRequested(call))
    watched.hear(ToolRequested(call, needs_approval=True, request_id="1"))
    watched.change(b=b"by somebody else\n")()
    watched.approved(call, watched.trees.take())
    watched.hear(ToolRunning(call))
    watched.change(a=b"changed\n")()
    watched.hear(ToolFinished(call))
    assert [entry[1] for entry in watched.listed()] == ["a"]
