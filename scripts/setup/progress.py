"""What the user sees of a set-up: one line a step, with its fault if it fails; the rest is logged.

Lines go to stderr, so that the standard output of `make chat` is the transcript alone.
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
    """Raised when a step cannot be done; its text is one line, the fault and then the remedy."""


class Progress:
    """Tells the steps to the user and keeps what the tools said in a log."""

    def __init__(self, log: Path, screen: TextIO = sys.stderr) -> None:
        self._log = log
        self._screen = screen

    def say(self, line: str, end: str = "\n") -> None:
        """Show a line, or with another `end` a part of one, at once."""
        print(line, end=end, file=self._screen, flush=True)

    @contextmanager
    def step(self, what: str) -> Iterator[None]:
        """Show `Setting up: {what} … done (3 s)` around a piece of work.

        An error of the system is raised as a SetupError, whose text ends the line.
        """
        self.say(f"Setting up: {what} … ", end="")
        started = time.monotonic()
        try:
            yield
        except (SetupError, OSError) as fault:
            self.say(f"failed: {fault}")
            raise SetupError(str(fault)) from fault
        except KeyboardInterrupt:
            self.say("interrupted; the same command goes on")
            raise
        self.say(f"done ({time.monotonic() - started:.0f} s)")

    def run(self, command: Sequence[str], fault: str, env: Mapping[str, str] | None = None) -> None:
        """Run a command with all it says in the log.

        Raises SetupError with `fault` when it cannot start or its exit code is not 0.
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
        """Let one set-up at a time work in this checkout; another one waits, and says so."""
        lock.parent.mkdir(parents=True, exist_ok=True)
        with lock.open("w") as held:
            try:
                fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                self.say("Setting up: waiting for another set-up of this folder")
                fcntl.flock(held, fcntl.LOCK_EX)
            yield
