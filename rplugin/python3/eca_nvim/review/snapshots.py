"""Snapshots: a file at one moment, byte for byte, so that it can be put back.

Rules kept here:
- Regular files only, and not the largest: of all others the snapshot says why it has no content.
- What is large lies in a folder that only the user can read; it goes with the last snapshot that
  needs it, all of it with the host.
- Nobody is asked about encodings or line ends: content is bytes.
- A snapshot knows where the file really is. It is put back there, and only if the path still leads
  there: never through a link that came later.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
import weakref
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import TypeAlias

from msgspec import Struct

from eca_nvim.disk.private import PrivateFolder
from eca_nvim.disk.replacing import remove, replace
from eca_nvim.paths import open_regular

SMALL = 1 << 14
"""Bytes of a content that is kept in memory, at most."""
MOST_SNAPSHOT_BYTES = 1 << 24
"""Bytes of a file that is kept at all, at most."""
LINKED = "a link leads elsewhere now"
LOST = "what it was was kept in a file that is gone or changed"


class Blob:
    """Some content, in memory or in a file of ours."""

    __slots__ = ("__weakref__", "_content", "_path", "digest", "size")

    def __init__(self, content: bytes, digest: bytes, path: Path | None) -> None:
        self.digest = digest
        self.size = len(content)
        self._path = path
        self._content = content if path is None else b""
        if path is not None:
            path.write_bytes(content)

    def read(self) -> bytes:
        """Give the content. Raises OSError when somebody took it away, or changed it."""
        if self._path is None:
            return self._content
        with suppress(OSError):
            content = self._path.read_bytes()
            if hashlib.sha256(content).digest() == self.digest:
                return content
        raise OSError(errno.EIO, LOST)


class Blobs:
    """Where contents are kept; `size` is how many bytes there are."""

    def __init__(self) -> None:
        self.size = 0
        self._folder = PrivateFolder("eca-checkpoints-")
        self._numbers = count(1)

    def keep(self, content: bytes, like: Blob | None = None) -> Blob:
        """Keep some content, as the blob `like` when that has it already. Raises OSError."""
        digest = hashlib.sha256(content).digest()
        if like is not None and like.digest == digest:
            return like
        large = len(content) > SMALL
        path = self._folder.path / str(next(self._numbers)) if large else None
        blob = Blob(content, digest, path)
        self.size += blob.size
        weakref.finalize(blob, self._forget, blob.size, path).atexit = False
        return blob

    def remove(self) -> None:
        """Remove all that is in files."""
        self._folder.remove()

    def _forget(self, size: int, path: Path | None) -> None:
        self.size -= size
        if path is not None:
            with suppress(OSError):
                path.unlink()


class Snapshot(Struct, frozen=True):
    """A file at one moment.

    blob: its content; None when there was no file, or when `fault` says why it is not kept.
    mode: its permissions. place: its path without links. missing: how many folders above it were
    not there.
    """

    blob: Blob | None = None
    mode: int = 0
    place: str = ""
    missing: int = 0
    fault: str | None = None

    @property
    def is_absent(self) -> bool:
        """Say whether there was no file."""
        return self.blob is None and self.fault is None

    @property
    def is_lost(self) -> bool:
        """Say whether its content was kept, and is no more."""
        return self.blob is not None and self.content is None

    @property
    def content(self) -> bytes | None:
        """Give its content; None when there is none, or none any more."""
        with suppress(OSError):
            return None if self.blob is None else self.blob.read()
        return None

    def is_elsewhere(self, other: Snapshot) -> bool:
        """Say whether links led to another place then."""
        return bool(self.place and other.place) and self.place != other.place

    def same_as(self, other: Snapshot) -> bool:
        """Say whether the file was surely the same at both moments."""
        if self.fault is not None or other.fault is not None:
            return False
        if self.blob is None or other.blob is None:
            return self.blob is other.blob
        return self.blob.digest == other.blob.digest and self.place == other.place


MakeSnapshot: TypeAlias = Callable[[bytes, int, str], Snapshot]
"""Makes a snapshot of some content, permissions and the path without links."""


def take(path: str, blobs: Blobs, like: Snapshot | None = None) -> Snapshot:
    """Take a snapshot of a file; one that is just like `like` takes no room. Never raises."""
    place = ""
    try:
        place = os.path.realpath(path)
        with open_regular(place) as file:
            found = os.fstat(file.fileno())
            content = (
                b"" if found.st_size > MOST_SNAPSHOT_BYTES else file.read(MOST_SNAPSHOT_BYTES + 1)
            )
        if max(found.st_size, len(content)) > MOST_SNAPSHOT_BYTES:
            return Snapshot(fault=f"it is larger than {MOST_SNAPSHOT_BYTES >> 20} MiB", place=place)
    except FileNotFoundError:
        return Snapshot(place=place, missing=_missing_above(place))
    except (OSError, ValueError) as fault:
        return Snapshot(fault=_reason(fault), place=place)
    try:
        blob = blobs.keep(content, like.blob if like is not None else None)
    except OSError as fault:
        return Snapshot(fault=f"it could not be kept: {_reason(fault)}", place=place)
    return Snapshot(blob, stat.S_IMODE(found.st_mode), place)


def _missing_above(place: str) -> int:
    return sum(not os.path.lexists(folder) for folder in Path(place).parents)


def _reason(fault: Exception) -> str:
    if isinstance(fault, OSError) and fault.errno is not None:
        return os.strerror(fault.errno).lower()
    return str(fault)


def put_back(path: str, snapshot: Snapshot) -> None:
    """Make a file what it was; folders made for it go, when nothing else is in them.

    Raises OSError (the file is as it was) and replacing.Damaged.
    """
    if snapshot.fault is not None:
        raise OSError(errno.ENOTSUP, snapshot.fault)
    if not leads_there(path, snapshot):
        raise OSError(errno.ELOOP, LINKED)
    if snapshot.blob is None:
        remove(snapshot.place, snapshot.missing)
    else:
        replace(snapshot.place, snapshot.blob.read(), snapshot.mode)


def leads_there(path: str, snapshot: Snapshot) -> bool:
    """Say whether a path leads to where a snapshot was taken, if the file itself were no link."""
    folder, name = os.path.split(path)
    unless_linked = str(Path(os.path.realpath(folder), name))
    return snapshot.place in (os.path.realpath(path), unless_linked)
