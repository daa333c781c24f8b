"""What the plugin adds to Neovim's startup time: many starts, every other one without it.

Each start is the wall time of `nvim --headless --clean +q`, from fork to end. Two neighbouring ones
give a difference; they take turns in coming first. So both suffer if the machine is slow for a
second.
"""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

from tests.support.launch import REPOSITORY, Launch

from bench.figures import median

PAIRS = 100
WARM_UP = 5


def added(version: str, home: Path, pairs: int = PAIRS) -> float:
    """Return the seconds that the plugin on the runtime path adds: a median of differences."""
    launch = Launch(version, home, home, marker=str(home))
    launch.prepare()
    nvim = [launch.command()[0], "--headless", "--clean"]
    path = ["--cmd", f"set rtp^={REPOSITORY}"]
    environment = launch.variables()
    for _ in range(WARM_UP):
        _start([*nvim, *path, "+q"], environment)
    sides = ([*nvim, "--cmd", "set rtp^=", "+q"], [*nvim, *path, "+q"])
    differences = []
    for number in range(pairs):
        first = number % 2
        took = {first: _start(sides[first], environment)}
        took[1 - first] = _start(sides[1 - first], environment)
        differences.append(took[1] - took[0])
    return median(differences)


def _start(command: list[str], environment: dict[str, str]) -> float:
    """Start a Neovim and wait for its end, without the pauses of `Popen.wait`."""
    started = time.monotonic()
    process = subprocess.Popen(
        command, env=environment, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    os.waitpid(process.pid, 0)
    process.returncode = 0
    return time.monotonic() - started
