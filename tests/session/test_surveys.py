"""Commands are surveyed in time, or a message says that they are not; nobody waits long."""

import itertools
import threading
from collections.abc import AsyncIterator, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import anyio
import anyio.lowlevel
import pytest
from tests.review.desk import contents
from tests.session.rig import PATIENCE, FakeAgent, Rig, words
from tests.support.calls import eca_call

from eca_nvim.chat.vocabulary import intents
from eca_nvim.chat.vocabulary.call_details import Subagent, ToolCall
from eca_nvim.chat.vocabulary.events import ToolFinished, ToolRejected, ToolRequested, ToolRunning
from eca_nvim.chat.vocabulary.query_intents import (
    ChangeFolder,
    FileWritten,
    ListChanges,
    ListFiles,
    PlanUndo,
    UndoTurn,
)
from eca_nvim.chat.vocabulary.requests import ALLOW
from eca_nvim.chat.vocabulary.turn_events import TurnBegan, TurnEnded
from eca_nvim.review import workspace
from eca_nvim.review.survey import Survey, survey
from eca_nvim.session.files import surveys

pytestmark = pytest.mark.anyio

Value: TypeAlias = Any
COMMAND = eca_call("t", "shell_command", arguments={"command": "do"})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a").write_text("1\n2\n3\n")
    (tmp_path / "b").write_text("x\n")
    return tmp_path


@pytest.fixture
async def rig(folder: Path) -> AsyncIterator[Rig]:
    """Run a session in the folder."""
    rig = Rig(folders=(str(folder),))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(rig.session.run)
        yield rig
        tasks.cancel_scope.cancel()
    rig.session.kill()


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """Hold every survey until the event is set."""
    go = threading.Event()

    def wait(*arguments: Value) -> Survey:
        go.wait(PATIENCE)
        return survey(*arguments)

    monkeypatch.setattr(surveys, "survey", wait)
    yield go
    go.set()


async def begin(rig: Rig, call: ToolCall = COMMAND) -> FakeAgent:
    """Let the agent ask whether it may run a command."""
    agent = await rig.ready()
    rig.do(intents.SendPrompt("a", "tidy up"))
    await rig.done()
    agent.say("a", TurnBegan(), ToolRequested(call, needs_approval=True))
    return agent


async def let_run(rig: Rig, call: ToolCall = COMMAND) -> FakeAgent:
    """Approve a command, and wait until the agent knows."""
    agent = await begin(rig, call)
    rig.do(rig.decision(call.id))
    with anyio.fail_after(PATIENCE):
        await agent.approved.wait()
    agent.say("a", ToolRunning(call))
    return agent


def end(agent: FakeAgent, call: ToolCall = COMMAND) -> None:
    agent.say("a", ToolFinished(call), TurnEnded())


async def names(rig: Rig, request: int) -> list[tuple[str, str]]:
    listed = await rig.ask(ListChanges("a", request)) or []
    return sorted((Path(entry["path"]).name, entry["kind"]) for entry in listed)


async def test_what_a_command_did_is_listed_and_undone(rig: Rig, folder: Path) -> None:
    agent = await let_run(rig)
    (folder / "a").write_text("1\ntwo\n3\n")
    (folder / "b").unlink()
    (folder / "made").mkdir()
    (folder / "made" / "new").write_text("new\n")
    end(agent)
    assert await names(rig, -1) == [("a", "lines"), ("b", "deleted"), ("new", "new")]
    planned = await rig.ask(PlanUndo("a", -2))
    files = [(it["path"], it["seen"]) for it in planned["rows"]]
    assert (await rig.ask(UndoTurn("a", -3, [1], files)))["failed"] == []
    assert contents(folder) == {"a": b"1\n2\n3\n", "b": b"x\n"}
    assert not (folder / "made").exists()
    assert rig.lines() == []


async def test_a_file_with_an_odd_name_is_told_with_the_list(rig: Rig, folder: Path) -> None:
    odd = folder / "two\nlines"
    odd.write_text("1\n")
    agent = await let_run(rig)
    odd.write_text("22\n")
    end(agent)
    assert await names(rig, -1) == []
    assert rig.lines() == ["turn 1: not read because of its name: two␤lines"]
    (row,) = (await rig.ask(PlanUndo("a", -2)))["rows"]
    assert (row["path"], row["taken"]) == (f"{folder}/two␤lines", None)
    assert words(row["kept"]) == "cannot be restored: not read because of its name"


async def used(rig: Rig, request: int) -> list[tuple[str, str]]:
    """Return the names of the files that were used, and how."""
    files = (await rig.ask(ListFiles("a", request)))["files"]
    return [(Path(it["path"]).name, words(it["use"])) for it in files]


