"""A server that dies while nobody waits for it comes back by itself, of either protocol."""

import os
import signal
from typing import Final

import pytest
from tests.support.editor import Neovim
from tests.support.factories import StartNeovim
from tests.support.processes import command_line
from tests.ui.talk import lines_of, say, wait_idle, wait_line

pytestmark = [pytest.mark.either_nvim, pytest.mark.whole_start]

STATUS: Final = "require('eca').status().{}"
READY: Final = f"{STATUS.format('server')} == 'ready'"
AGAIN: Final = "it starts again in"
ENDED: Final = "your next prompt or :Eca restart starts it again"


@pytest.fixture(params=["demo", "acp-demo"])
def nvim(request: pytest.FixtureRequest, start_nvim: StartNeovim) -> Neovim:
    nvim = start_nvim(settings={"server": request.param}, columns=110, lines=30)
    nvim.keys(":EcaChat<CR>")
    nvim.wait_until(READY)
    return nvim


def kill(nvim: Neovim) -> int:
    """Kill the server; returns the id that its process had."""
    (process,) = [it for it in nvim.child.descendants() if "eca_nvim.demo" in command_line(it)]
    os.kill(process, signal.SIGKILL)
    return process


def test_it_is_back_before_the_next_prompt(nvim: Neovim) -> None:
    say(nvim, "hello")
    wait_line(nvim, "Stop me with")
    wait_idle(nvim)
    kill(nvim)
    wait_line(nvim, "signal 9 (Killed): it starts again in 1 s, :Eca stop prevents it")
    nvim.wait_until(READY)
    say(nvim, "stream")
    nvim.wait_until(f"{STATUS.format('state')} == 'running'")
    assert not any(ENDED in line for line in lines_of(nvim))
    # In a turn it ends for good: somebody waits for an answer.
    kill(nvim)
    wait_line(nvim, ENDED)
    assert "".join(lines_of(nvim)).count(AGAIN) == 1


def test_it_stays_down_where_a_request_waited_or_the_user_stops_it(nvim: Neovim) -> None:
    say(nvim, "fix the greeting")
    nvim.wait_until(f"{STATUS.format('pending')} == 1")
    kill(nvim)
    wait_line(nvim, ENDED)
    nvim.keys(":Eca restart<CR>")
    nvim.wait_until(READY)
    kill(nvim)
    wait_line(nvim, "it starts again in 1 s")
    nvim.keys(":Eca stop<CR>")
    nvim.wait_screen("the server stays down until your next prompt or :Eca restart")
    assert nvim.lua(f"return {STATUS.format('server')}") == "failed"
