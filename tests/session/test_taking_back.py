"""Rolling back files of all turns from a prompt on: planned and restored, or left to the server."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import anyio
import pytest
from tests.session.rig import PATIENCE, FakeAgent, Rig
from tests.support.calls import eca_call

from eca_nvim.agents.abilities import OpenedChat
from eca_nvim.chat.user_actions.earlier_messages import Page
from eca_nvim.chat.vocabulary import intents
from eca_nvim.chat.vocabulary import query_intents as asks
from eca_nvim.chat.vocabulary.call_details import ToolCall
from eca_nvim.chat.vocabulary.events import (
    Addressed,
    ChatEvent,
    Role,
    TextReceived,
    ToolFinished,
    ToolRejected,
    ToolRequested,
)
from eca_nvim.chat.vocabulary.ops import FilesChanged
from eca_nvim.chat.vocabulary.query_intents import PlanUndo, RequestTimeline, UndoTurn
from eca_nvim.chat.vocabulary.turn_events import TurnBegan, TurnEnded
from eca_nvim.disk import private
from eca_nvim.session import session

pytestmark = pytest.mark.anyio

RUNNING, ENDED = TurnBegan(), TurnEnded()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "file"
    path.write_text("before\n")
    return path


def prompt(number: int) -> TextReceived:
    return TextReceived(Role.USER, f"prompt {number}\n", f"u{number}")


def write_call(file: Path, number: int) -> ToolCall:
    arguments = {"path": str(file), "content": f"{number}\n"}
    return eca_call(f"t{number}", "write_file", arguments=arguments)


def content(file: Path) -> str:
    return file.read_text()


def put(file: Path, text: str) -> None:
    file.write_text(text)


async def turn(rig: Rig, agent: FakeAgent, number: int, file: Path, *more: ChatEvent) -> None:
    """Let the agent write a file in a turn, after approval."""
    rig.do(intents.SendPrompt("a", f"prompt {number}"))
    await rig.done()
    call = write_call(file, number)
    agent.say("a", prompt(number), RUNNING, ToolRequested(call, needs_approval=True))
    rig.do(rig.decision(call.id))
    await rig.done()
    put(file, f"{number}\n")
    agent.say("a", ToolFinished(call), *more, ENDED)


def unkept(planned: Mapping[str, Any]) -> list[str]:
    """Return the prompts of the turns of which no file was kept."""
    return [row["name"] for row in planned["rows"] if "name" in row]


async def blocks(rig: Rig) -> list[int]:
    """Return the blocks of the user's messages."""
    listed = await rig.ask(RequestTimeline("a", -99))
    return [row["block"] for row in listed]


async def test_all_turns_since_a_prompt_are_one_plan(rig: Rig, file: Path) -> None:
    agent = await rig.ready()
    for number in (1, 2, 3):
        await turn(rig, agent, number, file)
    _, second, _ = await blocks(rig)
    planned = await rig.ask(PlanUndo("a", -1, since=second))
    assert (planned["turns"], planned["title"]) == ([3, 2], "undo turns 2 to 3: prompt 2")
    (row,) = planned["rows"]
    assert (row["path"], row["kept"]) == (str(file), None)
    done = await rig.ask(UndoTurn("a", -2, [3, 2], [(str(file), row["seen"])]))
    told = "turns 2 to 3 undone in 1 file"
    assert done == {"done": [str(file)], "failed": [], "told": told}
    assert content(file) == "1\n"
    assert agent.archive.asked == []
    first, *_ = await blocks(rig)
    (row,) = (await rig.ask(PlanUndo("a", -4, since=first)))["rows"]
    await rig.ask(UndoTurn("a", -5, [3, 2, 1], [(str(file), row["seen"])]))
    assert content(file) == "before\n"
    assert (await rig.ask(PlanUndo("a", -3, since=second)))["rows"] == []


async def test_what_was_undone_is_not_done_again_by_it(rig: Rig, file: Path) -> None:
    await turn(rig, await rig.ready(), 1, file)
    (row,) = (await rig.ask(PlanUndo("a", -1, since=0)))["rows"]
    await rig.ask(UndoTurn("a", -2, [1], [(str(file), row["seen"])]))
    assert (await rig.ask(PlanUndo("a", -3, turn=1)))["again"] is True
    planned = await rig.ask(PlanUndo("a", -4, since=0))
    assert (planned["rows"], planned["again"]) == ([], False)


async def test_words_that_steered_a_turn_belong_to_it(rig: Rig, file: Path) -> None:
    agent = await rig.ready()
    await turn(rig, agent, 1, file, TextReceived(Role.USER, "and so\n", "u9"))
    await turn(rig, agent, 2, file)
    _, steer, _ = await blocks(rig)
    planned = await rig.ask(PlanUndo("a", -1, since=steer))
    assert (planned["turns"], planned["title"]) == ([2, 1], "undo turns 1 to 2: and so")


