"""The guardian: a process that ends a host and its servers when Neovim or the host is gone.

The host starts it (`nvim/guardian_process.py`) as `python -I -S guardian.py PIPE HOST`: the
descriptor to read from, and the host's process id. `transport` ends its servers with the
functions of this file, too.

    Neovim ends   its pipe to the host closes; the guardian has inherited it as its standard input
       │          host: saves the user's text, asks its servers to end (`ASKED`), exits
       │          guardian: kills a host that is still there after `HOST_EXIT_S`
    host ends     PIPE closes
       │          guardian: if the servers were asked, waits up to `SERVER_EXIT_S` for them
       └─ then    ends their sessions: SIGTERM, `GRACE_S`, SIGKILL

Rules kept here:
- It depends on no message but the ids of sessions: a pipe closes however its process ends.
- It ends sessions, not process groups: a program may give its children a group of their own, as
  `timeout` does.
- Some agents run each command in a session of its own. A mark in the environment leads there from
  the server (`strays`), on Linux. A daemon, whose output nobody was to read, is left alone.
- Process ids are reused: a session is signalled only while its leader has the same start time, or
  is gone (an id is not reused while its session has members). One that has none is forgotten as
  the next is named.
- It ignores signals that ask it to end, and it imports little: it starts together with the host.
  `typing` would be a fifth of its start.
- Its exit status says whether anything was left for it to end (`HAD_TO_END`): after an ordinary
  end of Neovim there is nothing, and tests hold us to that.
"""

import os
import select
import signal
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Set
from contextlib import suppress
from pathlib import Path

if __name__ == "__main__":  # a program: `-I` leaves out the folder of the package
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from eca_nvim import system

# Seconds that each has to end. A user who restarts or leaves a server waits for all steps of it.
GOODBYE_S = 3.0
"""For an ECA server to answer `shutdown`: it stops its MCP servers."""
EXIT_S = 0.5
"""For a server to exit after that, or after the end of its input: agents save their sessions."""
GRACE_S = 0.15
"""Between SIGTERM and SIGKILL."""
CLOSE_S = 5.0
"""For all steps together; then closing is cancelled, which kills."""
PARTING_S = 1.0
"""For a server that closed a pipe to exit by itself."""
HOST_EXIT_S = 3.0
"""For a host to save and to exit after Neovim."""
SERVER_EXIT_S = 3.0
"""For servers to exit when the host has asked them and is gone: they end servers of their own."""
HAD_TO_END = 1
"""Exit status if it had to kill the host, or if a session of the host had still processes."""
ASKED = 0
"""Written by the host in place of a session's id when it has asked all servers to end."""
ID_BYTES = 4
"""Bytes of a session's id in the pipe, so that one read returns one id."""

MARK = "ECA_NVIM_SERVER"
"""The variable with the mark of a server, which all that it starts inherits."""

POLL_S = 0.01
"""Seconds between two checks whether a session is gone: there is no event for it."""


def end_sessions(sessions: Iterable[int]) -> set[int]:
    """End all processes of these sessions; returns those that had any.

    Takes at most `2 * GRACE_S`, however many they are.
    """
    left = {*groups(set(sessions))}
    found = set(left)
    for number in (signal.SIGTERM, signal.SIGKILL):
        deadline = time.monotonic() + GRACE_S
        left = signal_sessions(left, number)
        while left and time.monotonic() < deadline:
            time.sleep(POLL_S)
            left = {*groups(left)}
    return found


def signal_sessions(sessions: Set[int], number: signal.Signals) -> set[int]:
    """Send a signal to all processes of sessions; returns those that had any."""
    found = groups(sessions)
    for group in set[int]().union(*found.values()):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(group, number)
    return {*found}


def groups(sessions: Set[int]) -> dict[int, set[int]]:
    """Return the ids of the process groups that have running processes, by their sessions.

    One that has ended may stay in the table for long, as in containers where nobody reaps it.
    """
    found: dict[int, set[int]] = {}
    for pid in system.processes() if sessions else ():
        with suppress(OSError):  # the process has ended
            session = os.getsid(pid)
            if session in sessions and system.start_time(pid) is not None:
                found.setdefault(session, set()).add(os.getpgid(pid))
    return found


