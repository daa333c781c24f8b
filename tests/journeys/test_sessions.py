"""Chats that go on: after a kill of the agent, and in another Neovim."""

import os
import signal
from pathlib import Path

from tests.journeys.agents import RealAgent
from tests.journeys.answers import WIDTH, prompt
from tests.support.editor import Neovim
from tests.support.factories import StartNeovim
from tests.ui.remembered import Reader
from tests.ui.talk import catch_up, lines_of, wait_idle, wait_line

LOST = "it does not know what was said"


def begin(start_nvim: StartNeovim, agent: RealAgent, state: Path) -> Neovim:
    """Open a chat in a Neovim that keeps its state where the others do."""
    environment = {"XDG_STATE_HOME": str(state)}
    nvim = start_nvim(settings=agent.settings, columns=WIDTH, lines=40, environment=environment)
    nvim.keys(":EcaChat<CR>")
    nvim.wait_until("require('eca').status().server == 'ready'")
    return nvim


def kill_agent(nvim: Neovim, agent: RealAgent) -> None:
    """Kill the agent's processes."""
    program = agent.command[0].encode()
    for pid in nvim.child.descendants():
        command = Path(f"/proc/{pid}/cmdline")
        if command.exists() and program in command.read_bytes():
            os.kill(pid, signal.SIGKILL)


def test_a_chat_goes_on_after_a_kill_and_in_another_neovim(
    start_nvim: StartNeovim, agent: RealAgent, tmp_path: Path
) -> None:
    nvim = begin(start_nvim, agent, tmp_path / "state")
    prompt(nvim, {"say": "remember this"})
    wait_line(nvim, "remember this")
    wait_idle(nvim)
    kill_agent(nvim, agent)
    wait_line(nvim, "the agent ended")
    prompt(nvim, {"say": "after the kill"})
    wait_line(nvim, "after the kill")
    wait_idle(nvim)
    assert LOST not in "\n".join(lines_of(nvim))
    catch_up(nvim)
    nvim.finish()

    later = begin(start_nvim, agent, tmp_path / "state")
    later.keys(":Eca resume<CR>")
    Reader(later).choose("Resume", "go")
    wait_line(later, "remember this")
    wait_line(later, "after the kill")
    prompt(later, {"say": "in another Neovim"})
    wait_line(later, "in another Neovim")
    wait_idle(later)
    assert LOST not in "\n".join(lines_of(later))
