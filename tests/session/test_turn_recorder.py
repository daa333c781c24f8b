"""What commands changed is found by trees, or a message says why not; nobody waits long."""

import shutil
import subprocess
import threading
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import anyio
import anyio.lowlevel
import pytest
from tests.review.desk import contents as all_contents
from tests.session.rig import PATIENCE, FakeAgent, Rig, words
from tests.support.calls import eca_call

from eca_nvim.chat.vocabulary import intents
from eca_nvim.chat.vocabulary.call_details import Subagent, ToolCall
from eca_nvim.chat.vocabulary.events import ToolFinished, ToolRejected, ToolRequested, ToolRunning
from eca_nvim.chat.vocabulary.ops import SetHeader
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
from eca_nvim.review.checkpoint_store import Change, CheckpointStore, Tree
from eca_nvim.review.git import GitFailed
from eca_nvim.review.turn_changes import TurnChanges
from eca_nvim.review.turn_store import save_turn
from eca_nvim.session.files import turn_recorder

pytestmark = pytest.mark.anyio

Value: TypeAlias = Any
COMMAND = eca_call("t", "shell_command", arguments={"command": "do"})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a").write_text("1\n2\n3\n")
    (tmp_path / "b").write_text("x\n")
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    return tmp_path


def contents(folder: Path) -> dict[str, bytes]:
    return {name: it for name, it in all_contents(folder).items() if not name.startswith(".git/")}


@pytest.fixture
def saved(folder: Path) -> str:
    """Return where everything is saved."""
    return str(folder.with_name(f"{folder.name}-saved"))


@pytest.fixture
async def rig(folder: Path, saved: str) -> AsyncIterator[Rig]:
    """Run a session in the folder."""
    rig = Rig(folders=(str(folder),), saved_in=saved)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(rig.session.run)
        yield rig
        tasks.cancel_scope.cancel()
    rig.session.kill()


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """Hold every tree until the event is set."""
    go, take = threading.Event(), CheckpointStore.take

    def wait(store: CheckpointStore, roots: Sequence[str], until: int | None = None) -> Tree:
        go.wait(PATIENCE)
        return take(store, roots, until)

    monkeypatch.setattr(CheckpointStore, "take", wait)
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


