"""Workspace: lists the files below a folder.

Rules kept here:
- Links are not followed.
- What git ignores is left out; in no repository, in a folder that git ignores itself, or without
  git, the folders of version control and those that are caches.
"""

import os
import stat
import time
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Final

from eca_nvim.review.git import GitFailed, list_project

_EXCLUDED = frozenset({".git", ".hg", ".svn", ".jj", "node_modules", "__pycache__"})
_MARKS = frozenset({"CACHEDIR.TAG", "pyvenv.cfg"})
"""Files that mark their folder as one that can be generated again."""
_ITSELF: Final = b"./\0"
"""What git lists in a folder that it takes for a repository of its own."""
MOST_NAMES: Final = 200_000
LIMIT: Final = 10.0
"""Seconds that git may take, and a walk after that."""


def list_files(folder: str) -> bytes:
    """Return the files below a folder, each with a NUL after it; blocks, so runs in a thread."""
    with suppress(GitFailed):
        if (found := list_project(folder, seconds=LIMIT)) not in (b"", _ITSELF):
            return found
    return b"".join(os.fsencode(name) + b"\0" for name in islice(_walk(folder), MOST_NAMES))


def _walk(folder: str) -> Iterator[str]:
    """Yield the files of a folder that is in no repository."""
    deadline = time.monotonic() + LIMIT
    for inner, folders, names in os.walk(folder):
        if time.monotonic() >= deadline:
            return
        start, own = f"{inner}/".removeprefix(f"{folder}/"), {*folders, *names}
        if start and not _MARKS.isdisjoint(own):
            folders.clear()
            continue
        if start and ".git" in own:  # it says itself what belongs to it
            with suppress(GitFailed):
                listed = list_project(inner, seconds=deadline - time.monotonic())
                if listed != _ITSELF:
                    yield from (start + it for it in os.fsdecode(listed).split("\0") if it)
                    folders.clear()
                    continue
        links = [it for it in folders if Path(inner, it).is_symlink()]
        yield from (start + it for it in (*names, *links) if it not in _EXCLUDED)
        folders[:] = [it for it in folders if it not in _EXCLUDED]


REFUSED: Final = "git cannot store it"
_GIT_PART: Final = ".git"
_MODULES: Final = ".gitmodules"


def storable_files(
    root: str, most_bytes: int, refused: dict[str, str]
) -> dict[str, os.stat_result]:
    """Return the files and links to store, by relative path.

    refused: gets the paths that cannot be stored, with the reason. Raises GitFailed.
    """
    found: dict[str, os.stat_result] = {}
    real = os.path.realpath(root)

    @cache
    def is_in(folder: str) -> bool:
        """Return whether a folder is in the project, and not behind a link."""
        return os.path.realpath(f"{root}/{folder}") == f"{real}/{folder}".rstrip("/")

    for path, status in _project_files(root, refused):
        kind = stat.S_IFMT(status.st_mode)
        if kind not in (stat.S_IFREG, stat.S_IFLNK) or not is_in(path.rpartition("/")[0]):
            continue
        names = path.lower().split("/") if _GIT_PART in path.lower() else ()
        is_list_of_modules = kind == stat.S_IFLNK and _MODULES in names[-1:]
        if _GIT_PART in names or is_list_of_modules:
            refused[f"{root}/{path}"] = REFUSED
        elif status.st_size > most_bytes:
            refused[f"{root}/{path}"] = f"it is larger than {most_bytes >> 20} MiB"
        else:
            found[path] = status
    return found


def changed_after(path: str, moment: int) -> bool:
    """Return whether a file may have been changed or deleted after a moment (ns since 1970).

    Of one that is gone the folder tells: it may then have gone a little earlier, too. Who moves a
    folder changes no file in it.
    """
    above = str(Path(path).parent)
    with suppress(FileNotFoundError, NotADirectoryError):
        return os.lstat(path).st_ctime_ns > moment or _was_moved_after(above, moment)
    return changed_after(above, moment)


def _was_moved_after(folder: str, moment: int) -> bool:
    """Return whether a folder, or one above it, was moved after a moment, and is else unchanged."""
    status, above = os.lstat(folder), folder.rpartition("/")[0] or "/"
    is_moved = status.st_mtime_ns <= moment < status.st_ctime_ns
    return is_moved or (folder != above and _was_moved_after(above, moment))


def _project_files(root: str, refused: dict[str, str]) -> Iterator[tuple[str, os.stat_result]]:
    """Yield what is in a project, without what git ignores, by relative path; links as such.

    git lists a repository inside of it as one entry, also if it is none any more: its own files are
    listed instead. `refused` gets what cannot be looked at. Raises GitFailed.
    """
    waiting = [""]
    while waiting:
        inner = waiting.pop()
        folder = f"{root}/{inner}".rstrip("/")
        try:
            names = _names_in(folder, is_root=not inner)
        except GitFailed as fault:
            if not inner:
                raise
            refused[f"{root}/{inner}"] = str(fault)
            continue
        for name in map(os.fsdecode, names.split(b"\0")):
            path = inner + name
            try:
                status = os.lstat(f"{root}/{path}")
            except (FileNotFoundError, NotADirectoryError, ValueError):
                continue
            except OSError as fault:
                refused[f"{root}/{path}"] = fault.strerror or str(fault)
                continue
            is_folder = stat.S_ISDIR(status.st_mode)
            if not _is_below(name.rstrip("/") if is_folder else name):
                continue  # itself: a submodule without files; or an index that somebody has forged
            if is_folder:
                waiting.append(path.rstrip("/") + "/")
            else:
                yield path, status


def _names_in(folder: str, *, is_root: bool) -> bytes:
    """Return what is listed in the root of a project, or in a folder below it. Raises GitFailed."""
    if os.path.lexists(f"{folder}/.git"):
        return list_project(folder)
    with suppress(GitFailed):  # it is in no project now
        if is_root and (names := list_project(folder)):
            return names
    return list_files(folder)  # what is around a root may ignore all of it


def _is_below(name: str) -> bool:
    """Return whether a relative path is written in the only way, and leads nowhere else."""
    return {"", ".", ".."}.isdisjoint(name.split("/"))
