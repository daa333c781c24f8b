"""Private folders: folders for our own files, for as long as this process lives.

Only the user has access to one (0700), and its process holds a lock on it.
"""

import fcntl
import os
import weakref
from contextlib import suppress
from pathlib import Path
from shutil import rmtree

KINDS = ("eca-checkpoints-", "eca-images-", "eca-mcp-")
"""Prefixes of our folders' names."""

_OPEN = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_OTHERS = 0o077
"""Permissions of everybody but the user."""


class PrivateFolder:
    """A folder that is created when first used and removed with the process."""

    def __init__(self, kind: str) -> None:
        assert kind in KINDS, "else nobody removes the folder of a host that was killed"
        self._kind = kind
        self._path: Path | None = None
        self._remover: weakref.finalize[[Path, int], PrivateFolder] | None = None

    @property
    def path(self) -> Path:
        """The folder; it is created again if somebody has removed it. Raises OSError."""
        if self._path is not None and not self._path.is_dir():
            self.remove()
        if self._path is None:
            self._path, lock = _made(self._kind)
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

    with suppress(OSError):
        above = Path(gettempdir())
        for path in [path for path in above.iterdir() if path.name.startswith(KINDS)]:
            with suppress(OSError):  # it is another user's, or still in use
                _sweep(path)


def _made(kind: str) -> tuple[Path, int]:
    """Create a folder and lock it; try again if another process sweeps it before it is locked."""
    from tempfile import mkdtemp  # noqa: PLC0415 - 4 ms of the start

    while True:
        path = Path(mkdtemp(prefix=kind))
        with suppress(FileNotFoundError):
            lock = os.open(path, _OPEN)
            with suppress(OSError):  # if nothing can be locked here, nothing is swept
                fcntl.flock(lock, fcntl.LOCK_EX)
            if os.fstat(lock).st_nlink:
                return path, lock
            os.close(lock)


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
