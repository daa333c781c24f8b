"""What a shell command did is undone and redone in later Neovims."""

import os
import signal
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest
from tests.support.editor import PATIENCE, Neovim
from tests.support.factories import PrepareScript, StartNeovim
from tests.support.script import Steps, expect, handshake, status, turn, write
from tests.ui.talk import Value, asks, done, host_of, say, start_chat, tool, wait_idle

pytestmark = pytest.mark.either_nvim

SHELL: dict[str, Value] = {"name": "shell_command", "arguments": {"command": "make tidy"}}


def ran(made: Path) -> Steps:
    """Run an approved command that makes a file, until the test ends it."""
    return [
        *asks("tidy", **SHELL),
        *expect("chat/toolCallApprove"),
        *tool("Running", "tidy", **SHELL),
        *write(made, "new\n"),
        *expect("chat/promptStop"),
        *done("tidy", "", **SHELL),
    ]


@pytest.fixture
def start(
    start_nvim: StartNeovim, scripted_server: PrepareScript, workspace: Path, tmp_path: Path
) -> Callable[[], Neovim]:
    """Start a Neovim that keeps its state where the others do, and open a chat."""
    subprocess.run(["git", "init", "-q", str(workspace)], check=True)

    def start() -> Neovim:
        works = turn(ran(workspace / "new.txt"), status("idle"))
        server = scripted_server(handshake(), works)
        return start_chat(
            start_nvim,
            server,
            settings={"approval": {"guard": 0}},
            environment={"XDG_STATE_HOME": str(tmp_path / "state")},
            columns=80,
        )

    return start


Files: TypeAlias = dict[str, tuple[bytes, int]]


def state(workspace: Path) -> Files:
    files = (it for it in workspace.rglob("*") if it.is_file() and ".git" not in it.parts)
    return {str(it): (it.read_bytes(), stat.S_IMODE(it.stat().st_mode)) for it in files}


def is_saved(folder: Path, *, runs: bool = False) -> bool:
    """Return whether a turn is saved that has ended, or that runs a command."""
    told = b""
    for head in folder.rglob("HEAD"):
        command = ["git", "-C", str(head.parent), "for-each-ref", "--format=%(contents)"]
        done = subprocess.run([*command, "refs/turns/"], capture_output=True, check=True)
        told += done.stdout
    return b'"until"' in told and (b'"until": 0' in told) is runs


def undo(nvim: Neovim, chat: str, line: str, said: str, keys: str = "u") -> None:
    nvim.lua("require('eca').open({ chat = ... })", chat)
    nvim.command(f"Eca {line}")
    nvim.wait_screen("secret.txt")
    nvim.keys(keys)
    nvim.wait_screen(said)


def let_work(nvim: Neovim, workspace: Path) -> None:
    """Approve a command, which rewrites one file, deletes one and makes one, and goes on."""
    say(nvim, "tidy up")
    nvim.wait_screen("allow this?")
    nvim.command("Eca approve")
    nvim.wait_for((workspace / "new.txt").exists, "the command to work")
    (workspace / "code.txt").write_text("rewritten\n")
    (workspace / "secret.txt").unlink()


@pytest.fixture
def before(workspace: Path) -> Files:
    """Make the files that a command will change."""
    (workspace / "code.txt").write_text("1\n2\n3\n")
    (workspace / "secret.txt").write_text("secret\n")
    (workspace / "secret.txt").chmod(0o600)
    return state(workspace)


def test_a_command_is_undone_after_a_restart_and_redone_after_another(
    start: Callable[[], Neovim], workspace: Path, tmp_path: Path, before: Files
) -> None:
    nvim = start()
    chat = nvim.eval("luaeval('require(\"eca\").status().chat')")
    let_work(nvim, workspace)
    after = state(workspace)
    nvim.command("Eca stop")
    wait_idle(nvim)
    nvim.command("Eca changes")
    nvim.wait_screen("new.txt|1")
    nvim.wait_for(lambda: is_saved(tmp_path / "state"), "the turn to be saved")
    nvim.finish()
    second = start()
    undo(second, chat, "undo-turn", "turn 1 undone in 3 files")
    assert state(workspace) == before
    second.finish()
    undo(start(), chat, "undo-turn 1", "turn 1 redone in 3 files")
    assert state(workspace) == after


def test_what_a_command_did_until_a_kill_is_undone(
    start: Callable[[], Neovim], workspace: Path, tmp_path: Path, before: Files
) -> None:
    nvim = start()
    chat = nvim.eval("luaeval('require(\"eca\").status().chat')")
    let_work(nvim, workspace)
    nvim.wait_for(lambda: is_saved(tmp_path / "state", runs=True), "the turn to be saved")
    nvim.kill(signal.SIGKILL)
    assert nvim.child.orphans(PATIENCE) == set()
    nvim.child.close()
    nvim = start()
    undo(nvim, chat, "undo-turn", "turn 1 undone in 3 files", "Tu")
    assert state(workspace) == before
    let_work(nvim, workspace)
    nvim.wait_for(lambda: is_saved(tmp_path / "state", runs=True), "the turn to be saved")
    os.kill(host_of(nvim), signal.SIGKILL)
    nvim.wait_until("require('eca').status().server == 'failed'")
    nvim.take_errors()
    undo(nvim, chat, "undo-turn", "turn 2 undone in 3 files", "Tu")
    assert state(workspace) == before
