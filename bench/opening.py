"""How long `:EcaChat` takes: to its windows, and until a prompt would go to the server at once.

Measured inside Neovim, by `lua/opening.lua`. The first call is measured: the host starts, and all
of the plugin's Lua is loaded. The server (`instant.sh`) needs no interpreter. It is up at once, or
after as long as a real one takes; that time is none of ours, so it is taken off.

The floor is the least that a remote plugin can be (`bare_plugin.py`): the time that its function
takes to answer for the first time, in a host that Neovim starts by itself, with the same Python.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.support.launch import REPOSITORY

from bench.editor import Editor
from bench.screen import Value

OPENING = REPOSITORY / "bench" / "lua" / "opening.lua"
SERVER = REPOSITORY / "bench" / "instant.sh"
BARE_HOST = REPOSITORY / "bench" / "lua" / "bare_host.lua"
BARE_PLUGIN = REPOSITORY / "bench" / "bare_plugin.py"
BOOT = 0.06
"""Seconds that a server takes to be up: a quick one."""


@dataclass(frozen=True)
class Opening:
    """Seconds from the command to what it brings, and those of the floor, measured right after.

    `ready` is with a server that takes `BOOT` to be up, less `BOOT`; `instant` with one that takes
    nothing.
    """

    window: float
    ready: float
    instant: float
    bare: float


def measure(version: str) -> Opening:
    """Open chats in fresh Neovims, and start the bare host in another. Raises Unmeasurable."""
    _, ready = _open(version, str(BOOT))
    window, instant = _open(version)
    with _editor(version, {}) as editor:
        bare = editor.run_file(BARE_HOST, "call", sys.executable, str(BARE_PLUGIN))
    return Opening(window, ready - BOOT, instant, bare / 1000)


def _open(version: str, *arguments: str) -> tuple[float, float]:
    """Open a chat, with arguments for its server; returns seconds to the windows, and ready."""
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
        editor = Editor(version, Path(folder) / "home", settings)
        try:
            yield editor
        finally:
            editor.close()
