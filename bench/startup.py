"""What the plugin adds to Neovim's startup time: many starts, every other one without it.

Each start is the wall time of `nvim --headless --clean +q`, from fork to end. Two neighbouring ones
give a difference; they take turns in coming first. So both suffer if the machine is slow for a
second.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from pathlib import Path

from tests.support.launch import REPOSITORY, Launch

from bench import rows
from bench.figures import Samples

PAIRS = 100
WARM_UP = 5


def measure(version: str) -> Samples:
    """Start Neovim with the plugin on the runtime path, and without."""
    with tempfile.TemporaryDirectory(prefix="eca-bench-") as folder:
        return {rows.STARTUP: _pairs(version, Path(folder))}


def _pairs(version: str, home: Path) -> tuple[list[float], list[float]]:
    launch = Launch(version, home, home, marker=str(home))
    launch.prepare()
    nvim = [launch.command()[0], "--headless", "--clean"]
    path = ["--cmd", f"set rtp^={REPOSITORY}"]
    environment = launch.variables()
    for _ in range(WARM_UP):
        _start([*nvim, *path, "+q"], environment)
    sides = ([*nvim, "--cmd", "set rtp^=", "+q"], [*nvim, *path, "+q"])
    without, with_plugin = list[float](), list[float]()
    for number in range(PAIRS):
        first = number % 2
        took = {first: _start(sides[first], environment)}
        took[1 - first] = _start(sides[1 - first], environment)
        without.append(took[0])
        with_plugin.append(took[1])
    return with_plugin, without


def _start(command: list[str], environment: dict[str, str]) -> float:
    """Start a Neovim and wait for its end, without the pauses of `Popen.wait`."""
    started = time.monotonic()
    process = subprocess.Popen(
        command, env=environment, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    os.waitpid(process.pid, 0)
    process.returncode = 0
    return time.monotonic() - started
