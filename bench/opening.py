"""How long `:EcaChat` takes: to its windows, and until a prompt would go to the server at once.

Measured inside Neovim, by `lua/opening.lua`, with a server that answers at once (`instant.sh`: the
start of an interpreter is no part of ours). The first call is measured: the host starts, and all of
the plugin's Lua is loaded.
"""

from __future__ import annotations

import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tests.support.launch import REPOSITORY

from bench.editor import Editor

OPENING = REPOSITORY / "bench" / "lua" / "opening.lua"
SERVER = REPOSITORY / "bench" / "instant.sh"


@dataclass(frozen=True)
class Opening:
    """Seconds from the command to what it brings."""

    window: float
    ready: float


def measure(version: str) -> Opening:
    """Open a chat in a fresh Neovim. Raises Unmeasurable."""
    with tempfile.TemporaryDirectory(prefix="eca-bench-") as folder:
        settings = {"python": sys.executable, "server": {"command": [str(SERVER)]}}
        editor = Editor(version, Path(folder) / "home", settings)
        try:
            editor.run_file(OPENING, "open")
            editor.wait(lambda: bool(editor.run_file(OPENING, "told")), "the server")
            window, ready = editor.run_file(OPENING, "told")
            return Opening(window / 1000, ready / 1000)
        finally:
            editor.close()
