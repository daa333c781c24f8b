"""Commands of real agents: seen while they run, and stopped with all that they have started."""

import os
import signal
from pathlib import Path

from tests.journeys.agents import RealAgent
from tests.journeys.answers import ask_first, choose, prompt, start, waits
from tests.support.editor import Neovim
from tests.support.factories import StartNeovim
from tests.support.processes import command_line
from tests.ui.talk import host_of, wait_idle, wait_line

WAITS = "touch begun; until test -e go; do sleep 0.2; echo it has begun; done; echo it goes on"
"""A command that waits for a file; it also makes one, as some agents do not ask for others."""
PATIENCE = 20.0
NEVER = "touch begun; echo it has begun again; sleep 4321 & sleep 4321; echo never"


def test_a_command_is_seen_while_it_runs_and_can_be_stopped(
    start_nvim: StartNeovim, agent: RealAgent, workspace: Path
) -> None:
    nvim = start(start_nvim, agent)
    prompt(nvim, {"run": WAITS}, {"say": "it ran"})
    choose(nvim, waits(nvim, "it has begun"), "allow_once")
    if agent.streams:
        nvim.wait_screen("│ it has begun")
    assert nvim.lua("return require('eca').status().state") == "running"
    (workspace / "go").touch()
    wait_line(nvim, "it ran")
    wait_idle(nvim)
    if "output" not in agent.lacks:
        assert "it goes on" in nvim.lua("return require('eca').transcript()")

    prompt(nvim, {"run": NEVER}, {"say": "unreachable"})
    choose(nvim, waits(nvim, "it has begun again"), "allow_once")
    nvim.wait_for(lambda: len(sleeping(nvim)) == 2, "the command to run")
    nvim.keys("<C-c>")
    wait_idle(nvim)
    if "end" not in agent.lacks:
        nvim.wait_for(lambda: not sleeping(nvim), "the command and what it started to end")
    assert "unreachable" not in nvim.lua("return require('eca').transcript()")
    prompt(nvim, {"say": "still here"})
    wait_line(nvim, "still here")


def sleeping(nvim: Neovim) -> list[int]:
    """Return the processes of the command that never ends."""
    return [it for it in nvim.child.family() if command_line(it) == "sleep 4321"]


def test_whoever_is_killed_in_a_command_nothing_is_left_and_the_next_prompt_works(
    start_nvim: StartNeovim, agent: RealAgent
) -> None:
    nvim = start(start_nvim, agent)
    in_command(nvim)
    pid, *_ = sorted(it for it in nvim.child.descendants() if is_agent(it, agent))
    os.kill(pid, signal.SIGKILL)
    wait_line(nvim, "the agent ended, signal 9")
    nvim.wait_for(lambda: not sleeping(nvim), "the command to end with the agent")
    goes_on(nvim, "after the agent")

    in_command(nvim)
    os.kill(host_of(nvim), signal.SIGKILL)
    nvim.wait_until("require('eca').status().server == 'failed'")
    nvim.wait_for(lambda: not sleeping(nvim), "the command to end with the host")
    nvim.take_errors()
    nvim.keys(":Eca restart<CR>")
    nvim.wait_until("require('eca').status().server == 'ready'")
    ask_first(nvim, agent)
    goes_on(nvim, "after the host")

    in_command(nvim)
    nvim.kill(signal.SIGKILL)
    assert [command_line(it) for it in nvim.child.orphans(PATIENCE)] == []


def in_command(nvim: Neovim) -> None:
    """Let the agent run a command that never ends."""
    prompt(nvim, {"run": NEVER})
    choose(nvim, waits(nvim, "it has begun again"), "allow_once")
    nvim.wait_for(lambda: len(sleeping(nvim)) == 2, "the command to run")


def goes_on(nvim: Neovim, text: str) -> None:
    """Have a turn."""
    prompt(nvim, {"say": text})
    wait_line(nvim, text)
    wait_idle(nvim)


def is_agent(pid: int, agent: RealAgent) -> bool:
    """Return whether a process is the one that we have started for an agent."""
    return agent.command[0] in command_line(pid)
