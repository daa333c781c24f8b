"""The operating system: what only Linux has, and what stands for it elsewhere.

Rules kept here:
- No other module reads `/proc`, asks which system runs (but for what to download), or calls what
  not all POSIX systems have.
- Each function says what it does where nothing stands for it; its callers go on without that.
- It imports little: the guardian and the bridge start with it.
"""

import errno
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

GENERATED = ("/proc/", "/sys/")
"""Folders of files that the system generates while they are read; elsewhere nothing is there."""
O_PATH = getattr(os, "O_PATH", os.O_RDONLY)
"""Opens a folder that one may search but not list; elsewhere one must be able to list it."""

# --- processes ------------------------------------------------------------------------------------

PROC = Path("/proc")
HAS_PROC = os.access(PROC / "self" / "stat", os.R_OK)
"""Whether the table of processes has files for us; elsewhere `ps` reads it."""
_ENDED = frozenset("ZX")
"""States of a process that has ended but was not reaped by its parent."""


def processes() -> Iterator[int]:
    """Yield the ids of all processes."""
    names = (path.name for path in PROC.iterdir()) if HAS_PROC else _ps("-A", "-o", "pid=").split()
    return (int(name) for name in names if name.isdigit())


def start_time(pid: int) -> str | None:
    """Return the start time of a running process, only to be compared; None if it has ended."""
    if not HAS_PROC:
        state, _, start = _ps("-o", "stat=", "-o", "lstart=", "-p", str(pid)).strip().partition(" ")
        return None if state[:1] in {"", *_ENDED} else start.strip()
    try:
        stat = (PROC / str(pid) / "stat").read_text(errors="replace")
    except OSError:
        return None
    fields = stat.rpartition(")")[2].split()  # from field 3 on: field 2, the name, may have blanks
    return None if fields[0] in _ENDED else fields[19]


def started_at(start: str) -> float | None:
    """Convert a `start_time` to seconds since the epoch; None if it is a date of `ps`."""
    if not start.isdecimal():
        return None
    booted = time.time() - time.clock_gettime(time.CLOCK_BOOTTIME)
    return booted + int(start) / os.sysconf("SC_CLK_TCK")


def variable(pid: int, name: str) -> bytes | None:
    """Return a variable of the environment with which a process was started.

    None if it has none, or none yet, or if the system does not show it.
    """
    try:
        variables = (PROC / str(pid) / "environ").read_bytes().split(b"\0")
    except OSError:
        return None
    prefix = f"{name}=".encode()
    return next((it.removeprefix(prefix) for it in variables if it.startswith(prefix)), None)


def is_read(pid: int) -> bool:
    """Return whether a process writes to a pipe, a socket or a terminal: false without `/proc`."""
    with suppress(OSError):
        targets = ((PROC / str(pid) / "fd" / it).readlink() for it in ("1", "2"))
        return any(str(it).startswith(("pipe:", "socket:", "/dev/pts/")) for it in targets)
    return False


def sleeps_in(pid: int) -> str:
    """Return the function of the kernel in which a process sleeps, "" if that is not shown."""
    try:
        return (PROC / str(pid) / "wchan").read_text()
    except OSError:
        return ""


def exit_descriptor(pid: int) -> int | None:
    """Return a descriptor that becomes readable when the process exits, if the system has one."""
    if hasattr(os, "pidfd_open"):
        with suppress(OSError):  # a kernel before 5.3, or a sandbox
            return os.pidfd_open(pid)
    return None


def _ps(*arguments: str) -> str:
    import subprocess  # noqa: PLC0415 - a third of the start-up time, and not needed on Linux

    command = ["ps", *arguments]  # from PATH: its folder differs between systems
    return subprocess.run(command, capture_output=True, text=True, check=False, env=None).stdout


# --- pipes and sockets ----------------------------------------------------------------------------


def widen(pipe: int, size: int) -> None:
    """Let a pipe hold as many bytes, if it can; elsewhere it keeps its size."""
    import fcntl  # noqa: PLC0415 - the guardian needs none

    if hasattr(fcntl, "F_SETPIPE_SZ"):
        with suppress(OSError):  # there is a limit for all pipes of a user
            fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, size)


_UID = slice(4, 8)
"""Where the user's id is, on Linux (pid, uid, gid) and on macOS and FreeBSD (version, uid, …)."""


def peer_user(getsockopt: Callable[[int, int, int], bytes]) -> int | None:
    """Return the id of the user on the other side; None, as for a stranger, if nothing says it.

    getsockopt: that of a connected socket.
    """
    import socket  # noqa: PLC0415 - the guardian needs none

    for level, name in ((socket.SOL_SOCKET, "SO_PEERCRED"), (0, "LOCAL_PEERCRED")):
        option = getattr(socket, name, None)
        if option is not None:
            return int.from_bytes(getsockopt(level, option, 12)[_UID], sys.byteorder)
    return None


# --- files ----------------------------------------------------------------------------------------

_NAMELESS = getattr(os, "O_TMPFILE", 0)
_ACL = "system.posix_acl_access"


def create_nameless(folder: int, flags: int, mode: int) -> int | None:
    """Create a file without a name in a folder; None if the system or the file system cannot."""
    if _NAMELESS and HAS_PROC:
        with suppress(OSError):
            return os.open(".", _NAMELESS | flags, mode, dir_fd=folder)
    return None


def give_name(file: int, folder: int, name: str) -> None:
    """Give a file without a name one. Raises OSError."""
    os.link(f"{PROC}/self/fd/{file}", name, dst_dir_fd=folder)


def copy_attributes(file: int, like: int) -> None:
    """Give a file the extended attributes of another, where Python can. Raises OSError."""
    if hasattr(os, "listxattr"):
        names = _attributes(like)
        for name in names:
            os.setxattr(file, name, os.getxattr(like, name))
        if _ACL not in names and _ACL in _attributes(file):  # inherited from the folder
            os.removexattr(file, _ACL)


def _attributes(file: int) -> list[str]:
    try:
        return os.listxattr(file)
    except OSError as fault:
        if fault.errno == errno.ENOTSUP:
            return []
        raise


# --- programs -------------------------------------------------------------------------------------


def has_glibc() -> bool:
    """Return whether programs that need the C library of GNU run here."""
    with suppress(ValueError, OSError):
        return bool(os.confstr("CS_GNU_LIBC_VERSION"))
    return False
