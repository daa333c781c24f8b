"""The guardian: a process that ends what a host and its servers would leave behind.

The host starts it (`nvim/guardian_process.py`) as `python -I -S guardian.py PIPE HOST`: the
descriptor to read from, and the host's process id. `transport` ends its servers with the
functions of this file, too.

Rules kept here:
- It needs nobody's help. The end of its own standard input, which is the host's, means that Neovim
  is gone; the end of PIPE means that the host is.
- A host has `PATIENCE_S` to end by itself after Neovim. Then it is killed: it hangs, or is stopped.
- When the host is gone, the sessions that it has named end: SIGTERM, `GRACE_S`, SIGKILL. If the
  host has asked their leaders to end (`ASKED`), they have `FAREWELL_S` for it before.
- A session, and not a group: a program may give what it starts a group of its own, as `timeout`
  does. Only what makes a session of its own escapes.
- Process ids are used again: a session is signalled only while its leader is the process that was
  named, by its start time, or is gone (the id is not used again while the session has members).
- It ignores signals that ask it to end, and it imports little: it starts together with the host.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

GRACE_S: Final = 0.15
"""Seconds from one step of a ladder to the next."""
PATIENCE_S: Final = 3.0
"""Seconds a host has to write what it keeps and to end, after Neovim."""
FAREWELL_S: Final = 3.0
"""Seconds a server that was asked to end has for it: it ends servers of its own, too."""
ASKED: Final = 0
"""What the host writes in place of a session when it has asked all servers to end."""
ID_BYTES: Final = 4
"""Bytes of a session's id in the pipe, so that one read takes one."""

BEAT_S: Final = 0.01
"""Seconds between two looks whether a session is gone: the end of a stranger wakes nobody."""
PROC: Final = Path("/proc")
HAS_PROC = (PROC / "self" / "stat").exists()


def end(sessions: Iterable[int]) -> None:
    """End all processes of these sessions; at most `2 * GRACE_S`."""
    left = list(sessions)
    for number in (signal.SIGTERM, signal.SIGKILL):
        deadline = time.monotonic() + GRACE_S
        left = [session for session in left if signal_session(session, number)]
        while left and time.monotonic() < deadline:
            time.sleep(BEAT_S)
            left = [session for session in left if groups(session)]


def signal_session(session: int, number: signal.Signals) -> bool:
    """Send a signal to all of a session; says whether there was anyone."""
    found = groups(session)
    for group in found:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(group, number)
    return bool(found)


def groups(session: int) -> set[int]:
    """Return the ids of the process groups of a session."""
    found = set()
    for pid in _processes():
        with suppress(OSError):  # it is gone already
            if os.getsid(pid) == session:
                found.add(os.getpgid(pid))
    return found


def _processes() -> Iterator[int]:
    names = (path.name for path in PROC.iterdir()) if HAS_PROC else _ps("-A", "-o", "pid=").split()
    return (int(name) for name in names if name.isdigit())


_ENDED: Final = frozenset("ZX")
"""States of a process that has ended, and whose parent has not looked yet."""


def start_time(pid: int) -> str | None:
    """Return when a process that runs was started, in a form that is only good for comparing."""
    if not HAS_PROC:
        state, _, start = _ps("-o", "stat=", "-o", "lstart=", "-p", str(pid)).strip().partition(" ")
        return None if state[:1] in {"", *_ENDED} else start.strip()
    try:
        stat = (PROC / str(pid) / "stat").read_text(errors="replace")
    except OSError:
        return None
    fields = stat.rpartition(")")[2].split()  # from field 3 on: the name, field 2, may hold blanks
    return None if fields[0] in _ENDED else fields[19]


def _ps(*arguments: str) -> str:
    import subprocess  # noqa: PLC0415 - costs a third of the guardian's start, and Linux needs none

    command = ["ps", *arguments]  # where PATH says: a fixed place differs between systems
    return subprocess.run(command, capture_output=True, text=True, check=False, env=None).stdout


def guard(pipe: int, host: int) -> None:
    """Guard a host until it is gone, then end its sessions."""
    leaders = dict(_named(pipe, host))
    if ASKED in leaders:
        del leaders[ASKED]
        _let_end(leaders)
    end(leader for leader, started in leaders.items() if start_time(leader) in (None, started))


def _let_end(leaders: Mapping[int, str | None]) -> None:
    """Wait until the leaders have ended by themselves; at most `FAREWELL_S`."""
    deadline = time.monotonic() + FAREWELL_S
    left = [it for it in leaders.items() if it[1] is not None]
    while left and time.monotonic() < deadline:
        time.sleep(BEAT_S)
        left = [(leader, started) for leader, started in left if start_time(leader) == started]


def _named(pipe: int, host: int) -> Iterator[tuple[int, str | None]]:
    """Give the leader of each session that the host names, with its start, while the host lives."""
    poller, patience_ms = select.poll(), None
    poller.register(pipe, select.POLLIN)
    poller.register(0, select.POLLHUP)
    while events := dict(poller.poll(patience_ms)):
        if pipe in events:
            if not (name := os.read(pipe, ID_BYTES)):
                return
            leader = int.from_bytes(name, sys.byteorder)
            yield leader, start_time(leader)
        elif events[0] & select.POLLHUP:
            poller.unregister(0)
            patience_ms = PATIENCE_S * 1000
        else:
            time.sleep(GRACE_S)  # macOS also tells of bytes that the host has not read yet
    if os.getppid() == host:
        os.kill(host, signal.SIGKILL)


if __name__ == "__main__":
    for ignored in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(ignored, signal.SIG_IGN)
    guard(*map(int, sys.argv[1:]))
