"""The two that are compared, behind one face: the plugin, and the floor."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from pathlib import Path
from typing import NamedTuple

from tests.support.launch import REPOSITORY

from bench.editor import Editor
from bench.screen import Value

FOLDER = REPOSITORY / "bench"
SERVER = FOLDER / "server.py"
FLOOR = FOLDER / "lua" / "floor.lua"


class WindowSize(NamedTuple):
    """Columns and rows of the window that shows the text."""

    columns: int
    rows: int


def server_command(plan: Path) -> list[str]:
    """Return the fake server's command line."""
    return [sys.executable, "-I", "-S", str(SERVER), str(plan)]


class Side(ABC):
    """Something that shows what the fake server streams, in an Editor."""

    @abstractmethod
    def prepare(self, plan: Path) -> dict[str, Value]:
        """Take the plan of the next run; return what `vim.g.eca` must say."""

    @abstractmethod
    def open(self, editor: Editor) -> None:
        """Show an empty chat, connected; the user is back in the other window, inserting."""

    @abstractmethod
    def prompt(self, editor: Editor) -> None:
        """Send a prompt without leaving the other window."""

    @abstractmethod
    def settle(self, editor: Editor) -> None:
        """Wait until the turn is over; nothing to do where the last text is the end."""

    @abstractmethod
    def lines(self, editor: Editor) -> list[str]:
        """Read the text shown, as lines."""


class Ours(Side):
    """The plugin. `size` is that of its transcript window, known once it was opened."""

    size = WindowSize(64, 38)

    def prepare(self, plan: Path) -> dict[str, Value]:
        """Name this Python and the fake server."""
        return {"python": sys.executable, "server": {"command": server_command(plan)}}

    def open(self, editor: Editor) -> None:
        """Open it by the command, and go back to where the user was."""
        editor.request("nvim_command", "EcaChat")
        editor.wait_lua("require('eca').status().server == 'ready'", "the server")
        found = editor.lua("""
            local win = require('eca.windows').shown()
            vim.g.bench_buf = vim.api.nvim_win_get_buf(win)
            return { vim.api.nvim_win_get_width(win), vim.api.nvim_win_get_height(win) }""")
        self.size = WindowSize(*found)
        editor.request("nvim_command", "wincmd t | startinsert")

    def prompt(self, editor: Editor) -> None:
        """Send it through the public function."""
        editor.lua("require('eca').send('go on')")

    def settle(self, editor: Editor) -> None:
        """Wait until the chat says that it is idle."""
        editor.wait_lua("require('eca').status().state == 'idle'", "the end of the turn")

    def lines(self, editor: Editor) -> list[str]:
        """Read the transcript."""
        code = "return vim.api.nvim_buf_get_lines(vim.g.bench_buf, 0, -1, true)"
        found: list[str] = editor.lua(code)
        return found


class Floor(Side):
    """Plain Lua, in a window of the size that ours has."""

    def __init__(self, size: WindowSize) -> None:
        self._size = size
        self._command: list[str] = []

    def prepare(self, plan: Path) -> dict[str, Value]:
        """Keep the server's command: there are no settings."""
        self._command = server_command(plan)
        return {}

    def open(self, editor: Editor) -> None:
        """Open the scratch buffer beside the user's window."""
        editor.run_file(FLOOR, "open", self._command, *self._size)
        editor.request("nvim_command", "startinsert")

    def prompt(self, editor: Editor) -> None:
        """Send it as it is."""
        editor.run_file(FLOOR, "prompt", "go on")

    def settle(self, editor: Editor) -> None:
        """Return at once: when the last text is there, all is."""

    def lines(self, editor: Editor) -> list[str]:
        """Read the scratch buffer."""
        found: list[str] = editor.run_file(FLOOR, "lines")
        return found
