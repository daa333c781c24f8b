"""Bounded program: runs a program whose output is wanted, for so long and so many bytes at most.

Rules kept here:
- The program gets no input, and its environment leads nowhere near the editor.
- When its time is up, or it has printed enough, it is killed with all that it has started. It stays
  in the host's session, so that the guardian ends it if the host is killed meanwhile.
- Its time is up also if what it has left behind, out of its process group, keeps its output open.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Final

from msgspec import Struct

_CHUNK: Final = 1 << 16
"""Bytes that are read at once."""


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
        deadline = time.monotonic() + seconds
        try:
            assert program.stdout is not None
            content, is_whole = _read(program.stdout.fileno(), most, deadline)
            with suppress(subprocess.TimeoutExpired):
                program.wait(max(0.0, deadline - time.monotonic()) if is_whole else 0.0)
        finally:
            _kill(program)
        status = program.wait()
    return ProgramOutput(content, status if is_whole and status >= 0 else None)


def _read(output: int, most: int, deadline: float) -> tuple[bytes, bool]:
    """Read to the end, and return whether it was reached, or most bytes, or until a time."""
    parts, room = list[bytes](), most
    poll = select.poll()  # not `select`, which takes no high descriptors
    poll.register(output, select.POLLIN)
    while poll.poll(max(0.0, deadline - time.monotonic()) * 1000):
        part = os.read(output, min(_CHUNK, room + 1))
        parts.append(part[:room])
        room -= len(part)
        if not part or room < 0:
            return b"".join(parts), not part
    return b"".join(parts), False


def _kill(program: subprocess.Popen[bytes]) -> None:
    """Kill a program and what it has started; does nothing once it was waited for."""
    if program.returncode is None:
        with suppress(ProcessLookupError):
            os.killpg(program.pid, signal.SIGKILL)
