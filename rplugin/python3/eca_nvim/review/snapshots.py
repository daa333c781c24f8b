"""Snapshots: a file at one moment, byte for byte, so that it can be restored.

Rules kept here:
- Regular files up to a limit only; any other snapshot has a fault that says why.
- A content is in memory until `turn_store.py` has stored it, or no snapshot needs it any more.
- Content is bytes: encodings and line ends play no part.
- A snapshot stores the real path of its file. The file is restored there, and only if its path
  still leads there: never through a link that was made later.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha1
from pathlib import Path
from weakref import WeakValueDictionary

from msgspec import Struct

from eca_nvim.disk.replacing import remove, replace, replace_by_link, set_mode
from eca_nvim.paths import open_regular

MOST_SNAPSHOT_BYTES = 20 << 20
"""Bytes of a file that can be stored, at most: as many as checkpoints have."""
LINKED = "a link leads elsewhere now"
LOST = "its earlier content was stored, and is gone or changed"


class Blob:
    """A content: git's id of it, and the content itself until a store has it."""

    __slots__ = ("__weakref__", "_stored", "content", "digest")

    def __init__(self, digest: str, stored: Callable[[str], bytes]) -> None:
        self.digest = digest
        self.content: bytes | None = None
        self._stored = stored

    def read(self) -> bytes:
        """Return the content. Raises OSError if the store has lost it."""
        content = self.content  # another thread may store it
        if content is not None:
            return content
        with suppress(OSError):
            content = self._stored(self.digest)
            if _digest(content) == self.digest:
                return content
        raise OSError(errno.EIO, LOST)


def _digest(content: bytes) -> str:
    """Return git's id of a content."""
    return sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def _nowhere(_digest: str) -> bytes:
    raise OSError(errno.ENOENT, LOST)


class Blobs:
    """The contents that are in memory.

    stored: reads what a store has, by git's id. Raises OSError. most_bytes: those of a file.
    """

    def __init__(
        self, stored: Callable[[str], bytes] = _nowhere, most_bytes: int | None = None
    ) -> None:
        self.most_bytes = MOST_SNAPSHOT_BYTES if most_bytes is None else most_bytes
        self._stored = stored
        self._known = WeakValueDictionary[str, Blob]()

    def keep(self, content: bytes) -> Blob:
        """Return a content, which is kept as long as it is needed, or until a store has it."""
        known = self._known.get(digest := _digest(content))
        if known is None:
            known = self._known[digest] = Blob(digest, self._stored)
            known.content = content
        return known


class Snapshot(Struct, frozen=True, array_like=True):
    """A file at one moment.

    blob: its content; None if there was no file, or if `fault` says why it is not stored.
    mode: its permissions. place: its real path. missing: how many folders above it did not exist.
    is_link: its content is where the link leads. Saved turns have the fields in this order.
    """

    blob: Blob | None = None
    mode: int = 0
    place: str = ""
    missing: int = 0
    fault: str | None = None
    is_link: bool = False

    @property
    def digest(self) -> str | None:
        """Git's id of its content."""
        return None if self.blob is None else self.blob.digest

    @property
    def is_absent(self) -> bool:
        """Whether there was no file."""
        return self.blob is None and self.fault is None

    @property
    def is_lost(self) -> bool:
        """Whether its content was stored and can no longer be read."""
        return self.blob is not None and self.content is None

    @property
    def content(self) -> bytes | None:
        """Its content, None if there is none or it can no longer be read."""
        with suppress(OSError):
            return None if self.blob is None else self.blob.read()
        return None

    def is_elsewhere(self, other: Snapshot) -> bool:
        """Return whether the path led to different places at the two moments."""
        return bool(self.place and other.place) and self.place != other.place

    def same_as(self, other: Snapshot) -> bool:
        """Return whether the file was surely the same at both moments."""
        if self.fault is not None or other.fault is not None:
            return False
        if self.blob is None or other.blob is None:
            return self.blob is other.blob
        is_same = self.blob.digest == other.blob.digest and self.mode == other.mode
        return is_same and self.place == other.place and self.is_link == other.is_link


def take_snapshot(path: str, blobs: Blobs, *, follow: bool = True) -> Snapshot:
    """Take a snapshot of a file; `follow`: of what a link leads to. Never raises."""
    place, most, mode = "", blobs.most_bytes, 0
    try:
        place = os.path.realpath(path) if follow else _unless_linked(path)
        if is_link := not follow and Path(place).is_symlink():
            content = os.fsencode(Path(place).readlink())
        else:
            with open_regular(place) as file:
                found = os.fstat(file.fileno())
                content = b"" if found.st_size > most else file.read(found.st_size + 1)
                if len(content) > found.st_size:  # to ask for `most` at once would take that memory
                    content += file.read(most + 1 - len(content))
            if max(found.st_size, len(content)) > most:
                return Snapshot(fault=f"it is larger than {most >> 20} MiB", place=place)
            mode = stat.S_IMODE(found.st_mode)
    except (FileNotFoundError, NotADirectoryError):
        missing = sum(not os.path.lexists(folder) for folder in Path(place).parents)
        return Snapshot(place=place, missing=missing)
    except (OSError, ValueError) as fault:
        return Snapshot(fault=_reason(fault), place=place)
    return Snapshot(blobs.keep(content), mode, place, is_link=is_link)


def _reason(fault: Exception) -> str:
    if isinstance(fault, OSError) and fault.errno is not None:
        return os.strerror(fault.errno).lower()
    return str(fault)


def restore_file(path: str, snapshot: Snapshot) -> None:
    """Restore a file; folders that were made for it are removed if they are empty then.

    Raises OSError (the file is unchanged) and replacing.FileDamaged.
    """
    if snapshot.fault is not None:
        raise OSError(errno.ENOTSUP, snapshot.fault)
    if not still_leads_there(path, snapshot):
        raise OSError(errno.ELOOP, LINKED)
    if snapshot.blob is None:
        remove(snapshot.place, snapshot.missing)
    elif snapshot.is_link:
        replace_by_link(snapshot.place, snapshot.blob.read())
    else:
        replace(snapshot.place, snapshot.blob.read(), snapshot.mode)
        set_mode(snapshot.place, snapshot.mode)


def still_leads_there(path: str, snapshot: Snapshot) -> bool:
    """Return whether a path leads to where a snapshot was taken.

    The file itself may have become a link: it is replaced, not followed.
    """
    return snapshot.place in (os.path.realpath(path), _unless_linked(path))


def _unless_linked(path: str) -> str:
    """Return the real path of a file, or of the link that is in its place."""
    folder, name = os.path.split(path)
    return str(Path(os.path.realpath(folder), name))
