"""A host that hangs: a restart replaces it, and loses nothing that is sent meanwhile."""

import os
import signal
import sys
from pathlib import Path

import pytest
from tests.support.factories import PrepareScript, StartNeovim
from tests.support.processes import wait_gone
from tests.support.script import handshake, offspring, turn
from tests.ui.talk import draft, host_of, lines_of, prompts, say, start_chat

pytestmark = [pytest.mark.either_nvim, pytest.mark.whole_start]

DEADLINE = 60.0
READY = "require('eca').status().server == 'ready'"
CAN_HANG = """
import runpy, signal, sys
def hang(*_):
    while True:
        pass
signal.signal(signal.SIGUSR1, hang)
sys.argv[:] = sys.argv[2:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""
"""Runs the host's script, and for ever after SIGUSR1."""
STATES = {"hangs": signal.SIGUSR1, "stopped": signal.SIGSTOP}


@pytest.fixture
def python(tmp_path: Path) -> str:
    """Return a Python whose host can be made to hang."""
    code, path = tmp_path / "code.py", tmp_path / "python"
    code.write_text(CAN_HANG)
    path.write_text(f'#!/bin/sh\nexec {sys.executable} -I {code} "$@"\n')
    path.chmod(0o755)
    return str(path)


@pytest.mark.parametrize("state", STATES)
def test_a_restart_ends_a_host_that_does_not_answer(
    state: str, python: str, start_nvim: StartNeovim, scripted_server: PrepareScript
) -> None:
    server = scripted_server(offspring(), handshake(), turn())
    nvim = start_chat(start_nvim, server, settings={"python": python})
    nvim.wait_until(READY)
    old = nvim.child.family() - {nvim.pid}
    os.kill(host_of(nvim), STATES[state])
    nvim.lua("require('eca.host').PATIENCE = 500")
    nvim.keys(":Eca restart<CR>")
    say(nvim, "hello")
    nvim.wait_for(lambda: prompts(server) == ["hello"], "the prompt, by another host")
    assert not wait_gone(old, DEADLINE)
    told = "the plugin host did not answer: it was killed, and another one starts"
    assert [line for line in nvim.messages().splitlines() if "host" in line] == [f"eca: {told}"]
    assert draft(nvim) == ""
    nvim.wait_for(lambda: "hello" in lines_of(nvim), "the prompt in the chat")
    nvim.take_errors()


def test_a_host_that_hangs_ends_with_neovim(
    python: str, start_nvim: StartNeovim, scripted_server: PrepareScript
) -> None:
    server = scripted_server(offspring(), handshake())
    nvim = start_chat(start_nvim, server, settings={"python": python})
    nvim.wait_until(READY)
    family = nvim.child.family()
    os.kill(host_of(nvim), signal.SIGUSR1)
    assert nvim.quit() == 0
    assert not wait_gone(family, DEADLINE)


def test_a_host_answers_a_restart_whatever_it_has_to_draw(
    start_nvim: StartNeovim, scripted_server: PrepareScript
) -> None:
    server = scripted_server(handshake(), turn())
    nvim = start_chat(start_nvim, server)
    nvim.wait_until(READY)
    host = host_of(nvim)
    nvim.lua("require('eca.view.frames').apply = function() end")
    nvim.keys(":Eca restart<CR>")
    say(nvim, "hello")
    nvim.wait_until("#require('eca.host.held_intents').all() == 0")
    assert host_of(nvim) == host
