"""Listing: the files of a folder, for completion; by git, or by walking through the folder.

Rules kept here:
- Of a repository all files are listed that git knows or would add. Elsewhere folders of version
  control and caches are left out, as a survey leaves them out.
- A listing takes at most `LIMIT` seconds and stays a part of the files then.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from typing import Final

from eca_nvim.review.git import Check, ls_files
from eca_nvim.review.workspace import walk_folders
from eca_nvim.session.completion.names import MOST_NAMES

LIMIT: Final = 10.0
"""Seconds that git may take, and a walk after that."""


class _TooLong(Exception):
    """Raised when a listing has taken its time."""


def list_files(folder: str) -> bytes:
    """Return the files below a folder, each with a NUL after it; blocks, so runs in a thread."""
    return _of_git(folder) or _of_walk(folder)


def _of_git(folder: str) -> bytes:
    """Return the files of a repository; none if git finds none."""
    with suppress(_TooLong):
        return ls_files(folder, "--cached", "--others", "--exclude-standard", check=_limit())
    return b""


def _of_walk(folder: str) -> bytes:
    return b"".join(os.fsencode(name) + b"\0" for name in islice(_walk(folder), MOST_NAMES))


def _walk(folder: str) -> Iterator[str]:
    check = _limit()
    with suppress(_TooLong):
        for inner, entries in walk_folders(folder, set(), check):
            check()
            start = f"{inner}/".removeprefix(f"{folder}/")
            for entry in entries:
                if not entry.is_dir(follow_symlinks=False):
                    yield start + entry.name


def _limit() -> Check:
    """Return a check that raises _TooLong when `LIMIT` is over."""
    deadline = time.monotonic() + LIMIT

    def check() -> None:
        if time.monotonic() > deadline:
            raise _TooLong

    return check


def with_folders(files: bytes) -> bytes:
    """Return files and before them all their folders, each with a `/` at its end."""
    folders: set[bytes] = set()
    start = 0
    while (end := files.find(b"\0", start)) >= 0:
        folder = files[start : files.rfind(b"/", start, end - 1) + 1]
        while folder and folder not in folders:
            folders.add(folder)
            folder = folder[: folder.rfind(b"/", 0, -1) + 1]
        start = end + 1
    return b"\0".join((*folders, files))
