"""The output of a set-up: one line per step, with its fault if it fails; the rest is logged.

Lines go to stderr, so the standard output of `make chat` is only the transcript.
"""

from __future__ import annotations

import fcntl
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO


class SetupError(Exception):
    """Raised if a step fails; its text is one line, the fault and then the remedy."""


class Progress:
    """Shows the steps to the user and logs the output of the tools."""

    def __init__(self, log: Path, screen: TextIO = sys.stderr) -> None:
        self._log = log
        self._screen = screen

    def say(self, line: str, end: str = "\n") -> None:
        """Show a line, or with another `end` a part of one."""
        print(line, end=end, file=self._screen, flush=True)

    @contextmanager
    def step(self, what: str) -> Iterator[None]:
        """Show `Setting up: {what} … done (3 s)` around a piece of work.

        An OSError is raised as a SetupError, whose text ends the line.
        """
        self.say(f"Setting up: {what} … ", end="")
        started = time.monotonic()
        try:
            yield
        except (SetupError, OSError) as fault:
            self.say(f"failed: {fault}")
            raise SetupError(str(fault)) from fault
        except KeyboardInterrupt:
            self.say("interrupted; run the same command again to continue")
            raise
        self.say(f"done ({time.monotonic() - started:.0f} s)")

    def run(self, command: Sequence[str], fault: str, env: Mapping[str, str] | None = None) -> None:
        """Run a command and log its output.

        Raises SetupError with `fault` if it cannot start or its exit code is not 0.
        """
        self._log.parent.mkdir(parents=True, exist_ok=True)
        with self._log.open("a") as log:
            print("$", shlex.join(command), file=log, flush=True)
            try:
                done = subprocess.run(
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    env=env,
                    check=False,
                )
            except FileNotFoundError as missing:
                raise SetupError(f"{fault} ({command[0]} is not installed)") from missing
        if done.returncode != 0:
            raise SetupError(f"{fault} (details: {self._log})")

    @contextmanager
    def alone(self, lock: Path) -> Iterator[None]:
        """Let only one set-up run in this checkout; others wait, and say so."""
        lock.parent.mkdir(parents=True, exist_ok=True)
        with lock.open("w") as held:
            try:
                fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                self.say("Setting up: waiting for another set-up of this folder")
                fcntl.flock(held, fcntl.LOCK_EX)
            yield
