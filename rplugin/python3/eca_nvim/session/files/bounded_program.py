"""Bounded program: runs a program whose output is wanted, for so long and so many bytes at most.

Rules kept here:
- The program gets no input, and its environment leads nowhere near the editor.
- When its time is up, or it has printed enough, it is killed with all that it has started. It stays
  in the host's session, so that the guardian ends it if the host is killed meanwhile.
"""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress

from msgspec import Struct


class ProgramOutput(Struct, frozen=True):
    """What a program has printed on stdout; `status` is None if it was killed."""

    content: bytes
    status: int | None

    @property
    def succeeded(self) -> bool:
        """Whether the program ended by itself, without an error."""
        return self.status == 0


def run_bounded(
    command: Sequence[str], env: Mapping[str, str], *, most: int, seconds: float
) -> ProgramOutput:
    """Run a program and return at most `most` bytes of its output; blocks.

    The status is None if it had more to print, or ran for longer than `seconds`. Raises OSError if
    it cannot be started.
    """
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=env,
        process_group=0,
    ) as program:
        timer = threading.Timer(seconds, _kill, [program])
        timer.daemon = True
        timer.start()
        try:
            assert program.stdout is not None
            content = program.stdout.read(most)
            is_whole = not program.stdout.read(1)
            if not is_whole:
                _kill(program)
            status = program.wait()
        finally:
            timer.cancel()
            _kill(program)
    return ProgramOutput(content, status if is_whole and status >= 0 else None)


def _kill(program: subprocess.Popen[bytes]) -> None:
    """Kill a program and what it has started; does nothing once it was waited for."""
    if program.returncode is None:
        with suppress(ProcessLookupError):
            os.killpg(program.pid, signal.SIGKILL)
