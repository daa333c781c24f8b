"""Listing: the files of a folder, for completion; by git, or by walking through the folder.

Rules kept here:
- Of a repository all files are listed that git knows or would add. Elsewhere folders of version
  control and caches are left out, as a survey leaves them out.
- At most `MOST_FILES` files, and within `LIMIT` seconds: a part is better than nothing.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import islice
from typing import Final

from eca_nvim.review.git import Check, ls_files
from eca_nvim.review.workspace import walk_folders
from eca_nvim.session.completion.names import Names, typable

MOST_FILES: Final = 200_000
LIMIT: Final = 10.0
"""Seconds that git may take, and a walk after that."""


class _TooLong(Exception):
    """Raised when a listing has taken its time."""


def list_names(folder: str) -> Names:
    """Return the files and folders below a folder; blocks, so runs in a thread."""
    files = _first_ones(_of_git(folder)) or _first_ones(_walk(folder))
    return Names(list(dict.fromkeys((*files, *_folders_of(files)))))


def _first_ones(names: Iterable[str]) -> list[str]:
    return list(islice((name for name in names if name and typable(name)), MOST_FILES))


def _of_git(folder: str) -> list[str]:
    """Return the files of a repository; none if git finds none."""
    with suppress(_TooLong):
        listed = ls_files(folder, "--cached", "--others", "--exclude-standard", check=_limit())
        return os.fsdecode(listed).split("\0")
    return []


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


def _folders_of(files: Iterable[str]) -> Iterable[str]:
    """Return all folders of some files, each with a `/` at its end."""
    folders: dict[str, None] = {}
    for name in files:
        folder = _above(name)
        while folder and folder not in folders:
            folders[folder] = None
            folder = _above(folder)
    return folders


def _above(name: str) -> str:
    """Return the folder of a file or folder, "" at the top."""
    return name[: name.rfind("/", 0, -1) + 1]