async def test_what_a_command_did_is_counted(rig: Rig, folder: Path) -> None:
    agent = await let_run(rig)
    (folder / "a").write_text("1\ntwo\nand more\n3\n")
    agent.say("a", ToolFinished(eca_call("r", "read_file", arguments={"path": str(folder / "b")})))
    end(agent)
    assert await used(rig, -1) == [("a", "turn 1 written +2 -1"), ("b", "turn 1 read")]
    (file,) = (await rig.ask(PlanUndo("a", -2)))["rows"]
    await rig.ask(UndoTurn("a", -3, [1], [(file["path"], file["seen"])]))
    assert await used(rig, -4) == [("a", "turn 1 written"), ("b", "turn 1 read")]


async def test_an_undo_is_not_laid_to_the_next_command(rig: Rig, folder: Path) -> None:
    agent = await let_run(rig)
    (folder / "a").write_text("changed\n")
    end(agent)
    (file,) = (await rig.ask(PlanUndo("a", -1)))["rows"]
    agent.say("a", TurnBegan(), ToolRunning(eca_call("u", "shell_command")))
    await rig.ask(UndoTurn("a", -2, [1], [(file["path"], file["seen"])]))
    end(agent, eca_call("u", "shell_command"))
    assert await names(rig, -3) == []


async def test_what_the_user_wrote_meanwhile_is_his(rig: Rig, folder: Path) -> None:
    agent = await let_run(rig)
    (folder / "a").write_text("mine\n")
    rig.do(FileWritten(str(folder / "a"), "written"))
    await rig.done()
    (folder / "b").write_text("theirs\n")
    end(agent)
    assert await names(rig, -1) == [("b", "lines")]


async def test_a_command_that_was_stopped_is_not_let_run(rig: Rig, held: threading.Event) -> None:
    agent = await begin(rig)
    rig.do(rig.decision("t"), intents.StopTurn("a"))
    await rig.done()
    held.set()
    while rig.session.surveyor.waiting_count:
        await anyio.lowlevel.checkpoint()
    assert [told[0] for told in agent.told] == ["prompt", "stop"]


async def test_what_is_let_run_is_what_was_approved(rig: Rig, held: threading.Event) -> None:
    agent = await begin(rig)
    rig.do(rig.decision("t"))
    await rig.done()
    other = eca_call("t", "shell_command", arguments={"command": "do worse"})
    agent.say("a", ToolRequested(other, needs_approval=True))
    held.set()
    await rig.surveyed()
    assert [told[0] for told in agent.told] == ["prompt"]
    rig.do(rig.decision("t"))
    await rig.done()
    await rig.surveyed()
    assert agent.told[1:] == [("decide", "a", "t", ALLOW.id)]


async def test_only_the_call_of_the_lane_is_let_run(rig: Rig, held: threading.Event) -> None:
    agent = await begin(rig)
    spawn = eca_call("s", "spawn_agent", details=Subagent("explorer", "child"))
    agent.say("a", ToolRunning(spawn))
    agent.say("child", ToolRequested(COMMAND, needs_approval=True), parent="a")
    items: list[Mapping[str, Value]] = list(rig.view.pending)
    assert [item["call"] for item in items] == ["t", "t"]
    rig.do(intents.Decide("a", items[1]["block"], items[1]["digest"], ALLOW.id))
    await rig.done()
    agent.say("child", ToolRejected(COMMAND), parent="a")
    held.set()
    await rig.surveyed()
    assert [told[0] for told in agent.told] == ["prompt"]


