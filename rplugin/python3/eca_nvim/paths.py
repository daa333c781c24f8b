"""Paths and file URIs (RFC 8089) that a server, a model or a repository names.

Rules kept here:
- What we write is percent-encoded, because a server reads a raw blank, `#` or `%` as something
  else. What we read may be encoded or not, may name this machine, or may be a plain path.
- A path is data: it is absolute and is no URL. What is refused is refused in one line.
- Only regular files are opened, because opening a pipe would block the host, and none that the
  system makes up while it is read: it may have no end, or wait for something. A test reads all
  modules for others that open files by name.
"""

from __future__ import annotations

import os
import posixpath
import stat
from pathlib import Path
from typing import BinaryIO, Final
from urllib.parse import quote, unquote, urlsplit

LARGEST_LOADED: Final = 8 << 20
"""Bytes of a file that the editor loads for an agent, at most."""

_MADE_UP = ("/proc/", "/sys/")
_SCHEME = "file"
_HOSTS = frozenset({"", "localhost"})
_KEPT = "/:@!$&'()*+,;=~"  # what RFC 3986 lets a path hold besides letters, digits and -._


class NotAFile(ValueError):
    """Raised when a path or a URI names no file that may be opened; says why in one line."""


def uri_of(path: str) -> str:
    """Write an absolute path as a file URI; bytes that are no UTF-8 survive (surrogateescape)."""
    return f"{_SCHEME}://{quote(path, safe=_KEPT, errors='surrogateescape')}"


def path_of(uri: str) -> str:
    """Read the path from a file URI, or take a plain absolute path; without `//`, `.` and `..`.

    A URI that was never encoded is read too: what follows a raw `#` or `?` is part of the path.
    Raises NotAFile.
    """
    path = uri if uri.startswith("/") else _decoded(uri)
    if fault := why_strange(path):
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
        raise NotAFile(f"not opened, a file of this machine is needed: {uri!r}")
    path = parts.path
    if parts.query:
        path += f"?{parts.query}"
    if parts.fragment:
        path += f"#{parts.fragment}"
    return unquote(path, errors="surrogateescape")


def why_strange(path: str) -> str | None:
    """Say why no file is opened by a path; None when one may be."""
    if not path.startswith("/"):
        return "an absolute path is needed"
    if "\0" in path:
        return "a path has no NUL byte"
    return "a plain path is needed, no URL" if ":/" in path else None


def require_file(path: str, most: int) -> None:
    """Raise NotAFile unless a path names a regular file of `most` bytes at most."""
    try:
        found = Path(path).stat()
        _require_regular(path, found)
    except OSError as fault:
        raise NotAFile(f"not opened, {fault.strerror}: {path!r}") from fault
    except NotAFile as fault:
        raise NotAFile(f"not opened, {fault}: {path!r}") from fault
    if found.st_size > most:
        raise NotAFile(f"not opened, it is larger than {most >> 20} MiB: {path!r}")


def open_regular(path: str) -> BinaryIO:
    """Open a regular file to read it, which never waits. Raises NotAFile, OSError, ValueError."""
    _require_regular(path, Path(path).stat())  # opening a device may already do something
    file = os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY), "rb")
    try:
        _require_regular(path, os.fstat(file.fileno()))
    except NotAFile:
        file.close()
        raise
    return file


def _require_regular(path: str, found: os.stat_result) -> None:
    is_on_disk = found.st_blocks > 0 or not posixpath.realpath(path).startswith(_MADE_UP)
    if not stat.S_ISREG(found.st_mode) or not is_on_disk:
        raise NotAFile("it is no ordinary file")
