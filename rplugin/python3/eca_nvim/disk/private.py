"""Private folders: folders for our own files, for as long as this process lives.

Only the user has access to one (0700), and its process holds a lock on it.
"""

import fcntl
import os
import socket
import weakref
from contextlib import suppress
from pathlib import Path
from shutil import rmtree

from eca_nvim.spawn import SHORT

KINDS = ("eca-images-", "eca-links-", "eca-mcp-")
"""Prefixes of our folders' names."""

_OPEN = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_OTHERS = 0o077
"""Permissions of everybody but the user."""


class PrivateFolder:
    """A folder that is created when first used and removed with the process."""

    def __init__(self, kind: str, place: Path | None = None) -> None:
        """`place`: its path, of the kind, if others have that already."""
        assert kind in KINDS, "else nobody removes the folder of a host that was killed"
        self._kind = kind
        self._place = place
        self._path: Path | None = None
        self._remover: weakref.finalize[[Path, int], PrivateFolder] | None = None

    @property
    def path(self) -> Path:
        """The folder; it is created again if somebody has removed it. Raises OSError."""
        if self._path is not None and not self._path.is_dir():
            self.remove()
        if self._path is None:
            self._path, lock = _made(self._kind, self._place)
            self._remover = weakref.finalize(self, _remove, self._path, lock)
        return self._path

    def remove(self) -> None:
        """Remove the folder and everything in it."""
        if self._remover is not None:
            self._remover()
            self._path = self._remover = None


def sweep() -> None:
    """Remove the folders of processes that were killed; blocks. Never raises.

    A folder has one of our names, belongs to the user, has our permissions and is not locked. No
    link is followed.
    """
    from tempfile import gettempdir  # noqa: PLC0415 - 4 ms of the start

    for above in {gettempdir(), SHORT}:
        with suppress(OSError):
            for path in [path for path in Path(above).iterdir() if path.name.startswith(KINDS)]:
                with suppress(OSError):  # it is another user's, or still in use
                    _sweep(path)


def listen(path: Path) -> socket.socket:
    """Listen for this user's processes at a path in a private folder. Raises OSError.

    Each connection is to be asked for its user, too (`system.peer_user`).
    """
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        listener.bind(str(path))
        path.chmod(0o600)
        listener.listen()
    except OSError:
        listener.close()
        raise
    return listener


def _made(kind: str, place: Path | None) -> tuple[Path, int]:
    """Create a folder and lock it; try again if another process sweeps it before it is locked."""
    while True:
        path = _new(kind) if place is None else place
        if place is not None:
            place.mkdir(0o700)
        with suppress(FileNotFoundError):
            lock = os.open(path, _OPEN)
            with suppress(OSError):  # if nothing can be locked here, nothing is swept
                fcntl.flock(lock, fcntl.LOCK_EX)
            if os.fstat(lock).st_nlink:
                return path, lock
            os.close(lock)


def _new(kind: str) -> Path:
    from tempfile import mkdtemp  # noqa: PLC0415 - 4 ms of the start

    return Path(mkdtemp(prefix=kind))


def _remove(path: Path, lock: int) -> None:
    rmtree(path, ignore_errors=True)
    os.close(lock)


def _sweep(path: Path) -> None:
    lock = os.open(path, _OPEN)
    try:
        found = os.fstat(lock)
        if found.st_uid == os.geteuid() and not found.st_mode & _OTHERS:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            rmtree(path)
    finally:
        os.close(lock)
