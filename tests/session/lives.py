"""Sessions of Neovims, one after the other, that share a store: what each knows of the others."""

import subprocess
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any, Final, TypeAlias

import anyio
from tests.session.rig import PATIENCE, FakeAgent, Rig, words
from tests.support.calls import eca_call

from eca_nvim.chat.vocabulary import intents
from eca_nvim.chat.vocabulary.events import ToolRequested, ToolRunning
from eca_nvim.chat.vocabulary.query_intents import PlanUndo, UndoTurn
from eca_nvim.chat.vocabulary.turn_events import TurnBegan
from eca_nvim.session.files.checkpoints import Checkpoints, Limits

Value: TypeAlias = Any
Life: TypeAlias = Callable[..., AbstractAsyncContextManager[Rig]]
SHELL: Final = eca_call("t", "shell_command", arguments={"command": "do"})


def make_project(root: Path) -> None:
    """Make a repository, where one file is ignored."""
    root.mkdir()
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    (root / ".gitignore").write_text("ignored\n")
    (root / "a").write_text("1\n2\n3\n")
    (root / "b").write_text("x\n")
    (root / "b").chmod(0o600)
    (root / "ignored").write_text("mine\n")


def life_in(folder: Path, saved_in: Path) -> Life:
    """Return what starts a Neovim; all of them share one store. It ends at once, as if killed."""

    @asynccontextmanager
    async def run(process: int = 1 << 30) -> AsyncIterator[Rig]:
        rig = Rig(folders=(str(folder),), saved_in=str(saved_in))
        rig.session._make_checkpoints = lambda warn, _: Checkpoints(
            rig.saved_in, rig.folders, process, Limits(), warn
        )
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(rig.session.run)
            yield rig
            tasks.cancel_scope.cancel()
        rig.session.kill()

    return run


async def begin(rig: Rig, prompt: str = "tidy up", agent: FakeAgent | None = None) -> FakeAgent:
    """Send a prompt, and let the agent run a command that the user approves."""
    agent = agent or await rig.ready()
    agent.approved = anyio.Event()
    await rig.stored()
    rig.do(intents.SendPrompt("a", prompt))
    await rig.done()
    agent.say("a", TurnBegan(), ToolRequested(SHELL, needs_approval=True))
    rig.do(rig.decision("t"))
    with anyio.fail_after(PATIENCE):
        await agent.approved.wait()
    agent.say("a", ToolRunning(SHELL))
    return agent


def work(folder: Path) -> None:
    """Do what a command may do."""
    (folder / "a").write_text("1\ntwo\n3\n")
    (folder / "b").unlink()
    (folder / "deep").mkdir()
    (folder / "deep" / "new").write_text("new\n")


async def saved(rig: Rig) -> None:
    """Wait until what is known is saved."""
    recorder = rig.session._recorder
    with anyio.fail_after(PATIENCE):
        assert await recorder.settled("a")
        while recorder._unsaved:
            await rig.stored()
    await rig.stored()


def state(folder: Path) -> dict[str, tuple[bytes, int]]:
    files = (it for it in folder.rglob("*") if it.is_file() and ".git" not in it.parts)
    return {str(it): (it.read_bytes(), it.stat().st_mode) for it in files}


async def undo(rig: Rig, turn: int | None = None) -> Value:
    """Undo all that is planned; return the words of each file."""
    planned = await rig.ask(PlanUndo("a", -100, turn=turn))
    rows = planned["rows"]
    files = [(it["path"], it["seen"]) for it in rows]
    done = await rig.ask(UndoTurn("a", -200, planned["turns"], files))
    assert done["failed"] == []
    rig.view.ops.clear()
    return {Path(it["path"]).name: words(it["taken"]) for it in rows}