async def test_many_commands_that_change_nothing_are_little_work(
    rig: Rig, held: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Trees that many share are not compared, and the turn is not saved, once for each of them."""
    asked: list[str] = []
    changes = CheckpointStore.changes

    def saved(store: CheckpointStore, turn: TurnChanges) -> tuple[str, str]:
        asked.append("save")
        return save_turn(store, turn)

    def compared(store: CheckpointStore, *trees: Value) -> Mapping[str, Change]:
        asked.append("compare")
        return changes(store, *trees)

    monkeypatch.setattr("eca_nvim.session.files.turn_recorder.save_turn", saved)
    monkeypatch.setattr(CheckpointStore, "changes", compared)
    agent = await rig.ready()
    rig.do(intents.SendPrompt("a", "look around"))
    agent.say("a", TurnBegan())
    for number in range(20):
        call = eca_call(f"t{number}", "shell_command", arguments={"command": "do"})
        agent.say("a", ToolRequested(call, needs_approval=False), ToolRunning(call))
        agent.say("a", ToolFinished(call))
    agent.say("a", TurnEnded())
    held.set()
    assert await names(rig, -1) == []
    assert len(asked) < 6


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


async def test_the_end_of_a_turn_is_its_own_though_a_queued_prompt_follows(
    rig: Rig, folder: Path
) -> None:
    agent = await rig.ready()
    rig.do(intents.SendPrompt("a", "tidy up"))
    await rig.stored()
    agent.say("a", TurnBegan())
    rig.do(intents.SendPrompt("a", "and then?", queue=True))
    await rig.done()
    (folder / "a").write_text("changed\n")
    agent.say("a", TurnEnded())
    await rig.stored()
    agent.say("a", TurnEnded())
    await rig.stored()
    known = [it for it in rig.session._checkpoints.known or () if it.about["kind"] != "restore"]
    begun = {it.id: it.about["turn"] for it in known if it.about["kind"] == "prompt"}
    ends = [it.about for it in known if it.about["kind"] == "end"]
    told = [(it["turn"], begun[str(it["of"])], it["count"]) for it in ends]
    assert told == [(2, 2, 0), (1, 1, 1)]


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
    while rig.session._recorder.waiting_count:
        await anyio.lowlevel.checkpoint()
    assert [told[0] for told in agent.told] == ["prompt", "stop"]


async def test_what_is_let_run_is_what_was_approved(rig: Rig, held: threading.Event) -> None:
    agent = await begin(rig)
    rig.do(rig.decision("t"))
    await rig.done()
    other = eca_call("t", "shell_command", arguments={"command": "do worse"})
    agent.say("a", ToolRequested(other, needs_approval=True))
    held.set()
    await rig.stored()
    assert [told[0] for told in agent.told] == ["prompt"]
    rig.do(rig.decision("t"))
    await rig.done()
    await rig.stored()
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
    await rig.stored()
    assert [told[0] for told in agent.told] == ["prompt"]


def headers(rig: Rig) -> str:
    """Return all headers that were shown again."""
    return "\n".join("".join(text for text, _ in it.header) for it in rig.view.of(SetHeader))


async def test_a_slow_tree_holds_nobody_up(
    rig: Rig, folder: Path, held: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turn_recorder, "WAIT_LIMIT", 0.01)
    agent = await let_run(rig)
    (folder / "a").write_text("changed\n")
    end(agent)
    assert await rig.ask(ListChanges("a", -1)) is None
    assert rig.lines()[0].startswith("the changes of the last commands are not found yet")
    monkeypatch.setattr(turn_recorder, "WAIT_LIMIT", PATIENCE)
    held.set()
    planned = await rig.ask(PlanUndo("a", -2))
    late = "cannot be restored: it was changed before a checkpoint had it"
    assert [words(it["kept"]) for it in planned["rows"]] == [late]
    assert "earlier state uncertain" in headers(rig)


async def test_approvals_are_told_in_their_order(rig: Rig, held: threading.Event) -> None:
    agent = await begin(rig)
    calls = [eca_call(str(number), "shell_command") for number in range(9)]
    calls.append(eca_call("named", "write_file", arguments={"path": "/named", "content": "x"}))
    agent.say("a", *[ToolRequested(call, needs_approval=True) for call in calls])
    rig.do(*[rig.decision(call.id) for call in (COMMAND, *calls)])
    await rig.done()
    assert not agent.approved.is_set()
    held.set()
    await rig.stored()
    told = [words[2] for words in agent.told if words[0] == "decide"]
    assert told == ["t", *[call.id for call in calls]]


async def test_two_commands_one_after_the_other_are_both_seen(rig: Rig, folder: Path) -> None:
    before = contents(folder)
    agent = await let_run(rig)
    (folder / "a").write_text("by the first\n")
    second = eca_call("second", "shell_command")
    agent.say("a", ToolRequested(second, needs_approval=True))
    rig.do(rig.decision("second"))
    await rig.stored()
    (folder / "b").write_text("by the second\n")
    agent.say("a", ToolFinished(second))
    end(agent)
    files = [(it["path"], it["seen"]) for it in (await rig.ask(PlanUndo("a", -1)))["rows"]]
    await rig.ask(UndoTurn("a", -2, [1], files))
    assert contents(folder) == before


async def test_one_reason_is_told_once(rig: Rig, folder: Path) -> None:
    shutil.rmtree(folder / ".git")
    for _ in range(3):
        agent = await let_run(rig)
        (folder / "a").write_text("changed\n")
        end(agent)
        await rig.stored()
    assert await rig.ask(ListChanges("a", -1)) is None
    why = "is not known: no repository: git init"
    told = [f"what commands changed in turns 1, 2, 3 {why}", "no changes in this chat"]
    assert rig.lines() == told


@pytest.mark.parametrize("fault", [GitFailed("git: no space left on device"), ValueError("no")])
async def test_a_fault_of_the_store_is_no_end(
    rig: Rig, folder: Path, monkeypatch: pytest.MonkeyPatch, fault: Exception
) -> None:
    def fail(*_arguments: Value) -> None:
        raise fault

    with monkeypatch.context() as broken:
        broken.setattr(CheckpointStore, "take", fail)
        agent = await let_run(rig)
        (folder / "a").write_text("changed\n")
        end(agent)
        assert await rig.ask(ListChanges("a", -1)) is None
    first, *more = rig.lines()
    assert first.startswith("no checkpoint was made: ")
    assert more[0].startswith("what commands changed in turn 1 is not known: ")
    agent.approved = anyio.Event()
    agent = await let_run(rig)
    (folder / "b").write_text("changed\n")
    end(agent)
    assert await names(rig, -2) == [("b", "lines")]


@pytest.fixture
def other(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return another repository."""
    other = tmp_path_factory.mktemp("other")
    (other / "mine").write_text("1")
    subprocess.run(["git", "init", "-q", str(other)], check=True)
    return other


async def test_the_files_of_a_folder_that_is_added_are_not_laid_to_a_command(
    rig: Rig, other: Path
) -> None:
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