def marked(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a server, with a mark: our process id, a dot, and a number."""
    return {**environment, MARK: f"{os.getpid()}.{time.monotonic_ns()}"}


def mark_of(pid: int) -> str:
    """Return the mark of a process, "" without one; one that has just started may have none yet."""
    with suppress(UnicodeDecodeError):  # it is not ours
        return (system.variable(pid, MARK) or b"").decode()
    return ""


def strays(mark: str) -> set[int]:
    """Return the sessions of processes with this mark whose output only their server reads.

    The mark of a host, its process id, is that of all its servers.
    """
    found = set[int]()
    for pid in system.processes() if mark and system.HAS_PROC else ():
        with suppress(OSError):  # the process has ended
            if f"{mark_of(pid)}.".startswith(f"{mark}.") and system.is_read(pid):
                found.add(os.getsid(pid))
    return found


def guard(pipe: int, host: int) -> bool:
    """Guard a host until it is gone, then end its sessions; returns whether anything was left."""
    leaders: dict[int, str | None] = {}
    for leader, started in _sessions_of(pipe):
        _forget_ended(leaders)
        leaders[leader] = started
    hung = _end_host(host)
    if ASKED in leaders:
        del leaders[ASKED]
        _wait_for_exit(leaders)
    own = {it for it, started in leaders.items() if system.start_time(it) in (None, started)}
    return bool(end_sessions(own | strays(str(host)))) or hung


def _forget_ended(leaders: dict[int, str | None]) -> None:
    """Forget sessions without processes: their ids may be given to others."""
    gone = {it for it in leaders if it != ASKED and _is_gone(it)}
    with suppress(OSError):  # the system is short of something: they may have processes
        for leader in gone - groups(gone).keys():
            del leaders[leader]


def _is_gone(pid: int) -> bool:
    try:
        os.getsid(pid)
    except ProcessLookupError:
        return True
    except OSError:  # another user's
        pass
    return False


def _end_host(host: int) -> bool:
    """Kill the host, our parent, unless it is about to end; returns whether it was killed."""
    deadline = time.monotonic() + GRACE_S
    while os.getppid() == host:  # its pipe closes just before it is gone
        if time.monotonic() > deadline:
            os.kill(host, signal.SIGKILL)
            return True
        time.sleep(POLL_S)
    return False


def _wait_for_exit(leaders: Mapping[int, str | None]) -> None:
    """Wait until the leaders have exited by themselves; at most `SERVER_EXIT_S`."""
    deadline = time.monotonic() + SERVER_EXIT_S
    left = [it for it in leaders.items() if it[1] is not None]
    while left and time.monotonic() < deadline:
        time.sleep(POLL_S)
        left = [(it, started) for it, started in left if system.start_time(it) == started]


def _sessions_of(pipe: int) -> Iterator[tuple[int, str | None]]:
    """Yield the leader of each session that the host names, with its start time.

    Returns when the host has ended, or has not ended after Neovim.
    """
    poller, timeout_ms = select.poll(), None
    poller.register(pipe, select.POLLIN)
    poller.register(0, select.POLLHUP)
    while events := dict(poller.poll(timeout_ms)):
        if pipe in events:
            if not (name := os.read(pipe, ID_BYTES)):
                return
            leader = int.from_bytes(name, sys.byteorder)
            yield leader, system.start_time(leader)
        elif events[0] & select.POLLHUP:
            poller.unregister(0)
            timeout_ms = HOST_EXIT_S * 1000
        else:
            time.sleep(GRACE_S)  # macOS also reports bytes that the host has not read yet


if __name__ == "__main__":
    for ignored in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(ignored, signal.SIG_IGN)
    sys.exit(HAD_TO_END if guard(*map(int, sys.argv[1:])) else 0)
