"""Replacing: a file gets another content, or goes, and is never found broken.

Rules kept here:
- The new content is written beside the file and synced, then it takes the file's name. A failure
  or a kill at any moment leaves the one content or the other.
- A file that has other names, or that we cannot replace with the same owner, is written in place:
  first its content is copied. A failure puts the content back; where that fails too, the copy
  stays and `Damaged` names it.
- No link is followed: each folder on the way is opened from the one above it.
- Permissions, owner and extended attributes (so ACLs, too) stay as they are.
- What somebody writes meanwhile stays: another file, or other times of the file, and it is left.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

NOT_ORDINARY = "it is no ordinary file"
LINK_IN_THE_WAY = "a link or a file is where a folder was"
IN_PLACE = frozenset({errno.EACCES, errno.EPERM, errno.EBUSY})
"""Why a file cannot be replaced though it may be written: its folder, its owner, a mount on it."""

CHANGED = "somebody has written it meanwhile"

NEW_MODE = 0o644

_FOLDER = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC | getattr(os, "O_PATH", os.O_RDONLY)
_FILE = os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_WRITE = os.O_WRONLY | os.O_CLOEXEC
_NEW = _WRITE | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
_NAMELESS = getattr(os, "O_TMPFILE", 0)
_PRIVATE = 0o600
_ACL = "system.posix_acl_access"


class Damaged(OSError):
    """Raised when a file is not as it was; `copy` is the path of a file that holds what it was."""

    def __init__(self, fault: OSError, copy: str) -> None:
        super().__init__(fault.errno, fault.strerror)
        self.copy = copy


def replace(place: str, content: bytes, mode: int = NEW_MODE) -> None:
    """Give a file a content, or make it, with the folders above it.

    place: an absolute path without links; a link in place of the file itself is replaced. mode:
    permissions of a file that is not there yet. Raises OSError (the file is as it was) and Damaged.
    """
    above, name = os.path.split(place)
    with _folder(above, make=True) as folder:
        try:
            file = os.open(name, _FILE, dir_fd=folder)
        except OSError as fault:
            if fault.errno not in (errno.ENOENT, errno.ELOOP):
                raise
            _beside(folder, name, content, mode)
            return
        try:
            _replace(file, folder, place, content)
        finally:
            os.close(file)


def remove(place: str, folders: int = 0) -> None:
    """Remove a file, and so many folders above it, as far as they are empty then.

    Raises OSError; a file that is not there is none.
    """
    path = Path(place)
    with suppress(FileNotFoundError), _folder(str(path.parent)) as folder:
        os.unlink(path.name, dir_fd=folder)
    with suppress(OSError):  # not empty: the others above are not empty either
        for empty in list(path.parents)[:folders]:
            with _folder(str(empty.parent)) as folder:
                os.rmdir(empty.name, dir_fd=folder)


@contextmanager
def _folder(path: str, *, make: bool = False) -> Iterator[int]:
    """Open a folder through no link, and make what is missing of it. Raises OSError."""
    current = os.open("/", _FOLDER)
    try:
        for name in Path(path).parts[1:]:
            above, current = current, _inner(current, name, make=make)
            os.close(above)
        yield current
    finally:
        os.close(current)


def _inner(folder: int, name: str, *, make: bool) -> int:
    try:
        return os.open(name, _FOLDER, dir_fd=folder)
    except FileNotFoundError:
        if not make:
            raise
        with suppress(FileExistsError):
            os.mkdir(name, dir_fd=folder)
        return os.open(name, _FOLDER, dir_fd=folder)
    except OSError as fault:
        if fault.errno in (errno.ENOTDIR, errno.ELOOP):
            raise OSError(fault.errno, LINK_IN_THE_WAY) from fault
        raise


def _replace(file: int, folder: int, place: str, content: bytes) -> None:
    found = os.fstat(file)
    if not stat.S_ISREG(found.st_mode):
        raise OSError(errno.EINVAL, NOT_ORDINARY)
    if found.st_nlink == 1:
        try:
            _beside(folder, Path(place).name, content, found.st_mode, like=file)
        except OSError as fault:
            if fault.errno not in IN_PLACE:
                raise
        else:
            return
    _in_place(file, folder, place, content)


# --- beside ---------------------------------------------------------------------------------------


def _beside(folder: int, name: str, content: bytes, mode: int, like: int | None = None) -> None:
    """Write a new file, which then takes a name; with the owner of the one it is like."""
    found = _sight(folder, name)
    fresh = f".eca-{os.urandom(8).hex()}"
    file, is_named = _new(folder, fresh)
    try:
        _write(file, content)
        if like is not None:
            _dress(file, like)
        os.fchmod(file, stat.S_IMODE(mode))
        os.fsync(file)
        _require_same(folder, name, found)
        if not is_named:
            os.link(f"/proc/self/fd/{file}", fresh, dst_dir_fd=folder)
            is_named = True
        os.rename(fresh, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        if is_named:
            with suppress(OSError):
                os.unlink(fresh, dir_fd=folder)
        raise
    finally:
        os.close(file)


def _sight(folder: int, name: str) -> tuple[int, ...] | None:
    """Tell which file has a name and when it was written; None: no file has it. Raises OSError."""
    try:
        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def _require_same(folder: int, name: str, before: tuple[int, ...] | None) -> None:
    if _sight(folder, name) != before:
        raise OSError(errno.ESTALE, CHANGED)


def _new(folder: int, name: str) -> tuple[int, bool]:
    """Make a file; it has no name where that can be, so that a kill leaves nothing of it."""
    if _NAMELESS and Path("/proc/self/fd").exists():
        with suppress(OSError):  # the file system has no such files, or it fails below as well
            return os.open(".", _NAMELESS | _WRITE, _PRIVATE, dir_fd=folder), False
    return os.open(name, _NEW, _PRIVATE, dir_fd=folder), True


def _dress(file: int, like: int) -> None:
    """Give a file the owner and the attributes of another. Raises OSError."""
    wanted, found = os.fstat(like), os.fstat(file)
    if (wanted.st_uid, wanted.st_gid) != (found.st_uid, found.st_gid):
        os.fchown(file, wanted.st_uid, wanted.st_gid)
    if hasattr(os, "listxattr"):
        names = _attributes(like)
        for name in names:
            os.setxattr(file, name, os.getxattr(like, name))
        if _ACL not in names and _ACL in _attributes(file):  # the folder has given it one
            os.removexattr(file, _ACL)


def _attributes(file: int) -> list[str]:
    try:
        return os.listxattr(file)
    except OSError as fault:
        if fault.errno == errno.ENOTSUP:
            return []
        raise


# --- in place -------------------------------------------------------------------------------------


def _in_place(file: int, folder: int, place: str, content: bytes) -> None:
    """Write a file where it is. It is never emptied first: what was there has its room still."""
    name = Path(place).name
    found = _sight(folder, name)
    before = _read(file)
    copy = _copy(folder, place, before)
    try:
        _require_same(folder, name, found)
    except OSError:
        _drop(copy)
        raise
    try:
        _overwrite(file, content)
    except OSError as fault:
        try:
            _overwrite(file, before)
        except OSError:
            raise Damaged(fault, copy) from fault
        _drop(copy)
        raise
    _drop(copy)


def _drop(copy: str) -> None:
    with suppress(OSError):  # the file is whole, and that is what counts
        Path(copy).unlink()


def _copy(folder: int, place: str, content: bytes) -> str:
    """Write a copy beside a file, else where temporary files are; gives its path."""
    above, name = os.path.split(place)
    beside = f"{name[:50]}.eca-copy-{os.urandom(4).hex()}"
    try:
        file, path = os.open(beside, _NEW, _PRIVATE, dir_fd=folder), f"{above}/{beside}"
    except OSError:
        import tempfile  # noqa: PLC0415 - the start puts nothing aside

        file, path = tempfile.mkstemp(prefix="eca-copy-")
    try:
        _write(file, content)
        os.fsync(file)
    except BaseException:
        _drop(path)
        raise
    finally:
        os.close(file)
    return path


def _overwrite(file: int, content: bytes) -> None:
    os.lseek(file, 0, os.SEEK_SET)
    _write(file, content)
    os.ftruncate(file, len(content))
    os.fsync(file)


def _read(file: int) -> bytes:
    with os.fdopen(file, "rb", closefd=False) as stream:
        return stream.read()


def _write(file: int, content: bytes) -> None:
    left = memoryview(content)
    while left:
        left = left[os.write(file, left) :]
