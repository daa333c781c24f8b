"""Git: lists files of a repository without running what is configured in it."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypeAlias

from eca_nvim.environment import child_environment

CHECK_INTERVAL = 0.05
"""Seconds between two checks while git runs."""

_OPENS_A_PIPE = "wait_for_partner"
"""Where Linux has a process sleep that opens a named pipe without a writer (`/proc/PID/wchan`)."""

Check: TypeAlias = Callable[[], None]
"""Raises an exception to cancel."""


def ls_files(folder: str, *options: str, check: Check) -> bytes:
    """Return what `git ls-files -z` prints in a folder; nothing where git does not work.

    Blocks. git is killed if the check raises.
    """
    from shutil import which  # noqa: PLC0415 - not needed at start-up

    git = which("git")
    if git is None:
        return b""
    # A repository's configuration may name programs that git would start: disable these.
    command = [git, "-c", "core.fsmonitor=false", "-C", folder, "ls-files", "-z", *options]
    environment = {
        key: value for key, value in child_environment().items() if not key.startswith("GIT_")
    }
    environment |= {"GIT_OPTIONAL_LOCKS": "0", "GIT_ALLOW_PROTOCOL": "none"}
    return _output(command, environment, check)


def _output(command: Sequence[str], environment: Mapping[str, str], check: Check) -> bytes:
    """Return a program's output; the program is killed if the check raises."""
    try:
        with subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
        ) as program:
            try:
                return _wait_for_output(program, check)
            finally:
                program.kill()  # does nothing if it has ended
    except OSError:
        return b""


def _wait_for_output(program: subprocess.Popen[bytes], check: Check) -> bytes:
    while not _opens_a_pipe(program.pid):
        check()
        with suppress(subprocess.TimeoutExpired):
            return program.communicate(timeout=CHECK_INTERVAL)[0]
    return b""


def _opens_a_pipe(pid: int) -> bool:
    """Return whether git would wait for ever, as a `.gitignore` somewhere is a named pipe."""
    try:
        return Path(f"/proc/{pid}/wchan").read_text() == _OPENS_A_PIPE
    except OSError:  # not Linux, or not ours to see: the caller's check ends it
        return False
