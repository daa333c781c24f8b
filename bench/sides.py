"""The two sides of the comparison, the plugin and the floor, with one interface."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from pathlib import Path
from typing import NamedTuple

from tests.support.launch import REPOSITORY

from bench.editor import Editor
from bench.plan import Turn
from bench.screen import Value

FOLDER = REPOSITORY / "bench"
SERVER = FOLDER / "server.py"
SERVERS = {"eca": SERVER, "acp": FOLDER / "acp_server.py"}
"""The fake servers by protocol."""
FLOOR = FOLDER / "lua" / "floor.lua"
KEPT = "22222222-2222-4222-8222-222222222222"
"""The earlier chat to resume."""


class WindowSize(NamedTuple):
    """Columns and rows of the window that shows the text."""

    columns: int
    rows: int


def server_command(plan: Path, protocol: str) -> list[str]:
    """Return the fake server's command line."""
    return [sys.executable, "-I", "-S", str(SERVERS[protocol]), str(plan)]


class Side(ABC):
    """Shows what the fake server streams, in an Editor."""

    @abstractmethod
    def prepare(self, plan: Path) -> dict[str, Value]:
        """Set the plan of the next run; return the value for `vim.g.eca`."""

    @abstractmethod
    def open(self, editor: Editor) -> None:
        """Show an empty, connected chat; the user is in the other window, in insert mode."""

    @abstractmethod
    def make_ready(self, editor: Editor, turn: Turn) -> None:
        """Prepare the measured turn."""

    @abstractmethod
    def ask(self, editor: Editor, turn: Turn) -> None:
        """Start a turn without leaving the other window."""

    @abstractmethod
    def settle(self, editor: Editor) -> None:
        """Wait until the turn is over, and everything is drawn."""

    @abstractmethod
    def drawn(self, editor: Editor) -> float | None:
        """Return when a replay was drawn whole, in monotonic seconds; None if it has no such time.

        Its end, which is looked for on the screen, may be drawn before the rest.
        """

    @abstractmethod
    def lines(self, editor: Editor) -> list[str]:
        """Return the lines that are shown."""


class Ours(Side):
    """The plugin. `size`: that of its transcript window, known when it is open.

    buffers: the number of other files that are loaded. protocol: that of the server. panel: the
    name of one that is open.
    """

    size = WindowSize(64, 38)

    def __init__(self, buffers: int = 0, protocol: str = "eca", panel: str | None = None) -> None:
        self._buffers = buffers
        self._panel = panel
        self._protocol = protocol

    def prepare(self, plan: Path) -> dict[str, Value]:
        """Return settings with this Python and the fake server."""
        command = server_command(plan, self._protocol)
        servers = {"bench": {"command": command, "protocol": self._protocol}}
        return {"python": sys.executable, "servers": servers, "server": "bench"}

    def open(self, editor: Editor) -> None:
        """Open it with the command, and go back to the other window."""
        editor.request("nvim_command", "EcaChat")
        editor.wait_lua("require('eca').status().server == 'ready'", "the server")
        found = editor.lua("""
            local win = require('eca.window').shown()
            vim.g.bench_buf = vim.api.nvim_win_get_buf(win)
            return { vim.api.nvim_win_get_width(win), vim.api.nvim_win_get_height(win) }""")
        self.size = WindowSize(*found)
        for number in range(self._buffers):
            editor.request(
                "nvim_command", f"badd file_{number}.txt | call bufload('file_{number}.txt')"
            )
        if self._panel is not None:
            editor.request("nvim_command", f"Eca {self._panel}")
            editor.wait_lua("vim.api.nvim_get_current_line():find('idle') ~= nil", "the panel")
        editor.request("nvim_command", "wincmd t | startinsert")

    def make_ready(self, editor: Editor, turn: Turn) -> None:
        """Show the empty chat for a replay."""
        if turn.is_replay:
            code = """
                local win, id = vim.api.nvim_get_current_win(), ...
                vim.g.bench_buf = require('eca.chat.buffers').ensure(id).buf
                require('eca').open({ chat = id })
                vim.api.nvim_buf_attach(vim.g.bench_buf, false, {
                  on_lines = function()
                    vim.g.bench_drawn = vim.uv.hrtime()
                  end,
                })
                vim.api.nvim_set_current_win(win)
                vim.cmd.startinsert()"""
            editor.lua(code, KEPT)

    def ask(self, editor: Editor, turn: Turn) -> None:
        """Send a prompt with the public function, or resume a chat."""
        if turn.is_replay:
            editor.lua("require('eca.host').send('resume', { chat = ... })", KEPT)
        else:
            editor.lua("require('eca').send('go on')")

    def settle(self, editor: Editor) -> None:
        """Wait until the chat is idle, and older messages are above."""
        editor.wait_lua("require('eca').status().state == 'idle'", "the end of the turn")
        first = "vim.api.nvim_buf_get_lines(vim.g.bench_buf, 0, 1, true)[1]"
        editor.wait_lua(f"not vim.startswith({first}, '▴')", "the older messages")

    def drawn(self, editor: Editor) -> float | None:
        """Return when the transcript changed last."""
        nanoseconds: float | None = editor.lua("return vim.g.bench_drawn")
        return nanoseconds and nanoseconds / 1e9

    def lines(self, editor: Editor) -> list[str]:
        """Return the lines of the transcript."""
        code = "return vim.api.nvim_buf_get_lines(vim.g.bench_buf, 0, -1, true)"
        found: list[str] = editor.lua(code)
        return found


class Floor(Side):
    """Plain Lua, in a window of the same size as ours. protocol: that of the server."""

    def __init__(self, size: WindowSize, protocol: str = "eca") -> None:
        self._size = size
        self._protocol = protocol
        self._command: list[str] = []

    def prepare(self, plan: Path) -> dict[str, Value]:
        """Keep the server's command; there are no settings."""
        self._command = server_command(plan, self._protocol)
        return {}

    def open(self, editor: Editor) -> None:
        """Open the scratch buffer beside the other window."""
        editor.run_file(FLOOR, "open", self._command, *self._size, self._protocol)
        editor.request("nvim_command", "startinsert")

    def make_ready(self, editor: Editor, turn: Turn) -> None:
        """Do nothing: it shows whatever comes."""

    def ask(self, editor: Editor, turn: Turn) -> None:
        """Send the request."""
        prompt = "session/prompt" if self._protocol == "acp" else "chat/prompt"
        editor.run_file(FLOOR, "ask", "chat/open" if turn.is_replay else prompt)

    def settle(self, editor: Editor) -> None:
        """Do nothing: the last text is the end."""

    def drawn(self, editor: Editor) -> float | None:
        """Return None: it draws in order."""

    def lines(self, editor: Editor) -> list[str]:
        """Return the lines of the scratch buffer."""
        found: list[str] = editor.run_file(FLOOR, "lines")
        return found
