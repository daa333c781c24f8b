"""The watch: what calls did without saying so, found by surveys and laid to whom it belongs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.chat.driver import Driver
from tests.review.desk import Desk, contents, set_content

from eca_nvim.chat.details import ToolCall
from eca_nvim.chat.events import (
    AgentGone,
    ToolFinished,
    ToolPreparing,
    ToolRejected,
    ToolRequested,
    ToolRunning,
)
from eca_nvim.chat.model import Chat
from eca_nvim.review import survey as survey_module
from eca_nvim.review.survey import Survey, differences, survey


class Watched(Desk):
    """A desk with a shell beside its tools, and surveys when the test wants them."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.turn()
        self.survey()

    @contextmanager
    def surveying(self) -> Iterator[None]:
        """Survey the folder; what is done meanwhile happens after the survey has begun."""
        watch = self.ledger.watch
        watch.begin()
        last, began = watch.last, survey([str(self.folder)], watch.last).began
        yield
        found = survey([str(self.folder)], last)
        new = Survey(found.files, found.folders, began)
        list(watch.take(new, list(differences(last, new))))

    def survey(self) -> None:
        with self.surveying():
            pass

    def start(self, *, waits: bool = True) -> ToolCall:
        """Let a command be asked for, and when it waits, approved."""
        call = self.request("shell_command", waits=waits, arguments={"command": "do"})
        if waits:
            self.survey()
            self.ledger.approved(call.id, surveyed=True)
        self.hear(ToolRunning(call))
        return call

    def command(self, change: Callable[[], None], *, waits: bool = True) -> None:
        """Let a command run to its end, and survey what it did."""
        call = self.start(waits=waits)
        change()
        self.hear(ToolFinished(call))
        self.survey()

    def put(self, name: str, content: bytes | None) -> None:
        set_content(self.folder / name, content)

    def change(self, **files: bytes | None) -> Callable[[], None]:
        def change() -> None:
            for name, content in files.items():
                self.put(name.replace("__", "/"), content)

        return change


@pytest.fixture
def desk(tmp_path: Path) -> Watched:
    (tmp_path / "a").write_bytes(b"1\n2\n3\n")
    (tmp_path / "b").write_bytes(b"\xff\0binary")
    (tmp_path / "c").write_bytes(b"x\r\ny\r\n")
    return Watched(tmp_path)


@pytest.mark.parametrize("waits", [True, False])
def test_all_that_a_command_did_is_taken_back_and_done_again(desk: Watched, waits: bool) -> None:
    before = contents(desk.folder)
    changed = {"a": b"1\ntwo\n3\n", "b": None, "deep__down__new": b"new\n"}
    desk.command(desk.change(**changed), waits=waits)
    after = contents(desk.folder)
    assert sorted(desk.listed(), key=str) == [
        (1, "a", "lines", 2),
        (1, "b", "deleted", 1),
        (1, "new", "new", 1),
    ]
    planned = desk.plan()
    assert {name: it["what"] for name, it in planned.items()} == {
        "a": "restore",
        "b": "create",
        "new": "delete",
    }
    assert all(it["conflict"] is None and it["unnamed"] for it in planned.values())
    desk.undo()
    assert contents(desk.folder) == before
    assert not (desk.folder / "deep").exists()
    desk.undo(1)
    assert contents(desk.folder) == after


def test_a_command_that_failed_or_was_stopped_changed_files_all_the_same(desk: Watched) -> None:
    before = contents(desk.folder)
    for name, end in (("a", ToolFinished), ("c", ToolRejected)):
        call = desk.start()
        desk.put(name, b"half\n")
        desk.hear(end(call))
        desk.survey()
    desk.undo()
    assert contents(desk.folder) == before


def test_what_a_command_does_while_it_runs_is_listed(desk: Watched) -> None:
    desk.start()
    desk.put("a", b"1\ntwo\n3\n")
    desk.survey()
    assert desk.listed() == [(1, "a", "lines", 2)]
    desk.put("a", b"one\ntwo\n3\n")
    desk.hear(AgentGone("killed"))
    desk.survey()
    assert desk.listed() == [(1, "a", "lines", 1)]
    assert not desk.ledger.watch.waits


def test_files_are_changed_by_name_and_by_command_in_one_turn(desk: Watched) -> None:
    before = contents(desk.folder)
    desk.write("a", b"named\n")
    desk.command(desk.change(a=b"formatted\n"))
    desk.write("a", b"named again\n")
    desk.command(desk.change(c=b"x\n"), waits=False)
    desk.write("c", b"z\n")
    planned = desk.plan()
    assert {name: it["unnamed"] for name, it in planned.items()} == {"a": False, "c": False}
    desk.undo()
    assert contents(desk.folder) == before


def test_there_and_back_again_is_no_change(desk: Watched) -> None:
    desk.command(desk.change(a=b"other\n"))
    desk.command(desk.change(a=b"1\n2\n3\n"))
    assert desk.turns() == []


def test_what_changed_between_turns_is_nobodys(desk: Watched) -> None:
    desk.put("a", b"somebody\n")
    desk.survey()
    desk.command(desk.change(c=b"x\n"))
    assert list(desk.plan()) == ["c"]