async def test_words_of_another_client_come_before_their_turn(rig: Rig, file: Path) -> None:
    agent = await rig.ready()
    await turn(rig, agent, 1, file)
    call = write_call(file, 2)
    agent.say("a", prompt(2), RUNNING, ToolRequested(call, needs_approval=False))
    put(file, "2\n")
    agent.say("a", ToolFinished(call), ENDED)
    _, second = await blocks(rig)
    assert (await rig.ask(PlanUndo("a", -1, since=second)))["turns"] == [2]


async def test_turns_of_another_day_are_named_when_they_may_have_changed_files(
    rig: Rig, file: Path
) -> None:
    agent = await rig.ready("other")
    read = eca_call("r", "read_file", arguments={"path": str(file)})
    rejected = eca_call("x", "shell_command", arguments={"command": "rm -r /"})
    replayed: list[ChatEvent] = [
        prompt(1),
        ToolFinished(write_call(file, 1)),
        prompt(2),
        ToolFinished(read),
        ToolRejected(rejected),
        prompt(3),
        ToolFinished(eca_call("s", "shell_command", arguments={"command": "make"})),
    ]
    agent.archive.opened = OpenedChat(Page([Addressed("a", it) for it in replayed]))
    rig.do(asks.ResumeChat("a"))
    await rig.view.until(lambda: agent.archive.asked)
    await anyio.wait_all_tasks_blocked()
    await turn(rig, agent, 4, file)
    first, second, _, fourth = await blocks(rig)
    planned = await rig.ask(PlanUndo("a", -1, since=first))
    assert (planned["turns"], unkept(planned)) == ([1], ["▌ prompt 1", "▌ prompt 3"])
    assert unkept(await rig.ask(PlanUndo("a", -2, since=second))) == ["▌ prompt 3"]
    assert unkept(await rig.ask(PlanUndo("a", -3, since=fourth))) == []


async def test_no_plan_while_a_turn_runs_nor_for_what_has_no_name(rig: Rig, file: Path) -> None:
    agent = await rig.ready()
    assert await rig.ask(PlanUndo("a", -1, since=0)) is None
    assert rig.lines()[-1] == "no prompt here"
    await turn(rig, agent, 1, file)
    agent.say("a", RUNNING)
    assert await rig.ask(PlanUndo("a", -2, since=0)) is None
    assert rig.lines()[-1] == "a turn is running: stop it first with :Eca stop"


async def test_a_file_that_is_damaged_is_told_with_its_copy(
    rig: Rig, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await turn(rig, await rig.ready(), 1, file)
    file.with_name("other").hardlink_to(file)
    (row,) = (await rig.ask(PlanUndo("a", -1)))["rows"]

    def fail(*_: object) -> None:
        raise OSError(5, os.strerror(5))

    with monkeypatch.context() as broken:
        broken.setattr(os, "ftruncate", fail)
        done = await rig.ask(UndoTurn("a", -2, [1], [(str(file), row["seen"])]))
    (failed,) = done["failed"]
    assert (failed["path"], failed["fault"]) == (str(file), os.strerror(5))
    assert content(Path(failed["copy"])) == "1\n"
    assert rig.view.of(FilesChanged)[-1].paths == [str(file)]


async def test_a_later_move_is_told_when_there_is_nothing_to_undo(rig: Rig, file: Path) -> None:
    agent = await rig.ready()
    new, moved = file.with_name("new"), file.with_name("moved")
    await turn(rig, agent, 1, new)
    ends = {"source": str(new), "destination": str(moved)}
    call = eca_call("m", "move_file", arguments=ends)
    rig.do(intents.SendPrompt("a", "move"))
    await rig.done()
    agent.say("a", prompt(2), RUNNING, ToolRequested(call, needs_approval=False))
    new.rename(moved)
    agent.say("a", ToolFinished(call), ENDED)
    planned = await rig.ask(PlanUndo("a", -1, turn=1))
    assert planned == {"rows": [], "why": "turn 2 has moved new: undo that turn first"}
    assert (await rig.ask(PlanUndo("a", -2, turn=2)))["turns"] == [2]


async def test_what_a_killed_host_left_is_swept_when_the_server_is_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = tmp_path / "eca-images-dead"
    left.mkdir(mode=0o700)
    swept = anyio.Event()
    loop = asyncio.get_running_loop()

    def sweep() -> None:
        private.sweep()
        loop.call_soon_threadsafe(swept.set)

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(session, "sweep", sweep)
    rig = Rig()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(rig.session.run)
        await rig.done()
        assert left.exists()
        await rig.ready()
        with anyio.fail_after(PATIENCE):
            await swept.wait()
        tasks.cancel_scope.cancel()
    rig.session.kill()
    assert not left.exists()
