"""The plugin in pynvim's hosts: both find it, and load it only when asked for."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.editor import Neovim
from tests.support.factories import PrepareScript, StartNeovim
from tests.support.processes import command_line, wait_gone
from tests.support.script import handshake, offspring

pytestmark = [pytest.mark.either_nvim, pytest.mark.whole_start]

INIT = f"vim.g.loaded_python3_provider, vim.g.python3_host_prog = nil, {sys.executable!r}"
OWN = "local own = ... require('eca.host.python').own = function() return own end"
WITHOUT_PYNVIM = """
import sys
sys.modules['pynvim'] = None
import eca_nvim, eca_nvim.demo, eca_nvim.session
assert 'EcaPlugin' in dir(eca_nvim)
try:
    eca_nvim.nonsense
except AttributeError as fault:
    print(fault)
"""


def test_other_layers_need_no_pynvim() -> None:
    command = [sys.executable, "-c", WITHOUT_PYNVIM]
    ended = subprocess.run(command, capture_output=True, text=True, check=True, timeout=30)
    assert ended.stdout == "module 'eca_nvim' has no attribute 'nonsense'\n"


GARBAGE = """
import gc
from collections import deque
from weakref import WeakSet
from eca_nvim.nvim.plugin import collect_garbage
gc.disable()
collect_garbage()

class Ring:
    def __init__(self):
        self.me = self

known, used, most = WeakSet(), deque(maxlen=30_000), 0
for _ in range(300_000):
    used.append(Ring())
    known.add(used[-1])
    most = max(most, len(known))
print(most)
"""


def test_garbage_that_was_used_for_long_is_collected_soon() -> None:
    command = [sys.executable, "-c", GARBAGE]
    ended = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert int(ended.stdout) < 120_000


@pytest.fixture
def registered(start_nvim: StartNeovim, tmp_path: Path) -> Neovim:
    """Start a Neovim of a user who has run `:UpdateRemotePlugins` and set no other Python.

    `--clean` leaves the manifest alone, so it is named and read by hand.
    """
    manifest = tmp_path / "rplugin.vim"
    first = start_nvim(settings={"python": None}, init=INIT)
    first.command(f"let g:loaded_remote_plugins = '{manifest}' | UpdateRemotePlugins")
    assert first.quit() == 0
    nvim = start_nvim(settings={"python": None}, init=INIT, columns=160)
    nvim.command(f"source {manifest}")
    return nvim


def runs_own_host(nvim: Neovim) -> bool:
    return any("launch.py" in command_line(pid) for pid in nvim.child.descendants())


def test_the_shared_host_runs_it_for_those_who_have_no_other(
    registered: Neovim, demo_server: list[str]
) -> None:
    registered.lua("require('eca').setup({ server = { command = ... } })", demo_server)
    registered.lua(OWN, "/nowhere/python")
    registered.keys(":EcaChat hello<CR>")
    registered.wait_screen("I am the demo agent")
    assert not runs_own_host(registered)


@pytest.fixture
def shared_host(registered: Neovim, scripted_server: PrepareScript) -> int:
    """Open a chat in the shared host; gives its process id."""
    server = scripted_server(offspring(), handshake())
    registered.lua("require('eca').setup({ server = { command = ... } })", server.command)
    registered.lua(OWN, "/nowhere/python")
    registered.keys(":EcaChat<CR>")
    registered.wait_until("require('eca').status().server == 'ready'")
    [host] = [pid for pid in registered.child.family() if "start_host" in command_line(pid)]
    return host


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_nothing_outlives_neovim_and_its_shared_host(
    number: signal.Signals, registered: Neovim, shared_host: int
) -> None:
    family = registered.child.family()
    os.kill(shared_host, number)
    registered.kill(signal.SIGKILL)
    assert not wait_gone(family, 60)


def test_a_shared_host_that_hangs_is_told_in_one_line(registered: Neovim, shared_host: int) -> None:
    os.kill(shared_host, signal.SIGSTOP)
    registered.lua("require('eca.host').PATIENCE = 100")
    registered.keys(":Eca restart<CR>")
    registered.wait_screen("the shared Python host does not answer: restart Neovim")
    assert registered.lua("return require('eca').status().server") == "failed"
    registered.take_errors()


def test_an_environment_of_its_own_comes_first(registered: Neovim, demo_server: list[str]) -> None:
    registered.lua("require('eca').setup({ server = { command = ... } })", demo_server)
    registered.lua(OWN, sys.executable)
    registered.keys(":EcaChat hello<CR>")
    registered.wait_screen("I am the demo agent")
    assert runs_own_host(registered)


def test_a_shared_host_that_cannot_start_is_told_in_one_line(
    start_nvim: StartNeovim, tmp_path: Path
) -> None:
    nvim = start_nvim(settings={"python": None}, columns=200)
    nvim.lua(OWN, "/nowhere/python")
    nvim.command("function EcaIntent(...) \n throw 'no provider' \n endfunction")
    nvim.keys(":EcaChat hello<CR>")
    nvim.wait_screen("see :checkhealth provider")
    assert nvim.lua("return require('eca').status().server") == "failed"
    assert nvim.messages().count("no provider") == 1
    nvim.take_errors()
