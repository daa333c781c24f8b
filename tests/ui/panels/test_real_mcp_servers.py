"""`:Eca mcp` with real MCP servers: one is added, fails, is mended, hangs, dies and is removed."""

import json
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from tests.support.editor import Neovim
from tests.support.factories import StartNeovim
from tests.support.launch import REPOSITORY

pytestmark = pytest.mark.either_nvim

TIME = f"{sys.executable} -m mcp_server_time"
CALL = 'time get_current_time {"timezone": "UTC"}'


@pytest.fixture
def nvim(start_nvim: StartNeovim, tmp_path: Path) -> Neovim:
    """Start Neovim with an ECA server that has two MCP servers, and show them."""
    home = tmp_path / "config"
    (home / "eca").mkdir(parents=True)
    servers = {
        "bad": {"command": "no-such-program"},
        "hang": {"command": "sleep", "args": ["1000"]},
    }
    (home / "eca" / "config.json").write_text(json.dumps({"mcpServers": servers}))
    python = ["env", f"PYTHONPATH={REPOSITORY}", sys.executable]
    settings = {"server": {"command": [*python, "-P", "-m", "tests.support.eca_of_mcp"]}}
    environment = {"XDG_CONFIG_HOME": str(home)}
    nvim = start_nvim(settings=settings, columns=80, lines=40, environment=environment)
    nvim.keys(":EcaChat<CR><Esc>:Eca mcp<CR>")
    nvim.wait_screen("mcp of eca: 0 of 2 running")
    return nvim


def row(nvim: Neovim, name: str) -> None:
    """Put the cursor on the row of a server."""
    nvim.keys(f"gg/ {name} <CR>")


def program(home: str) -> int:
    """Return the process id of the MCP server of our ECA server, which uses this folder."""
    wanted = f"XDG_CONFIG_HOME={home}\0".encode()
    for folder in (it for it in Path("/proc").iterdir() if it.name.isdigit()):
        with suppress(OSError):  # it has ended, or is another user's
            parent = (folder / "stat").read_text().rpartition(")")[2].split()[1]
            started_by = Path("/proc", parent, "environ").read_bytes()
            if b"mcp_server_time" in (folder / "cmdline").read_bytes() and wanted in started_by:
                return int(folder.name)
    raise AssertionError("it does not run")


def test_a_server_is_added_fails_is_mended_dies_and_is_removed(nvim: Neovim) -> None:
    screen = nvim.wait_screen("No such file or directory: 'no-")
    assert "starting" in screen  # the other one answers nothing
    nvim.keys("a")
    nvim.keys("time<CR>")
    nvim.keys(f"{TIME}<CR>")
    nvim.keys("1<CR>")
    nvim.wait_screen("mcp of eca: 1 of 3 running")
    row(nvim, "time")
    nvim.keys("<CR>")
    nvim.wait_screen("convert_time")
    # One that fails is mended by another command.
    row(nvim, "bad")
    nvim.keys("c")
    nvim.keys(f"<C-u>{TIME}<CR>")
    nvim.wait_screen("mcp of eca: 2 of 3 running")
    # One that dies stays `running`, and a call to it never ends: a restart mends that.
    row(nvim, "bad")
    nvim.keys("D1<CR>")
    nvim.wait_screen("mcp of eca: 1 of 2 running")
    os.kill(program(nvim.eval("$XDG_CONFIG_HOME")), signal.SIGKILL)
    row(nvim, "time")
    nvim.keys("r")
    nvim.wait_screen("restart …")
    nvim.wait_screen("1 of 2 running")
    nvim.wait_screen(lambda screen: "restart …" not in screen)
    nvim.keys(f":EcaChat {CALL}<CR><Esc>")
    nvim.wait_screen("timezone")
