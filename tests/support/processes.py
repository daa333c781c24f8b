"""Finds the processes that a test started, and waits for their end, with /proc and pidfds.

`descendants` finds them by parent, and misses those whose parent died; `marked` finds them by a
variable in their environment, orphans included. `adopting` tells how orphans end.
"""

import ctypes
import os
import select
import signal
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

MARKER = "ECA_TEST_MARKER"
"""The environment variable that names the test of a process."""

_ADOPT = 36
"""PR_SET_CHILD_SUBREAPER: orphans below become our children, and we get their exit statuses."""

GONE = (FileNotFoundError, ProcessLookupError, PermissionError)


def descendants(pid: int) -> set[int]:
    """Return live children of a process, their children, and so on; zombies are not alive."""
    children: dict[int, set[int]] = {}
    for child, parent in _parents().items():
        children.setdefault(parent, set()).add(child)
    found: set[int] = set()
    waiting = {pid}
    while waiting:
        waiting = set().union(*(children.get(parent, set()) for parent in waiting)) - found
        found |= waiting
    return found


def marked(marker: str) -> set[int]:
    """Return live processes that inherited `MARKER=marker`, whatever their parents are now."""
    wanted = f"\0{MARKER}={marker}\0".encode()
    return {pid for pid in _all_pids() if wanted in b"\0" + _environment(pid)}


def command_line(pid: int) -> str:
    """Return a process's arguments joined by blanks, "" if it is gone."""
    with suppress(*GONE):
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode().strip()
    return ""


def wait_gone(pids: Iterable[int], timeout: float) -> set[int]:
    """Wait up to `timeout` seconds until all have ended; return those that have not."""
    handles = {pid: handle for pid in pids if (handle := _open(pid)) is not None}
    deadline = time.monotonic() + timeout
    try:
        while handles:
            left = max(0.0, deadline - time.monotonic())
            ended, _, _ = select.select(handles.values(), [], [], left)
            if not ended:
                break
            for pid in [pid for pid, handle in handles.items() if handle in ended]:
                os.close(handles.pop(pid))
        return set(handles)
    finally:
        for handle in handles.values():
            os.close(handle)


@contextmanager
def adopting() -> Iterator[None]:
    """Adopt the processes of tests whose parents end meanwhile; `statuses` tells how they ended."""
    system = ctypes.CDLL(None)
    system.prctl(_ADOPT, 1, 0, 0, 0)
    try:
        yield
    finally:
        system.prctl(_ADOPT, 0, 0, 0, 0)


def statuses(pids: Iterable[int]) -> dict[int, int]:
    """Return the exit statuses of processes that have ended and were adopted."""
    found = {}
    for pid in pids:
        with suppress(ChildProcessError):  # its parent has taken it
            found[pid] = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    return found


def end(pids: Iterable[int]) -> None:
    """Kill these processes and wait until they are gone."""
    pids = set(pids)
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    wait_gone(pids, timeout=60)


def _open(pid: int) -> int | None:
    """Open a file that becomes readable when the process ends; None if there is no process."""
    try:
        return os.pidfd_open(pid)
    except ProcessLookupError:
        return None


def _all_pids() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]  # noqa: PTH208 - twice as fast


def _environment(pid: int) -> bytes:
    """Return a process's environment as it is in memory, b"" if it is gone or another user's."""
    try:
        file = os.open(f"/proc/{pid}/environ", os.O_RDONLY)
    except GONE:
        return b""
    try:
        parts = []
        while part := os.read(file, 1 << 16):
            parts.append(part)
        return b"".join(parts)
    except GONE:
        return b""
    finally:
        os.close(file)


def _parents() -> dict[int, int]:
    """Return the parent of every live process. The name in `stat` may have blanks: skip it."""
    parents = {}
    for pid in _all_pids():
        with suppress(*GONE):
            state, parent = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[:2]
            if state != "Z":
                parents[pid] = int(parent)
    return parents
