"""How much later a key is on the screen while inline completion is on.

The user types lines of code in a file, and pauses in each, so that something is asked, drawn, and
typed along or dismissed. The demo agent completes each line as the first one goes on. Measured is
the time from each key to the cursor behind it; the floor is the same with inline completion off.
"""

from __future__ import annotations

import sys
import time

from bench import rows
from bench.completion import press, started
from bench.editor import Unmeasurable
from bench.figures import Samples

FIRST = "result = compute(left, right)"
ROWS = 500
TYPED = "result = compute(l", "eft", " + right)"
"""The keys of a line, with pauses between these: the last differ from what is drawn."""
LINES = 4
PAUSE = 0.6
"""Seconds, after which what completes the line is drawn."""
SHOWN = "require('eca').completion() ~= nil"


def measure(version: str) -> Samples:
    """Type with inline completion and without. Raises Unmeasurable if nothing is drawn."""
    return {rows.INLINE: (_keys(version, on=True), _keys(version, on=False))}


def _keys(version: str, *, on: bool) -> list[float]:
    settings = {"python": sys.executable, "server": "demo", "completion": {"inline": on}}
    with started(version, settings) as editor:
        code = [FIRST, *(f"value_{number} = {number}" for number in range(ROWS))]
        (editor.project / "code.txt").write_text("\n".join(code), encoding="utf-8")
        editor.request("nvim_command", f"cd {editor.project} | edit code.txt")
        editor.request("nvim_command", "EcaChat")
        editor.wait_lua("require('eca').status().server == 'ready'", "the server")
        editor.request("nvim_command", "Eca hide")
        took = list[float]()
        for _ in range(LINES):
            editor.request("nvim_command", "call append(1, '') | 2 | startinsert")
            editor.wait(lambda: editor.screen.cursor == (1, 0), "the cursor")
            for part in TYPED:
                took += [press(editor, key) for key in part]
                until = time.monotonic() + PAUSE
                while (left := until - time.monotonic()) > 0:
                    editor.child.channel.pump(left)
                is_shown = editor.request("nvim_exec_lua", f"return {SHOWN}", [])
                if is_shown != (on and part != TYPED[-1]):
                    raise Unmeasurable(f"{part!r} is completed: {is_shown}")
            editor.request("nvim_command", "stopinsert")
    return took
