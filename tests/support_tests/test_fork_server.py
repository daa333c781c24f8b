"""Hosts that are forked: they are what Neovim would have started, and end with their stand-in."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.editor import Neovim
from tests.support.factories import StartNeovim
from tests.support.processes import command_line, descendants, wait_gone

PATIENCE = 60.0
CODES = {signal.SIGKILL: 128 + signal.SIGKILL, signal.SIGTERM: 1}


def server_of(nvim: Neovim) -> int:
    """Return the process id of the server."""
    [server] = [it for it in nvim.child.family() if "eca_nvim.demo" in command_line(it)]
    return server


def host_of(nvim: Neovim) -> int:
    """Return the process id of the host itself, which is its server's parent."""
    stat = Path(f"/proc/{server_of(nvim)}/stat").read_text()
    return int(stat.rpartition(")")[2].split()[1])


def chat(start_nvim: StartNeovim, server: list[str]) -> Neovim:
    nvim = start_nvim(settings={"server": {"command": server}}, environment={"OF_THE_TEST": "yes"})
    nvim.keys(":EcaChat hello<CR>")
    nvim.wait_screen("Stop me with")
    return nvim


@pytest.mark.either_nvim
def test_a_forked_host_is_as_neovim_would_have_started_it(
    start_nvim: StartNeovim, quick_demo: list[str], host_python: str, workspace: Path
) -> None:
    nvim = chat(start_nvim, quick_demo)
    host, stands_for_it = host_of(nvim), nvim.lua("return require('eca.host').pid()")
    assert "fork_client.py" in command_line(stands_for_it)
    assert "fork_server.py" in command_line(host)
    assert Path(f"/proc/{host}/cwd").resolve() == workspace
    assert os.getsid(host) == host
    server = server_of(nvim)
    [guardian] = descendants(host) - {server}
    assert b"\0OF_THE_TEST=yes\0" in Path(f"/proc/{server}/environ").read_bytes()
    assert os.getsid(guardian) == guardian
    nvim.quit()
    assert not wait_gone({host, stands_for_it, server, guardian}, PATIENCE)


@pytest.mark.either_nvim
@pytest.mark.parametrize("number", CODES, ids=lambda number: number.name)
def test_a_signal_to_who_stands_for_a_host_ends_the_host(
    start_nvim: StartNeovim, quick_demo: list[str], number: signal.Signals
) -> None:
    nvim = chat(start_nvim, quick_demo)
    host, server = host_of(nvim), server_of(nvim)
    os.kill(nvim.lua("return require('eca.host').pid()"), number)
    assert not wait_gone({host, server}, PATIENCE)
    nvim.wait_screen(f"exit code {CODES[number]}")
    nvim.check_errors = False


def test_what_is_no_host_is_run_by_this_python(forking: str) -> None:
    command = [forking, "-I", "-c", "import sys; print(sys.executable, *sys.argv[1:])", "a b", ""]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert told == f"{sys.executable} a b \n"