def test_what_changed_while_a_command_waited_is_nobodys(desk: Watched) -> None:
    call = desk.request("shell_command", arguments={"command": "do"})
    desk.put("a", b"mine\n")
    desk.survey()
    desk.ledger.approved(call.id, surveyed=True)
    desk.hear(ToolFinished(call))
    desk.survey()
    assert desk.turns() == []


def test_what_the_user_wrote_is_his(desk: Watched) -> None:
    call = desk.start()
    for name, content in {"a": b"mine\n", "b": None, "mine": b"new\n"}.items():
        desk.put(name, content)
        desk.ledger.watch.others([str(desk.folder / name)])
    desk.hear(ToolFinished(call))
    desk.survey()
    assert desk.turns() == []


def test_what_the_user_wrote_while_a_survey_was_made_is_his(desk: Watched) -> None:
    desk.start()
    with desk.surveying():
        desk.put("a", b"mine\n")
        desk.ledger.watch.others([str(desk.folder / "a")])
    desk.survey()
    assert desk.turns() == []


def test_what_a_command_made_of_the_users_words_is_taken_back_to_these(desk: Watched) -> None:
    call = desk.start()
    desk.put("a", b"mine\n")
    desk.ledger.watch.others([str(desk.folder / "a")])
    desk.put("a", b"formatted\n")
    desk.hear(ToolFinished(call))
    desk.survey()
    desk.undo()
    assert (desk.folder / "a").read_bytes() == b"mine\n"


def test_a_path_by_another_name_is_the_same_file(desk: Watched, tmp_path: Path) -> None:
    link = tmp_path.with_name(f"{tmp_path.name}-link")
    link.symlink_to(tmp_path)
    desk.start()
    desk.put("a", b"mine\n")
    desk.ledger.watch.others([str(link / "a")])
    desk.survey()
    assert desk.turns() == []


def test_what_another_chats_call_named_is_its_own(desk: Watched) -> None:
    other = Driver((str(desk.folder),))
    other.chat = Chat("other", other.chat.settings)
    other.run("beside")
    desk.start()
    path = desk.folder / "a"
    call = ToolCall("beside", "write_file", arguments={"path": str(path)})
    for event in (ToolRequested(call), ToolFinished(call)):
        other.hear(event)
        desk.ledger.witness(other.chat, event)
        path.write_bytes(b"theirs\n")
    desk.survey()
    assert desk.turns() == []


def test_a_command_that_began_with_the_survey_has_what_changed_since_unseen(desk: Watched) -> None:
    desk.put("c", b"somebody\n")
    with desk.surveying():
        desk.start(waits=False)
        desk.put("a", b"changed\n")
    planned = desk.plan()
    assert planned["a"]["fault"] == "its earlier text was not seen"


def test_without_a_survey_before_nothing_is_guessed(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"1\n")
    desk = Watched(tmp_path)
    desk.ledger.watch.failed("no room")
    desk.command(desk.change(a=b"changed\n"), waits=False)
    assert {it["fault"] for it in desk.plan().values()} <= {"its earlier text was not seen"}
    assert (tmp_path / "a").read_bytes() == b"changed\n"


def test_what_is_not_known_is_said_of_the_turn(desk: Watched) -> None:
    call = desk.start(waits=False)
    desk.hear(ToolFinished(call))
    desk.ledger.watch.begin()
    desk.ledger.watch.failed("too many files")
    assert desk.ledger.unknown("chat") == {1: "too many files"}
    assert not desk.ledger.watch.waits


def test_what_a_command_did_is_found_when_the_next_turn_has_begun(desk: Watched) -> None:
    before = contents(desk.folder)
    call = desk.start()
    desk.put("a", b"changed\n")
    desk.hear(ToolFinished(call))
    desk.turn("next")
    desk.write("c", b"next\n")
    desk.survey()
    assert [turn.number for turn in desk.turns()] == [1, 2]
    desk.undo()
    desk.undo(1)
    assert contents(desk.folder) == before


def test_files_that_are_not_kept_are_listed(desk: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(survey_module, "LARGEST", 3)
    desk.put("big", b"large\n")
    desk.survey()
    desk.command(desk.change(big=b"larger\n"))
    assert desk.plan()["big"]["fault"] == survey_module.LARGE


@pytest.mark.parametrize("name", ["read_file", "grep", "directory_tree", "ask_user"])
def test_a_call_that_changes_nothing_is_not_watched(desk: Watched, name: str) -> None:
    call = desk.request(name, waits=False, arguments={})
    desk.put("a", b"somebody\n")
    desk.hear(ToolFinished(call))
    assert not desk.ledger.watch.needs_survey
    desk.survey()
    assert desk.turns() == []


@pytest.mark.parametrize("name", ["unheard_of", None, "shell_command", "write_file"])
def test_a_call_that_may_change_anything_is_watched(desk: Watched, name: str | None) -> None:
    before = contents(desk.folder)
    call = ToolCall("any", name, arguments={"path": "relative"})
    for event in (ToolPreparing(call), ToolRequested(call), ToolRunning(call)):
        desk.hear(event)
    assert desk.ledger.is_watched("any")
    desk.put("a", b"changed\n")
    desk.hear(ToolFinished(call))
    assert desk.ledger.watch.needs_survey
    desk.survey()
    desk.undo()
    assert contents(desk.folder) == before
