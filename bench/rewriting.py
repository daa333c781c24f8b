"""How much later a key is on the screen while two rewrites stream into the same buffer.

The user types at the end of a file, two of whose functions are rewritten at once, each of some
hundred lines. Measured is the time from each key to the cursor behind it; the floor is the same
without a rewrite.
"""

from __future__ import annotations

import sys
import tempfile
from itertools import chain
from pathlib import Path

from tests.support.script import Steps, expect, handshake, pause, reply, rewriting
from tests.support.servers import scripted

from bench import rows
from bench.completion import press, started
from bench.editor import Unmeasurable
from bench.figures import Samples

LINES = 300
"""Lines of each of the two."""
PAUSE = 12.0
"""Milliseconds between two pieces, each of half a line: 80 in a second."""
TYPED = "what is typed at the end of the file while both come"
STREAMING = """
local states = vim.tbl_map(function(it) return it.state end, require('eca').previews())
return vim.list_contains(states, 'streaming')
"""


def measure(version: str) -> Samples:
    """Type with two rewrites and without. Raises Unmeasurable if nothing streams."""
    return {rows.REWRITING: (_keys(version, on=True), _keys(version, on=False))}


def _script() -> Steps:
    asked = [*expect("rewrite/prompt"), *reply("rewrite/prompt", {"status": "prompting"})]
    halves = chain.from_iterable((f"value_{it} = ", f"{it} + 1\n") for it in range(LINES))
    pieces = [[*rewriting(piece), *rewriting(piece, number=2), *pause(PAUSE)] for piece in halves]
    return [*handshake(), *asked, *asked, *chain(*pieces)]


def _keys(version: str, *, on: bool) -> list[float]:
    with tempfile.TemporaryDirectory(prefix="eca-bench-") as folder:
        server = scripted(_script(), Path(folder))
        settings = {"python": sys.executable, "server": {"command": server.command}}
        with started(version, settings) as editor:
            code = [f"value_{number % LINES} = {number}" for number in range(2 * LINES)]
            (editor.project / "code.txt").write_text("\n".join([*code, ""]), encoding="utf-8")
            editor.request("nvim_command", f"cd {editor.project} | edit code.txt")
            editor.request("nvim_command", "EcaChat")
            editor.wait_lua("require('eca').status().server == 'ready'", "the server")
            editor.request("nvim_command", "Eca hide")
            for first in (1, LINES + 1) if on else ():
                editor.request("nvim_command", f"{first},{first + LINES - 1}Eca rewrite more")
            editor.request("nvim_command", "normal! Go")
            editor.request("nvim_command", "startinsert")
            row = editor.request("nvim_eval", "winline()") - 1
            editor.wait(lambda: editor.screen.cursor == (row, 0), "the cursor")
            took = [press(editor, key) for key in TYPED]
            if editor.request("nvim_exec_lua", STREAMING, []) != on:
                raise Unmeasurable("the rewrites are over, or have not begun")
    return took
