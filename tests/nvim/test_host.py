"""The host as a child of Neovim: its start, its end, and nothing outlives it."""

import os
import shutil
import signal
import sys
import venv
from contextlib import suppress
from pathlib import Path

import pytest
from tests.support.editor import Neovim
from tests.support.factories import StartNeovim
from tests.support.launch import REPOSITORY
from tests.support.processes import command_line, wait_gone
from tests.ui.talk import host_of, lines_of

pytestmark = [pytest.mark.either_nvim, pytest.mark.whole_start]

STUBBORN = """
import signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
signal.signal(signal.SIGHUP, signal.SIG_IGN)
print("deaf", file=sys.stderr, flush=True)
while True:
    time.sleep(60)
"""
ALL_LINES = "return vim.api.nvim_buf_get_lines(require('eca').chats()[1].buf, 0, -1, false)"
SERVER = {"command": [sys.executable, "-c", STUBBORN]}

GONE_S = 60
"""Seconds in which a server that ignores its end is gone, on a busy machine."""


def child(nvim: Neovim, part: str) -> int:
    """Wait for a process of Neovim whose command line holds a text."""

    def find() -> list[int]:
        return [pid for pid in nvim.child.descendants() if part in command_line(pid)]

    return nvim.wait_for(find, f"a process with {part!r}")[0]


def open_with_stubborn_server(start_nvim: StartNeovim) -> tuple[Neovim, int, int]:
    """Start all three."""
    nvim = start_nvim(settings={"server": SERVER})
    nvim.keys(":EcaChat<CR>")
    log = Path(nvim.lua("return require('eca.host.log').path()"))
    nvim.wait_for(lambda: log.exists() and "eca: stderr: deaf" in log.read_text(), "the server")
    return nvim, host_of(nvim), child(nvim, "SIG_IGN")


def test_quitting_waits_for_nothing_and_leaves_nothing(start_nvim: StartNeovim) -> None:
    nvim, host_pid, server_pid = open_with_stubborn_server(start_nvim)
    os.kill(host_pid, signal.SIGSTOP)
    assert nvim.quit() == 0  # it does not wait; otherwise it would kill the host
    with suppress(ProcessLookupError):  # the guardian was quicker
        os.kill(host_pid, signal.SIGCONT)
    assert not wait_gone({host_pid, server_pid}, GONE_S)


def test_terminating_the_host_ends_the_server(start_nvim: StartNeovim) -> None:
    nvim, host_pid, server_pid = open_with_stubborn_server(start_nvim)
    nvim.check_errors = False
    os.kill(host_pid, signal.SIGTERM)
    assert not wait_gone({host_pid, server_pid}, GONE_S)
    nvim.wait_screen("the plugin host ended")


def test_killing_the_host_ends_the_server_and_is_told_in_one_line(start_nvim: StartNeovim) -> None:
    nvim, host_pid, server_pid = open_with_stubborn_server(start_nvim)
    os.kill(host_pid, signal.SIGKILL)
    nvim.wait_screen("the plugin host ended, exit code 137: your next prompt")
    nvim.wait_for(lambda: not wait_gone({server_pid}, 0), "the end of the server")
    assert nvim.lua("return require('eca').status().server") == "failed"
    nvim.wait_for(lambda: "the plugin host ended" in nvim.messages(), "the message")
    assert len(nvim.take_errors()) <= 1


@pytest.mark.parametrize("by", ["restart", "command", "send"])
def test_after_the_hosts_end_it_starts_again(
    by: str, start_nvim: StartNeovim, demo_server: list[str]
) -> None:
    nvim = start_nvim(settings={"server": {"command": demo_server}}, columns=120, lines=40)
    nvim.keys(":EcaChat hello<CR>")
    nvim.wait_screen("I am the demo agent")
    os.kill(host_of(nvim), signal.SIGKILL)
    nvim.wait_screen("the plugin host ended")
    assert nvim.lua("return require('eca').status().state") == "idle"
    if by == "restart":
        nvim.keys(":Eca restart<CR>")
    if by == "send":
        code = "require('eca').send('stream 20') return require('eca').status().state"
        assert nvim.lua(code) == "running"
    else:
        nvim.keys(":EcaChat stream 20<CR>")
    nvim.wait_until("require('eca').status().title == 'stream 20'")
    nvim.wait_until("require('eca').status().state == 'idle'")
    chat = "\n".join(
        nvim.lua("return vim.api.nvim_buf_get_lines(require('eca').chats()[1].buf, 0, -1, false)")
    )
    assert "Hello! I am the" in chat, "what was said stays"
    assert "stream 20" in chat
    assert "line 12" in chat
    assert "the plugin host is not running" not in nvim.messages()
    nvim.take_errors()


