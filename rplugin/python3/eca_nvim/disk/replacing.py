"""Replacing: gives a file a new content, or removes it, without ever leaving it half written.

The new content is written to a new file in the same folder, synced, and renamed to the file's name.
A failure or a kill at any moment leaves the old content or the new one, with the old permissions,
owner and extended attributes. If somebody else writes the file meanwhile, their content stays.
"""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from eca_nvim import system

NOT_ORDINARY = "it is not a regular file"
LINK_IN_THE_WAY = "a link or a file is where a folder was"
IN_PLACE = frozenset({errno.EACCES, errno.EPERM, errno.EBUSY})
"""Errors of a file that can be written but not replaced: by its folder, its owner or a mount."""

CHANGED = "it was written meanwhile"

NEW_MODE = 0o644

_FOLDER = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC | system.O_PATH
_FILE = os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_WRITE = os.O_WRONLY | os.O_CLOEXEC
_NEW = _WRITE | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
_PRIVATE = 0o600


class FileDamaged(OSError):
    """Raised when a file could not be restored; `copy` is the path of a copy of its old content."""

    def __init__(self, fault: OSError, copy: str) -> None:
        super().__init__(fault.errno, fault.strerror)
        self.copy = copy


def replace(place: str, content: bytes, mode: int = NEW_MODE) -> None:
    """Replace the content of a file, or create it together with the folders above it.

    place: an absolute path without links; if the file itself is a link, the link is replaced. mode:
    the permissions of a new file. Raises OSError (the file is unchanged) and FileDamaged.
    """
    above, name = os.path.split(place)
    with open_folder(above, make=True) as folder:
        try:
            file = os.open(name, _FILE, dir_fd=folder)
        except OSError as fault:
            if fault.errno not in (errno.ENOENT, errno.ELOOP):
                raise
            _write_new(folder, name, content, mode)
            return
        try:
            _replace(file, folder, place, content)
        finally:
            os.close(file)


def replace_by_link(place: str, target: bytes) -> None:
    """Replace a file or a link by a link, or create it together with the folders above it.

    place: as for `replace`. Raises OSError: nothing has changed then.
    """
    above, name = os.path.split(place)
    with open_folder(above, make=True) as folder:
        fresh = f".eca-{os.urandom(8).hex()}"
        os.symlink(target, fresh, dir_fd=folder)
        try:
            os.rename(fresh, name, src_dir_fd=folder, dst_dir_fd=folder)
        except OSError:
            os.unlink(fresh, dir_fd=folder)
            raise


def remove_empty_folders(place: str) -> None:
    """Remove a folder in which there is nothing but empty folders. Raises OSError."""
    for inner, _, _ in os.walk(place, topdown=False):
        above, name = os.path.split(inner)
        with open_folder(above) as folder:
            os.rmdir(name, dir_fd=folder)


def remove(place: str, folders: int = 0) -> None:
    """Remove a file, and up to `folders` folders above it that are empty then.

    Raises OSError, but not for a file that does not exist.
    """
    path = Path(place)
    with suppress(FileNotFoundError), open_folder(str(path.parent)) as folder:
        os.unlink(path.name, dir_fd=folder)
    with suppress(OSError):  # not empty, so those above are not empty either
        for empty in list(path.parents)[:folders]:
            with open_folder(str(empty.parent)) as folder:
                os.rmdir(empty.name, dir_fd=folder)


def set_mode(place: str, mode: int) -> None:
    """Set the permissions of a file. Raises OSError."""
    above, name = os.path.split(place)
    with open_folder(above) as folder:
        file = os.open(name, _READ, dir_fd=folder)
        try:
            os.fchmod(file, mode)
        finally:
            os.close(file)


@contextmanager
def open_folder(path: str, *, make: bool = False) -> Iterator[int]:
    """Open a folder, each from the one above it, so that no link is followed. Raises OSError.

    make: create missing folders.
    """
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
            _write_new(folder, Path(place).name, content, found.st_mode, like=file)
        except OSError as fault:
            if fault.errno not in IN_PLACE:
                raise
        else:
            return
    _write_in_place(file, folder, place, content)


# --- a new file -----------------------------------------------------------------------------------


def _write_new(folder: int, name: str, content: bytes, mode: int, like: int | None = None) -> None:
    """Write a new file and rename it; `like`: the file whose owner and attributes it gets."""
    found = _identity(folder, name)
    fresh = f".eca-{os.urandom(8).hex()}"
    file, is_named = _create(folder, fresh)
    try:
        _write(file, content)
        if like is not None:
            _copy_attributes(file, like)
        os.fchmod(file, stat.S_IMODE(mode))
        os.fsync(file)
        _require_same(folder, name, found)
        if not is_named:
            is_named = found is not None  # else it gets its own name at once
            system.give_name(file, folder, fresh if is_named else name)
        if is_named:
            os.rename(fresh, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        if is_named:
            with suppress(OSError):
                os.unlink(fresh, dir_fd=folder)
        raise
    finally:
        os.close(file)


def _identity(folder: int, name: str) -> tuple[int, ...] | None:
    """Return the inode, size and times of a file, None if there is none. Raises OSError."""
    try:
        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def _require_same(folder: int, name: str, before: tuple[int, ...] | None) -> None:
    if _identity(folder, name) != before:
        raise OSError(errno.ESTALE, CHANGED)


def _create(folder: int, name: str) -> tuple[int, bool]:
    """Create a file and return whether it has its name: without one, a kill leaves nothing."""
    nameless = system.create_nameless(folder, _WRITE, _PRIVATE)
    if nameless is not None:
        return nameless, False
    return os.open(name, _NEW, _PRIVATE, dir_fd=folder), True


def _copy_attributes(file: int, like: int) -> None:
    """Give a file the owner and the extended attributes of another. Raises OSError."""
    wanted, found = os.fstat(like), os.fstat(file)
    if (wanted.st_uid, wanted.st_gid) != (found.st_uid, found.st_gid):
        os.fchown(file, wanted.st_uid, wanted.st_gid)
    system.copy_attributes(file, like)


# --- in place -------------------------------------------------------------------------------------


def _write_in_place(file: int, folder: int, place: str, content: bytes) -> None:
    """Overwrite a file that has several hard links, or whose owner a new file cannot get.

    Its content is copied first, and restored after a failure; if that fails too, the copy stays and
    `FileDamaged` names it. It is not truncated first: then its old content still fits on the disk.
    """
    name = Path(place).name
    found = _identity(folder, name)
    before = _read(file)
    copy = _copy(folder, place, before)
    try:
        _require_same(folder, name, found)
    except OSError:
        _remove_copy(copy)
        raise
    try:
        _overwrite(file, content)
    except OSError as fault:
        try:
            _overwrite(file, before)
        except OSError:
            raise FileDamaged(fault, copy) from fault
        _remove_copy(copy)
        raise
    _remove_copy(copy)


def _remove_copy(copy: str) -> None:
    with suppress(OSError):  # a copy that stays does no harm
        Path(copy).unlink()


def _copy(folder: int, place: str, content: bytes) -> str:
    """Write a copy into the same folder, else into that of temporary files; returns its path."""
    from tempfile import mkstemp  # noqa: PLC0415 - 4 ms of the start

    above, name = os.path.split(place)
    beside = f"{name[:50]}.eca-copy-{os.urandom(4).hex()}"
    try:
        file, path = os.open(beside, _NEW, _PRIVATE, dir_fd=folder), f"{above}/{beside}"
    except OSError:
        file, path = mkstemp(prefix="eca-copy-")
    try:
        _write(file, content)
        os.fsync(file)
    except BaseException:
        _remove_copy(path)
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
