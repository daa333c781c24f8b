"""The server starts while the host starts, only once, and never outlives the host."""

import json
import os
import select
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.factories import StartNeovim
from tests.support.launch import REPOSITORY
from tests.support.processes import wait_gone
from tests.ui.talk import wait_line

from eca_nvim.nvim.head_start import HEAD_START

PACKAGE = REPOSITORY / "rplugin" / "python3" / "eca_nvim"
PATIENCE_S = 60
TELLS = f"""
import os, sys
with open(sys.argv[1], "w") as told:
    told.write(f"{{os.getpid()}} {{os.getcwd()}} {{os.environ.get({HEAD_START!r})}}")
sys.stdin.read()
"""
"""A server that writes into a pipe that it runs, and says nothing more."""


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    """Return a pipe with a name: reading it waits until somebody writes."""
    path = tmp_path / "told"
    os.mkfifo(path)
    return path


@pytest.fixture
def host(tmp_path: Path, pipe: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Start a host whose Neovim never says a word."""
    server = {"command": [sys.executable, "-c", TELLS, str(pipe)]}
    wanted = {"settings": {"server": server}, "folder": str(tmp_path)}
    script = str(PACKAGE / "nvim" / "launch.py")
    with subprocess.Popen(
        [sys.executable, "-I", script, str(PACKAGE), "remedy"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, HEAD_START: json.dumps(wanted)},
        start_new_session=True,
    ) as process:
        yield process
        process.kill()


def told(pipe: Path) -> str:
    """Wait for what is written into the pipe; nothing is, if nobody does in good time."""
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        select.select([reader], [], [], PATIENCE_S)
        return os.read(reader, 1000).decode()
    finally:
        os.close(reader)


def test_the_server_starts_before_neovim_is_heard_and_ends_with_the_host(
    host: subprocess.Popen[bytes], pipe: Path, tmp_path: Path
) -> None:
    pid, folder, variable = told(pipe).split()
    assert (folder, variable) == (str(tmp_path), "None")
    assert host.stdin is not None
    host.stdin.close()
    assert not wait_gone({host.pid, int(pid)}, PATIENCE_S)


def test_nothing_that_takes_long_is_imported_before_it() -> None:
    """Nor is it by a module of our own that this one imports."""
    code = "import sys, eca_nvim.nvim.head_start; print(*sys.modules)"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(ended.stdout.split())
    assert not {"anyio", "asyncio", "msgspec", "pynvim"} & loaded


STARTS = """
import sys
with open(sys.argv[1], "a") as starts:
    starts.write("started ")
sys.stdin.read(1)
print("not today", file=sys.stderr)
sys.exit(3)
"""


def test_the_first_chat_takes_it(start_nvim: StartNeovim, tmp_path: Path) -> None:
    starts = tmp_path / "starts"
    server = {"command": [sys.executable, "-c", STARTS, str(starts)]}
    nvim = start_nvim(settings={"server": server})
    nvim.keys(":EcaChat<CR>")
    wait_line(nvim, "exit code 3: not today")
    assert starts.read_text() == "started "


def test_what_cannot_be_started_is_told_by_the_start_that_follows(
    start_nvim: StartNeovim, tmp_path: Path
) -> None:
    script = tmp_path / "server"
    script.write_text("#!/no/such/interpreter\n")
    script.chmod(0o755)
    nvim = start_nvim(settings={"server": {"command": [str(script)]}})
    nvim.keys(":EcaChat<CR>")
    wait_line(nvim, "needs an interpreter that is missing")