def test_a_python_that_is_not_there_is_told_at_once(start_nvim: StartNeovim) -> None:
    nvim = start_nvim(settings={"python": "/nowhere/python"}, columns=80)
    nvim.keys(":EcaChat hi<CR>")
    told = "fix 'python', :Eca restart: no /nowhere/python"
    nvim.wait_screen(f"eca: {told}")
    nvim.wait_for(lambda: lines_of(nvim)[-1] == told, "the same in the chat")
    assert nvim.lua("return require('eca').status().server") == "failed"
    nvim.take_errors()


@pytest.fixture(scope="module")
def bare_python(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("bare")
    venv.create(folder, with_pip=False, symlinks=True)
    return str(folder / "bin" / "python")


def test_missing_modules_are_told_in_one_line(start_nvim: StartNeovim, bare_python: str) -> None:
    nvim = start_nvim(settings={"python": bare_python}, columns=80)
    nvim.keys(":EcaChat hi<CR>")
    nvim.wait_screen("eca: fix 'python', :Eca restart")
    nvim.wait_screen("lacks pynvim and 4 more")
    told = f"fix 'python', :Eca restart: {bare_python} lacks pynvim and 4 more"
    nvim.wait_for(lambda: lines_of(nvim)[-1] == told, "the whole line in the chat")
    assert len([line for line in nvim.messages().splitlines() if line]) == 1
    nvim.take_errors()


def test_a_plugin_whose_parts_do_not_load_is_told_in_one_line(
    start_nvim: StartNeovim, tmp_path: Path
) -> None:
    broken = tmp_path / "plugin"
    for folder in ("lua", "plugin", "rplugin"):
        shutil.copytree(
            REPOSITORY / folder, broken / folder, ignore=shutil.ignore_patterns("__pycache__")
        )
    (broken / "rplugin/python3/eca_nvim/nvim/app.py").write_text("import nowhere\n")
    nvim = start_nvim("--cmd", f"set rtp^={broken}", columns=160)
    nvim.keys(":EcaChat hi<CR>")
    nvim.wait_screen("the plugin is broken, update it: ModuleNotFoundError")
    assert nvim.lua("return require('eca').status().server") == "failed"
    assert len([line for line in nvim.messages().splitlines() if line]) == 1
    nvim.take_errors()


def test_the_environment_of_the_user_does_not_disturb(
    start_nvim: StartNeovim, demo_server: list[str], tmp_path: Path
) -> None:
    (tmp_path / "pynvim.py").write_text("raise SystemExit('not this one')")
    nvim = start_nvim(
        settings={"server": {"command": demo_server}},
        environment={"PYTHONPATH": str(tmp_path), "VIRTUAL_ENV": "/nowhere", "PYTHONHOME": "/no"},
    )
    nvim.lua("vim.env.PYTHONHOME = '/nowhere'")
    nvim.keys(":EcaChat<CR>")
    nvim.wait_until("require('eca.state.mirror').server().state ~= 'stopped'")


WATCH_SENT = """
_G.sent = {}
local notify = vim.rpcnotify
function vim.rpcnotify(channel, method, arguments)
  table.insert(_G.sent, arguments and arguments[1] or nil)
  return notify(channel, method, arguments)
end
"""
DROP = ":lua require('eca').drop({ id = require('eca').previews()[1].id })<CR>"
BEGUN_AND_ENDED = {
    "show_panel": (":Eca jobs<CR>q", "close_panel"),
    "rewrite": (f":1Eca rewrite say hello<CR>{DROP}", "stop_preview"),
    "ask_in_place": (f":1Eca ask why<CR>{DROP}", "stop_answer"),
}


@pytest.mark.parametrize("begun", BEGUN_AND_ENDED)
def test_what_is_ended_while_the_host_starts_does_not_go_on_in_it(
    begun: str, start_nvim: StartNeovim
) -> None:
    keys, ended = BEGUN_AND_ENDED[begun]
    nvim = start_nvim("README.md", init=WATCH_SENT, settings={"server": SERVER})
    nvim.keys(keys)
    names = [it for it in nvim.lua("return _G.sent") if it in (begun, ended)]
    assert names == [begun, ended]
