"""Chats that go on: after a kill of the agent, in another Neovim, and as a copy."""

import os
import signal
from pathlib import Path

from tests.journeys.agents import RealAgent
from tests.journeys.answers import let_it_remember, prompt, start
from tests.journeys.test_going_on import WORD, recalls
from tests.support.editor import Neovim
from tests.support.factories import StartNeovim
from tests.ui.remembered import Reader
from tests.ui.talk import catch_up, lines_of, wait_idle, wait_line

LOST = "it does not know what was said"


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
    nvim = start(start_nvim, agent, tmp_path / "state")
    mode = nvim.wait_until("require('eca').status().agent")
    prompt(nvim, {"say": "remember this"})
    wait_line(nvim, "remember this")
    wait_idle(nvim)
    let_it_remember(nvim, agent)
    kill_agent(nvim, agent)
    wait_line(nvim, "the agent ended")
    prompt(nvim, {"say": "after the kill"})
    wait_line(nvim, "after the kill")
    wait_idle(nvim)
    assert LOST not in "\n".join(lines_of(nvim))
    catch_up(nvim)
    let_it_remember(nvim, agent)
    nvim.finish()

    later = start(start_nvim, agent, tmp_path / "state")
    reader = Reader(later)  # before there is a list
    later.keys(":Eca resume<CR>")
    reader.choose("Resume", "")  # the only one; agents give it titles of their own
    wait_line(later, "remember this")
    wait_line(later, "after the kill")
    prompt(later, {"say": "in another Neovim"})
    wait_line(later, "in another Neovim")
    wait_idle(later)
    assert LOST not in "\n".join(lines_of(later))
    later.wait_until(f"require('eca').status().agent == '{mode}'")


def test_a_copy_of_a_chat_knows_what_was_said_and_asks_as_before(
    start_nvim: StartNeovim, agent: RealAgent
) -> None:
    agent.needs("fork")
    nvim = start(start_nvim, agent)
    mode = nvim.wait_until("require('eca').status().agent")
    prompt(nvim, {"say": f"the word is {WORD}"})
    wait_line(nvim, f"the word is {WORD}")
    wait_idle(nvim)
    nvim.keys(":Eca fork<CR>")
    nvim.wait_until("#require('eca').chats() == 2")
    wait_line(nvim, f"the word is {WORD}")
    recalls(nvim)
    nvim.wait_until(f"require('eca').status().agent == '{mode}'")
