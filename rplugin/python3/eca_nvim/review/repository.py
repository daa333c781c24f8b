"""Repository: a repository of our own: it is made, read, swept and measured; blocks.

Rules kept here:
- What a project says of its files counts less than what stands in the repository: contents are
  stored as they are.
- What killed gits have left is removed, but only while no git runs there.
"""

import fcntl
import os
import shutil
import zlib
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final

from eca_nvim.review.git import GitFailed, NoRoom, locked, run_git

LEAST_FREE: Final = 64 << 20
"""Bytes that stay free on the disk, at least."""
MOST_READ_AHEAD: Final = 16 << 20
"""Bytes of contents that are read together, at most."""
_BLOCK: Final = 512
"""Bytes in which the space of files is counted (`st_blocks`)."""
_ATTRIBUTES: Final = "* -text -filter -ident -working-tree-encoding -diff -merge\n"
_LEFT: Final = (
    *("*.lock", "*.new", "gc.pid", "fast_import_crash_*", "info/refs_*", "refs/**/*.lock"),
    *("objects/??/tmp_*", "objects/pack/tmp_*", "objects/pack/.tmp-*", "objects/info/*.lock"),
    "objects/info/*_??????",
)
"""What git removes when it ends, and leaves behind if it is killed or the disk is full."""


def make_repository(folder: Path) -> None:
    """Make a bare repository, if there is none; another Neovim may do so at the same time.

    Raises GitFailed.
    """
    if folder.exists():
        return
    made = folder.with_name(f"{folder.name}-{os.getpid()}")
    try:
        shutil.rmtree(made, ignore_errors=True)  # left by a kill
        (made / "info").mkdir(parents=True)
        made.chmod(0o700)
        run_git(made, "init", "--quiet", "--bare", "--template=", str(made))
        (made / "info" / "attributes").write_text(_ATTRIBUTES)
        with suppress(OSError):
            made.rename(folder)
        if not folder.exists():
            raise GitFailed(f"{folder} cannot be made")
    except OSError as fault:
        raise GitFailed(f"{made}: {fault.strerror}") from fault
    finally:
        shutil.rmtree(made, ignore_errors=True)


def read_object(repository: Path, name: str) -> bytes:
    """Return a content, by git's id or another name of it. Raises GitFailed."""
    with suppress(OSError, zlib.error):  # most are no more than a file, and a process takes ms
        return zlib.decompress(_loose(repository, name).read_bytes()).partition(b"\0")[2]
    return run_git(repository, "cat-file", "blob", name)


def read_packed(repository: Path, ids: Iterable[str]) -> dict[str, bytes]:
    """Return those of some contents that are no files, up to a limit; two processes read all.

    Raises GitFailed.
    """
    found, sizes, left = dict[str, bytes](), dict[str, int](), MOST_READ_AHEAD
    names = "".join(f"{it}\n" for it in ids if not _loose(repository, it).exists())
    for line in run_git(repository, "cat-file", "--batch-check", fed=names.encode()).splitlines():
        match line.decode().split(" "):
            case [name, "blob", digits] if int(digits) <= left:
                sizes[name] = int(digits)
                left -= sizes[name]
    fed = "".join(f"{it}\n" for it in sizes).encode()
    told, at = run_git(repository, "cat-file", "--batch", fed=fed), 0
    for name, size in sizes.items():
        at = told.index(b"\n", at) + 1  # after the line that says what follows
        found[name], at = told[at : at + size], at + size + 1
    return found


def _loose(repository: Path, name: str) -> Path:
    """Return the place of an object that is not in a pack."""
    return repository / "objects" / name[:2] / name[2:]


def sweep(repository: Path) -> bool:
    """Remove what killed gits have left; returns whether that was possible: none runs there now."""
    with suppress(OSError), locked(repository, fcntl.LOCK_EX | fcntl.LOCK_NB) as lock:
        if lock is None:
            return False
        for left in [path for it in _LEFT for path in repository.glob(it)]:
            left.unlink(missing_ok=True)
        return True
    return False


def require_space(repository: Path, wanted: int) -> None:
    """Raise NoRoom if fewer bytes are free on its disk, besides those that stay free."""
    try:
        disk = os.statvfs(repository)
    except OSError as fault:
        raise GitFailed(f"{repository}: {fault.strerror}") from fault
    free, wanted = disk.f_bavail * disk.f_frsize, wanted + LEAST_FREE
    if free < wanted:
        need = f"{wanted >> 20} MiB are needed in {repository.parent}, and {free >> 20} are free"
        raise NoRoom(f"the disk is full: {need}")


def size_of(repository: Path) -> int:
    """Return the bytes that a repository takes on the disk."""
    size = 0
    for path in repository.rglob("*"):
        with suppress(OSError):  # it is gone
            size += path.lstat().st_blocks * _BLOCK
    return size
