"""How a command that prints 50 MB disturbs: in a chat, and in Neovim's own `:terminal`.

Both get the same bytes, lines with colours, from the same command in a window of the same size,
while the user types into another one. Measured are the longest stall of Neovim, the time from the
command's start to its last line on the screen, and that from each key to the screen.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.support.launch import REPOSITORY

from bench import rows
from bench.editor import Editor
from bench.figures import Samples
from bench.run import PROBE
from bench.screen import Value
from bench.typist import Typist

AGENT = REPOSITORY / "bench" / "flood_agent.py"
BYTES = 50_000_000
LINE = "\x1b[32m{:07}\x1b[0m the quick brown fox jumps over the lazy dog, again and again\n"
MARK = "Ω"
STARTED, FLOOD = "started", "flood"
COMMAND = rf"cut -d' ' -f1 /proc/uptime >{STARTED}; cat {FLOOD}; printf '\316\251\n'; sleep 1"
"""Notes when it starts, in seconds, and ends with the mark, which its own text does not have.

It stays a while, because Neovim 0.10 loses the last output of a program that has ended, and a chat
shows the last line only of a call that runs.
"""
PATIENCE = 300.0
OPEN_TERMINAL = """
    local columns, rows, command = ...
    vim.cmd('vsplit | enew')
    vim.api.nvim_win_set_width(0, columns)
    vim.api.nvim_win_set_height(0, rows)
    local win = vim.api.nvim_get_current_win()
    vim.fn.termopen({ '/bin/sh', '-c', command })
    vim.cmd('wincmd w | startinsert')
    vim.defer_fn(function() -- Neovim 0.10 follows the end only from the last line
      vim.api.nvim_win_set_cursor(win, { vim.fn.line('$', win), 0 })
    end, 200)"""
SIZE = """
    local win = require('eca.window').shown()
    return { vim.api.nvim_win_get_width(win), vim.api.nvim_win_get_height(win) }"""


@dataclass(frozen=True)
class Flooded:
    """Seconds: of the longest stall, to the last line, and from each key to the screen."""

    stall: float
    seconds: float
    keys: tuple[float, ...]
    size: tuple[int, int]


def measure(version: str) -> Samples:
    """Run the command in a chat and in Neovim's own terminal. Raises Unmeasurable."""
    ours = _ours(version)
    floor = _floor(version, ours.size)
    return {
        rows.FLOOD_STALL: ([ours.stall], [floor.stall]),
        rows.FLOOD_KEYS: (ours.keys, floor.keys),
        rows.FLOOD_TIME: ([ours.seconds], [floor.seconds]),
    }


def _ours(version: str) -> Flooded:
    """Let an agent run the command in a chat."""
    command = [sys.executable, "-I", "-S", str(AGENT), COMMAND]
    settings = {
        "python": sys.executable,
        "servers": {"bench": {"command": command, "protocol": "acp"}},
        "server": "bench",
        "approval": {"guard": 0},
    }
    with _editor(version, settings) as editor:
        editor.request("nvim_command", "EcaChat")
        editor.wait_lua("require('eca').status().server == 'ready'", "the server")
        columns, rows = editor.lua(SIZE)
        editor.request("nvim_command", "wincmd t | startinsert")
        editor.lua("require('eca').send('go on')")
        editor.wait_lua("#require('eca').pending() > 0", "the request")
        return _watch(editor, lambda: editor.lua("require('eca').approve({})"), (columns, rows))


def _floor(version: str, size: tuple[int, int]) -> Flooded:
    with _editor(version, {}) as editor:
        return _watch(editor, lambda: editor.lua(OPEN_TERMINAL, *size, COMMAND), size)


@contextmanager
def _editor(version: str, settings: Mapping[str, Value]) -> Iterator[Editor]:
    with tempfile.TemporaryDirectory(prefix="eca-bench-") as folder:
        editor = Editor(version, Path(folder) / "home", settings)
        lines = (LINE.format(number) for number in range(BYTES // len(LINE.format(0))))
        (editor.project / FLOOD).write_text("".join(lines))
        try:
            yield editor
        finally:
            editor.close()


def _watch(editor: Editor, start: Callable[[], object], size: tuple[int, int]) -> Flooded:
    """Type until the last line is on the screen."""
    typist = Typist(editor)
    editor.run_file(PROBE, "start")
    editor.screen.expect(MARK)
    start()
    typist.type_until(lambda: editor.screen.seen(MARK), "the last line", PATIENCE)
    stall = editor.run_file(PROBE, "stop")
    ended = editor.screen.seen(MARK)
    assert ended is not None
    started = float((editor.project / STARTED).read_text())
    return Flooded(stall / 1000, ended - started, tuple(typist.latencies), size)
