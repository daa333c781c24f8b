"""Repository: a repository of our own: it is made, read, swept and measured; blocks.

Rules kept here:
- What is stored is read by us and given to git, which reads no file of a project: contents are
  stored as they are, whatever attributes or links there are.
- What killed gits have left is removed, but only while no git runs there.
"""

import fcntl
import os
import shutil
import time
import zlib
from collections.abc import Iterable, Iterator, Sequence
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
TREE: Final = "040000"
"""Git's mode of a folder."""
_LEFT: Final = (
    *("*.lock", "*.new", "gc.pid", "fast_import_crash_*", "info/refs_*", "refs/**/*.lock"),
    *("objects/??/tmp_*", "objects/pack/tmp_*", "objects/pack/.tmp-*", "objects/info/*.lock"),
    *("objects/info/*_??????", "objects/pack/*.keep"),
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
        made.mkdir(0o700, parents=True)
        run_git(made, "init", "--quiet", "--bare", "--template=", str(made))
        with suppress(OSError):
            made.rename(folder)
        if not folder.exists():
            raise GitFailed(f"{folder} cannot be made")
    except OSError as fault:
        raise GitFailed(f"{made}: {fault.strerror}") from fault
    finally:
        shutil.rmtree(made, ignore_errors=True)


def commit(
    repository: Path, reference: str, message: bytes, entries: Iterable[bytes]
) -> tuple[str, str]:
    """Set a reference to a new commit; return its id and that of its tree. Raises GitFailed.

    entries: what is in the tree, as `entry` returns it.
    """
    about = (reference.encode(), int(time.time()), len(message), message)
    head = b"commit %b\nmark :1\ncommitter eca <eca> %d +0000\ndata %d\n%b\n" % about
    fed = b"".join((head, *entries, b'ls ""\n\nget-mark :1\n'))
    told = run_git(repository, "fast-import", "--quiet", "--force", "--depth=0", fed=fed).split()
    return told[-1].decode(), told[2].decode()


def entry(path: bytes, what: bytes | str | None = None, mode: str = "100644") -> bytes:
    """Return an entry of a tree: a content, or git's id of what it has; None: there is none."""
    place = path.replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n")
    if what is None:
        return b'D "%b"\n' % place
    if isinstance(what, str):
        return b'M %b %b "%b"\n' % (mode.encode(), what.encode(), place)
    return b'M %b inline "%b"\ndata %d\n%b\n' % (mode.encode(), place, len(what), what)


def parted(entries: Iterable[bytes], most: int) -> Iterator[Sequence[bytes]]:
    """Yield parts of some bytes at most, or of one entry."""
    part, size = list[bytes](), 0
    for each in entries:
        if part and size + len(each) > most:
            yield part
            part, size = [], 0
        part.append(each)
        size += len(each)
    if part:
        yield part


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
