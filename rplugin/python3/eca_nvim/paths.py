"""Paths and file URIs (RFC 8089) that come from a server, a model or a repository.

A path is data: it must be absolute and not a URL. A refusal is one line. A test checks that no
other module opens files by name.
"""

import os
import posixpath
import stat
from pathlib import Path
from typing import BinaryIO, Final
from urllib.parse import quote, unquote, urlsplit

from eca_nvim.system import GENERATED

LARGEST_LOADED: Final = 8 << 20
"""Bytes of a file that the editor loads for an agent, at most."""

_SCHEME = "file"
_HOSTS = frozenset({"", "localhost"})
_UNENCODED = "/:@!$&'()*+,;=~"  # characters of a path in RFC 3986, besides letters, digits and -._


class NotAFile(ValueError):
    """Raised when a path or a URI does not name a file that may be opened; says why in a line."""


def uri_of(path: str) -> str:
    """Return an absolute path as a file URI; bytes that are not UTF-8 survive (surrogateescape).

    It is percent-encoded, because a server misreads a raw blank, `#` or `%`.
    """
    return f"{_SCHEME}://{quote(path, safe=_UNENCODED, errors='surrogateescape')}"


def path_of(uri: str) -> str:
    """Return the path of a file URI, or of a plain absolute path, without `//`, `.` and `..`.

    A raw `#` or `?` counts as a part of the path: some URIs are not encoded. Raises NotAFile.
    """
    path = uri if uri.startswith("/") else _decoded(uri)
    if fault := path_fault(path):
        raise NotAFile(f"not opened, {fault}: {uri!r}")
    return posixpath.normpath("/" + path.lstrip("/"))


def _decoded(uri: str) -> str:
    try:
        parts = urlsplit(uri)
    except ValueError as fault:
        raise NotAFile(f"{uri!r} is not the URI of a file") from fault
    if parts.scheme.lower() != _SCHEME or not parts.path:
        raise NotAFile(f"{uri!r} is not the URI of a file")
    if parts.netloc.lower() not in _HOSTS:
        raise NotAFile(f"not opened, a file on this machine is needed: {uri!r}")
    path = parts.path
    if parts.query:
        path += f"?{parts.query}"
    if parts.fragment:
        path += f"#{parts.fragment}"
    return unquote(path, errors="surrogateescape")


def path_fault(path: str) -> str | None:
    """Return why a file with this path is never opened, None if it may be."""
    if not path.startswith("/"):
        return "an absolute path is needed"
    if "\0" in path:
        return "a path cannot have a NUL byte"
    return "a plain path is needed, not a URL" if ":/" in path else None


def require_file(path: str, most: int) -> None:
    """Raise NotAFile unless a path names a regular file of at most `most` bytes."""
    try:
        found = Path(path).stat()
        _require_regular(path, found)
    except OSError as fault:
        raise NotAFile(f"not opened, {fault.strerror}: {path!r}") from fault
    except NotAFile as fault:
        raise NotAFile(f"not opened, {fault}: {path!r}") from fault
    if found.st_size > most:
        raise NotAFile(f"not opened, it is larger than {most >> 20} MiB: {path!r}")


def open_regular(path: str, folder: int | None = None) -> BinaryIO:
    """Open a regular file for reading; never blocks. Raises NotAFile, OSError, ValueError.

    Opening a pipe would block the host. Files that the system generates while they are read (/proc,
    /sys) may be endless, or wait. folder: that of the file, open; it may be no link then.
    """
    name, linked = (path, 0) if folder is None else (posixpath.basename(path), os.O_NOFOLLOW)
    # Opening a device may have effects.
    _require_regular(path, os.stat(name, dir_fd=folder, follow_symlinks=not linked))
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | linked
    file = os.fdopen(os.open(name, flags, dir_fd=folder), "rb")
    try:
        _require_regular(path, os.fstat(file.fileno()))
    except NotAFile:
        file.close()
        raise
    return file


def _require_regular(path: str, found: os.stat_result) -> None:
    is_on_disk = found.st_blocks > 0 or not posixpath.realpath(path).startswith(GENERATED)
    if not stat.S_ISREG(found.st_mode) or not is_on_disk:
        raise NotAFile("it is not a regular file")
