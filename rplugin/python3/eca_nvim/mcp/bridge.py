"""The bridge: connects an agent to the host's socket, as an MCP server on its standard pipes.

The agent starts it as `python -I -S bridge.py SOCKET`. It copies bytes in both directions.

Rules kept here:
- It ends when either side ends. The thread of one direction ends the process of both.
- The socket must belong to this user: once its host is gone, anybody can make a file of its name.
- It imports little: an agent may start it for each session.
"""

import _thread
import os
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

if __name__ == "__main__":  # a program: `-I` leaves out the folder of the package
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from eca_nvim.system import peer_user

PIECE: Final = 1 << 16
"""Bytes that are copied at once."""


def bridge(path: str) -> int:
    """Copy until either side ends; returns the exit code."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connected:
        try:
            connected.connect(path)
        except OSError as fault:
            sys.stderr.write(f"eca: Neovim is gone, {fault.strerror}: {path}\n")
            return 1
        if peer_user(connected.getsockopt) != os.geteuid():
            sys.stderr.write(f"eca: this socket is another user's: {path}\n")
            return 1
        _thread.start_new_thread(_copy_and_exit, (connected,))
        _copy(lambda: os.read(0, PIECE), connected.sendall)
    return 0


def _copy_and_exit(connected: socket.socket) -> None:
    _copy(lambda: connected.recv(PIECE), _write)
    os._exit(0)


def _copy(read: Callable[[], bytes], write: Callable[[bytes], None]) -> None:
    with suppress(OSError):  # the other side has ended
        while piece := read():
            write(piece)


def _write(piece: bytes) -> None:
    while piece:
        piece = piece[os.write(1, piece) :]


if __name__ == "__main__":
    os._exit(bridge(sys.argv[1]))
