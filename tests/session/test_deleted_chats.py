"""Deleting chats leaves nothing of them in memory, whatever they did."""

import gc
import subprocess
from collections import Counter, deque
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import anyio
import pytest
from tests.session.rig import Rig
from tests.support.calls import eca_call

from eca_nvim.chat.vocabulary import intents
from eca_nvim.chat.vocabulary.bases import ChatOp
from eca_nvim.chat.vocabulary.events import ToolFinished, ToolRequested, ToolRunning
from eca_nvim.chat.vocabulary.login import ListLogins, LogIn, LogOut
from eca_nvim.chat.vocabulary.ops import ForgetChat, Notify
from eca_nvim.chat.vocabulary.query_intents import (
    CheckComments,
    DeleteChat,
    PlanUndo,
    PutComment,
    ResumeChat,
    SendComments,
)
from eca_nvim.chat.vocabulary.turn_events import TurnBegan, TurnEnded

pytestmark = pytest.mark.anyio

CHATS = 12
KEPT = {
    ("Checkpoints", "known"): "what the store keeps is listed",
    ("Checkpoint", ""): "what the store keeps is listed",
    ("Checkpoint", "about"): "what the store keeps is listed",
    ("Chats", "deleted"): "the last of them are remembered",
    ("Checkpoints", "_begun"): "the latest chats are remembered",
}
"""What grows with deleted chats, and why it may."""
GROWING = (list, dict, set, deque, Counter)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    subprocess.run(["git", "init", "-q", str(tmp_path / "project")], check=True)
    return tmp_path / "project"


@pytest.fixture
async def rig(folder: Path) -> AsyncIterator[Rig]:
    """Run a session in a repository, with checkpoints."""
    rig = Rig(folders=(str(folder),), saved_in=str(folder.with_name("saved")))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(rig.session.run)
        yield rig
        tasks.cancel_scope.cancel()
    rig.session.kill()


def fields(it: object) -> Iterator[tuple[str, object]]:
    """Yield the attributes of an object, also of a struct."""
    for name in (*getattr(it, "__dict__", ()), *getattr(type(it), "__struct_fields__", ())):
        yield name, getattr(it, name, None)


async def entries(rig: Rig) -> Counter[tuple[str, str]]:
    """Count what the objects of the plugin hold, by their class and attribute."""
    assert await rig.session._recorder.settled("stays")
    await rig.session._recorder.saved()
    gc.collect()
    found = Counter[tuple[str, str]]()
    for it in [each for each in gc.get_objects() if not isinstance(each, type)]:
        if type(it).__module__.startswith("eca_nvim"):
            found[type(it).__name__, ""] += 1
            for name, value in fields(it):
                if isinstance(value, GROWING):
                    found[type(it).__name__, name] += len(value)
    return found


def change(path: str, text: str) -> None:
    Path(path).write_text(text)


async def live(rig: Rig, chat: str, *, ends: bool) -> None:
    """Let a chat change files, by calls that name them and by commands, and delete it."""
    agent, folder = rig.agents[0], next(iter(rig.folders))
    path = f"{folder}/{chat}"
    write = eca_call(f"w{chat}", "write_file", arguments={"path": path, "content": "1"})
    command = eca_call(f"c{chat}", "shell_command", arguments={"command": "do"})
    rig.do(intents.OpenChat(chat), intents.SendPrompt(chat, "do it"))
    await rig.view.until(lambda: any(it.chat_id == chat for it in agent.prompts))
    agent.say(chat, TurnBegan())
    for call in (write, command):
        agent.say(chat, ToolRequested(call, needs_approval=False), ToolRunning(call))
        change(path, call.id)
        if ends:
            agent.say(chat, ToolFinished(call))
    if ends:
        agent.say(chat, TurnEnded())
        await rig.stored()
    rig.do(DeleteChat(chat))
    await rig.view.until(lambda: ForgetChat(chat) in rig.view.ops)
    await rig.stored()
    agent.prompts.clear()
    rig.view.ops.clear()


@pytest.mark.parametrize("ends", [True, False], ids=["at rest", "while it runs"])
async def test_nothing_is_left_of_deleted_chats(rig: Rig, ends: bool) -> None:
    await rig.ready("stays")
    for number in range(2):  # what is made at its first use is there then
        await live(rig, f"first{number}", ends=ends)
    before = await entries(rig)
    for number in range(CHATS):
        await live(rig, f"chat{number}", ends=ends)
    grown = {name: n for name, n in (await entries(rig) - before).items() if n >= CHATS}
    assert {it: n for it, n in grown.items() if it not in KEPT} == {}


LATE = (
    *(
        intents.OpenChat("a", redraw=True),
        intents.StopTurn("a"),
        intents.SetTrust("a", trusted=True),
    ),
    *(intents.Choose("a", "model", "other"), intents.Decide("a", 1, "none"), LogIn("a")),
    *(LogOut("a"), ListLogins("a", request=1), CheckComments("a"), SendComments("a", request=1)),
    *(ResumeChat("a", quiet=True), PlanUndo("a", request=1, since=0)),
    PutComment("a", "id", "why?", ("/a",), 1, 1, subject="a:1", turn=0),
)


@pytest.mark.parametrize("late", LATE, ids=lambda it: type(it).__name__)
async def test_a_deleted_chat_does_not_come_back(rig: Rig, late: intents.Intent) -> None:
    """Neovim shows the next chat in the window of one that is gone, and may know too late."""
    await rig.ready("a")
    rig.do(DeleteChat("a"), late)
    await rig.view.until(lambda: ForgetChat("a") in rig.view.ops)
    await rig.done()
    await anyio.wait_all_tasks_blocked()
    last = rig.view.ops.index(ForgetChat("a"))
    assert not [it for it in rig.view.ops[last + 1 :] if isinstance(it, ChatOp) and it.chat == "a"]
    assert not [it for it in rig.view.ops[last + 1 :] if isinstance(it, Notify)]
    rig.do(intents.OpenChat("a"))
    await rig.done()
    assert rig.status("a")["state"] == "idle"
