"""How long `:EcaChat` takes: until its windows are open, and until a prompt would be sent at once.

`lua/opening.lua` measures it inside Neovim, for the first call: the host starts, and the plugin's
Lua is loaded. The floor is the smallest remote plugin (`bare_plugin.py`): the time until its
function answers for the first time, in a host that Neovim starts itself, with the same Python.

The server (`instant.sh`) needs no interpreter. It is ready at once, or it takes as long as the bare
host has just taken, which is measured by itself and subtracted. Our host starts meanwhile: with a
server of a fixed time, less of that was hidden the slower the machine was. The floor of the windows
is plain Lua that opens two empty ones.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from subprocess import PIPE

from tests.support.launch import REPOSITORY

from bench import rows
from bench.editor import Editor
from bench.figures import Samples
from bench.screen import Value

OPENING = REPOSITORY / "bench" / "lua" / "opening.lua"
SERVER = REPOSITORY / "bench" / "instant.sh"
BARE_HOST = REPOSITORY / "bench" / "lua" / "bare_host.lua"
BARE_PLUGIN = REPOSITORY / "bench" / "bare_plugin.py"


def measure(version: str) -> Samples:
    """Start the bare host, and open chats in fresh Neovims. Raises Unmeasurable."""
    with _editor(version, {}) as editor:
        plain = editor.run_file(OPENING, "open_plain") / 1000
        bare = editor.run_file(BARE_HOST, "call", sys.executable, str(BARE_PLUGIN)) / 1000
    boot = f"{bare:.3f}"
    _, ready = _open(version, boot)
    window, instant = _open(version)
    return {
        rows.WINDOW: ([window], [plain]),
        rows.INSTANT: ([instant], [bare]),
        rows.READY: ([ready - _server_time(boot)], [bare]),
    }


def _server_time(boot: str) -> float:
    """Start the server by itself; returns the seconds from its start to its answer."""
    started = time.monotonic()
    with subprocess.Popen([str(SERVER), boot], stdin=PIPE, stdout=PIPE) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(b"initialize\n")
        server.stdin.flush()
        server.stdout.read(1)
        took = time.monotonic() - started
        server.stdin.close()
        server.stdout.read()
    return took


def _open(version: str, *arguments: str) -> tuple[float, float]:
    """Open a chat, with arguments for its server; return seconds to the windows, and to ready."""
    command = [str(SERVER), *arguments]
    settings = {"python": sys.executable, "server": {"command": command}}
    with _editor(version, settings) as editor:
        editor.run_file(OPENING, "open")
        editor.wait(lambda: bool(editor.run_file(OPENING, "told")), "the server")
        window, ready = editor.run_file(OPENING, "told")
    return window / 1000, ready / 1000


@contextmanager
def _editor(version: str, settings: Mapping[str, Value]) -> Iterator[Editor]:
    with tempfile.TemporaryDirectory(prefix="eca-bench-") as folder:
        home = Path(folder) / "home"
        editor = Editor(version, home, settings, {"XDG_CACHE_HOME": str(home / "cache")})
        try:
            yield editor
        finally:
            editor.close()
