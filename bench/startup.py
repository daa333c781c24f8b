"""What the plugin adds to Neovim's start: many starts, every other one without it.

Each is the wall clock of `nvim --headless --clean +q`, from its fork to its end.
"""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

from tests.support.launch import REPOSITORY, Launch

from bench.figures import median

PAIRS = 60
WARM_UP = 5


def added(version: str, home: Path, pairs: int = PAIRS) -> float:
    """Measure the seconds that the plugin on the runtime path adds: a difference of medians."""
    launch = Launch(version, home, home, marker=str(home))
    launch.prepare()
    nvim = [launch.command()[0], "--headless", "--clean"]
    path = ["--cmd", f"set rtp^={REPOSITORY}"]
    environment = launch.variables()
    for _ in range(WARM_UP):
        _start([*nvim, *path, "+q"], environment)
    without, with_it = [], []
    for _ in range(pairs):
        without.append(_start([*nvim, "--cmd", "set rtp^=", "+q"], environment))
        with_it.append(_start([*nvim, *path, "+q"], environment))
    return median(with_it) - median(without)


def _start(command: list[str], environment: dict[str, str]) -> float:
    """Start a Neovim and wait for its end, without the pauses of `Popen.wait`."""
    started = time.monotonic()
    process = subprocess.Popen(
        command, env=environment, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    os.waitpid(process.pid, 0)
    process.returncode = 0
    return time.monotonic() - started
