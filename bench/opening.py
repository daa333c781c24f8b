"""How long `:EcaChat` takes: to its windows, and until a prompt would go to the server at once.

Measured inside Neovim, by `lua/opening.lua`, with a server that answers at once (`instant.sh`: the
start of an interpreter is no part of ours). The first call is measured: the host starts, and all of
the plugin's Lua is loaded.

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


@dataclass(frozen=True)
class Opening:
    """Seconds from the command to what it brings, and those of the floor, measured right after."""

    window: float
    ready: float
    bare: float


def measure(version: str) -> Opening:
    """Open a chat in a fresh Neovim, and start the bare host in another. Raises Unmeasurable."""
    settings = {"python": sys.executable, "server": {"command": [str(SERVER)]}}
    with _editor(version, settings) as editor:
        editor.run_file(OPENING, "open")
        editor.wait(lambda: bool(editor.run_file(OPENING, "told")), "the server")
        window, ready = editor.run_file(OPENING, "told")
    with _editor(version, {}) as editor:
        bare = editor.run_file(BARE_HOST, "call", sys.executable, str(BARE_PLUGIN))
    return Opening(window / 1000, ready / 1000, bare / 1000)


@contextmanager
def _editor(version: str, settings: Mapping[str, Value]) -> Iterator[Editor]:
    with tempfile.TemporaryDirectory(prefix="eca-bench-") as folder:
        editor = Editor(version, Path(folder) / "home", settings)
        try:
            yield editor
        finally:
            editor.close()
