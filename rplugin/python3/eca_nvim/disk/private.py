"""Private folders: files of our own for as long as this process lives.

Rules kept here:
- Only the user can look into one (0700). Its process holds a lock on it.
- One whose process was killed is removed when the next one starts: only what has our name, is the
  user's, has those permissions and is locked by nobody. No link is followed.
"""

from __future__ import annotations

import fcntl
import os
import weakref
from contextlib import suppress
from pathlib import Path

KINDS = ("eca-checkpoints-", "eca-images-")
"""How the names of our folders begin."""

_OPEN = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_OTHERS = 0o077
"""Permissions of anybody but the user."""


class PrivateFolder:
    """A folder that is made when it is first needed, and goes with the process."""

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._path: Path | None = None
        self._remover: weakref.finalize[[Path, int], PrivateFolder] | None = None

    @property
    def path(self) -> Path:
        """Give the folder; one that somebody has removed is made again. Raises OSError."""
        if self._path is not None and not self._path.is_dir():
            self.remove()
        if self._path is None:
            self._path, lock = _made(self._kind)
            self._remover = weakref.finalize(self, _remove, self._path, lock)
        return self._path

    def remove(self) -> None:
        """Remove the folder with all that is in it."""
        if self._remover is not None:
            self._remover()
            self._path = self._remover = None


def sweep() -> None:
    """Remove the folders of processes that have died; blocks. Never raises."""
    import tempfile  # noqa: PLC0415 - the start makes no folder

    with suppress(OSError):
        above = Path(tempfile.gettempdir())
        for path in [path for path in above.iterdir() if path.name.startswith(KINDS)]:
            with suppress(OSError):  # it is somebody else's, or still in use
                _sweep(path)


def _made(kind: str) -> tuple[Path, int]:
    """Make a folder and lock it; another process may sweep it before it is locked."""
    import tempfile  # noqa: PLC0415 - the start makes no folder

    while True:
        path = Path(tempfile.mkdtemp(prefix=kind))
        with suppress(FileNotFoundError):
            lock = os.open(path, _OPEN)
            with suppress(OSError):  # where nothing can be locked, nothing is swept
                fcntl.flock(lock, fcntl.LOCK_EX)
            if os.fstat(lock).st_nlink:
                return path, lock
            os.close(lock)


def _remove(path: Path, lock: int) -> None:
    from shutil import rmtree  # noqa: PLC0415 - the start removes no folder

    rmtree(path, ignore_errors=True)
    os.close(lock)


def _sweep(path: Path) -> None:
    from shutil import rmtree  # noqa: PLC0415 - the start removes no folder

    lock = os.open(path, _OPEN)
    try:
        found = os.fstat(lock)
        if found.st_uid == os.geteuid() and not found.st_mode & _OTHERS:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            rmtree(path)
    finally:
        os.close(lock)