async def test_a_slow_survey_holds_nobody_up(
    rig: Rig, folder: Path, held: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(surveys, "WAIT_LIMIT", 0.01)
    agent = await let_run(rig)
    (folder / "a").write_text("changed\n")
    end(agent)
    assert await rig.ask(ListChanges("a", -1)) is None
    assert rig.lines()[0].startswith("the changes of the last commands are not found yet")
    monkeypatch.setattr(surveys, "WAIT_LIMIT", PATIENCE)
    held.set()
    planned = await rig.ask(PlanUndo("a", -2))
    unseen = "cannot be restored: its original text is unknown"
    assert {words(it["kept"]) for it in planned["rows"]} <= {unseen}


async def test_a_survey_that_hangs_is_given_up(
    rig: Rig, held: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("SURVEY_TIMEOUT", "WAIT_LIMIT"):
        monkeypatch.setattr(surveys, name, 0.01)
    end(await let_run(rig))
    told = "what commands changed in turn 1 is not known: reading the workspace takes too long"
    for number in itertools.count(1):
        await rig.ask(ListChanges("a", -number))
        if told in rig.lines():
            break
    assert not held.is_set()


async def test_approvals_are_told_in_their_order(rig: Rig, held: threading.Event) -> None:
    agent = await begin(rig)
    calls = [eca_call(str(number), "shell_command") for number in range(9)]
    calls.append(eca_call("named", "write_file", arguments={"path": "/named", "content": "x"}))
    agent.say("a", *[ToolRequested(call, needs_approval=True) for call in calls])
    rig.do(*[rig.decision(call.id) for call in (COMMAND, *calls)])
    await rig.done()
    assert not agent.approved.is_set()
    held.set()
    await rig.surveyed()
    told = [words[2] for words in agent.told if words[0] == "decide"]
    assert told == ["t", *[call.id for call in calls]]


async def test_two_commands_one_after_the_other_are_both_seen(rig: Rig, folder: Path) -> None:
    before = contents(folder)
    agent = await let_run(rig)
    (folder / "a").write_text("by the first\n")
    second = eca_call("second", "shell_command")
    agent.say("a", ToolRequested(second, needs_approval=True))
    rig.do(rig.decision("second"))
    await rig.surveyed()
    (folder / "b").write_text("by the second\n")
    agent.say("a", ToolFinished(second))
    end(agent)
    files = [(it["path"], it["seen"]) for it in (await rig.ask(PlanUndo("a", -1)))["rows"]]
    await rig.ask(UndoTurn("a", -2, [1], files))
    assert contents(folder) == before


async def test_one_reason_is_told_once(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workspace, "MOST_FILES", 1)
    for _ in range(3):
        end(await let_run(rig))
        await rig.surveyed()
    await rig.ask(ListChanges("a", -1))
    why = "is not known: the workspace has more than 1 files"
    assert rig.lines()[0] == f"what commands changed in turns 1, 2, 3 {why}"
    assert len(rig.lines()) == 2


async def test_of_a_workspace_too_large_it_is_said(
    rig: Rig, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workspace, "MOST_FILES", 1)
    agent = await let_run(rig)
    (folder / "a").write_text("changed\n")
    end(agent)
    assert await rig.ask(ListChanges("a", -1)) is None
    assert rig.lines() == [
        "what commands changed in turn 1 is not known: the workspace has more than 1 files",
        "no changes in this chat",
    ]


async def test_a_workspace_too_slow_is_not_tried_again(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as slow:
        slow.setattr(surveys, "SURVEY_TIMEOUT", -1.0)
        end(await let_run(rig))
        await rig.ask(ListChanges("a", -1))
    await rig.ask(ListChanges("a", -2))
    told = "what commands changed in turn 1 is not known: reading the workspace takes too long"
    assert rig.lines() == [told, "no changes in this chat"] * 2


async def test_a_fault_in_a_survey_is_no_end(
    rig: Rig, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_arguments: Value) -> None:
        raise ValueError("no")

    with monkeypatch.context() as broken:
        broken.setattr(surveys, "survey", fail)
        end(await let_run(rig))
        await rig.ask(ListChanges("a", -1))
    told = "what commands changed in turn 1 is not known: the survey failed: no"
    assert rig.lines()[0].startswith(told)


async def test_the_end_of_the_session_waits_for_no_survey(folder: Path) -> None:
    go, over = threading.Event(), threading.Event()

    def hang(*_arguments: Value) -> None:
        go.wait(PATIENCE)
        over.set()

    rig = Rig(folders=(str(folder),))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(surveys, "survey", hang)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(rig.session.run)
            await begin(rig)
            tasks.cancel_scope.cancel()
    assert not over.is_set()
    go.set()
    rig.session.kill()


async def test_the_files_of_a_folder_that_is_added_are_not_laid_to_a_command(
    rig: Rig, tmp_path_factory: pytest.TempPathFactory
) -> None:
    other = tmp_path_factory.mktemp("other")
    (other / "mine").write_text("1")
    agent = await let_run(rig)
    assert await rig.ask(ChangeFolder(str(other), removed=False, request=-1)) == [str(other)]
    (other / "mine").write_text("2")
    end(agent)
    assert await names(rig, -2) == []
    again, agent.approved = eca_call("u", "shell_command"), anyio.Event()
    agent.say("a", TurnBegan(), ToolRequested(again, needs_approval=True))
    rig.do(rig.decision("u"))
    await agent.approved.wait()
    agent.say("a", ToolRunning(again))
    (other / "mine").write_text("3")
    end(agent, again)
    assert await names(rig, -3) == [("mine", "lines")]
