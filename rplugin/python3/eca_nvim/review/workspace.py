"""Workspace: which files there are in some folders, and how they can be told from later ones.

Rules kept here:
- Ordinary files, by names that can be shown; no link is followed.
- What is no work of anybody is left out: folders of version control, caches that say so, and what
  git ignores. git is asked when there is one, nothing needs it.
- So many files and no more: of a larger workspace nothing is told.
"""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress

from msgspec import Struct

from eca_nvim.chat.files import is_plain

MOST_FILES = 20_000
GIT_PATIENCE = 5.0
"""Seconds that git may take to tell what it ignores."""
_LEFT_OUT = frozenset({".git", ".hg", ".svn", ".jj", "node_modules", "__pycache__"})
_MARKS = frozenset({"CACHEDIR.TAG", "pyvenv.cfg"})
"""Files that say of their folder that it can be made again."""


class UnknownWorkspace(Exception):
    """The files of a workspace cannot be told; says why."""


class Sight(Struct, frozen=True):
    """A file from outside: times in ns since 1970, size in bytes, permissions."""

    changed: int
    written: int
    size: int
    number: int
    mode: int


class Walked(Struct, frozen=True):
    """Files by path, and all folders they may be in."""

    files: dict[str, Sight]
    folders: frozenset[str]


def walk(folders: Sequence[str], check: Callable[[], None] = lambda: None) -> Walked:
    """Look at all files of some folders; `check` raises when that is not to go on.

    Raises UnknownWorkspace.
    """
    files: dict[str, Sight] = {}
    seen: set[str] = set()
    for folder in folders:
        for inner, entries in _folders(folder):
            seen.add(inner)
            files |= _files(entries)
            check()
            if len(files) + len(seen) > MOST_FILES:
                raise UnknownWorkspace(f"the workspace has more than {MOST_FILES:,} files")
    return Walked(files, frozenset(seen))


def _folders(folder: str) -> Iterator[tuple[str, Sequence[os.DirEntry[str]]]]:
    """Give a folder and those in it with what is in them, but what is left out."""
    waiting, ignored = [folder], _ignored(folder)
    while waiting:
        current = waiting.pop()
        entries: list[os.DirEntry[str]] = []
        with suppress(OSError), os.scandir(current) as found:  # one that is gone, or is not ours
            entries = list(found)
        names = {entry.name for entry in entries}
        if current != folder and names & _MARKS:
            continue
        if current != folder and ".git" in names:  # a repository in the repository
            ignored |= _ignored(current)
        left = [entry for entry in entries if entry.path not in ignored]
        yield current, left
        waiting += [entry.path for entry in left if _is_entered(entry)]


def _is_entered(entry: os.DirEntry[str]) -> bool:
    return entry.name not in _LEFT_OUT and entry.is_dir(follow_symlinks=False)


def _files(entries: Sequence[os.DirEntry[str]]) -> Iterator[tuple[str, Sight]]:
    for entry in entries:
        with suppress(OSError):  # it is gone already
            found = entry.stat(follow_symlinks=False)
            if stat.S_ISREG(found.st_mode) and is_plain(entry.path):
                yield entry.path, _sight(found)


def look(path: str) -> Sight | None:
    """Look at one file; None when there is no ordinary one."""
    try:
        found = os.lstat(path)
    except (OSError, ValueError):
        return None
    return _sight(found) if stat.S_ISREG(found.st_mode) else None


def _sight(found: os.stat_result) -> Sight:
    mode = stat.S_IMODE(found.st_mode)
    return Sight(found.st_ctime_ns, found.st_mtime_ns, found.st_size, found.st_ino, mode)


def _ignored(folder: str) -> frozenset[str]:
    """Ask git what it ignores in a folder, as paths; nothing where git does not work."""
    git = shutil.which("git")
    if git is None:
        return frozenset()
    # A repository may name programs that watch files or fetch them: none is started for a look.
    command = [git, "-c", "core.fsmonitor=false", "-C", folder, "ls-files", "-z"]
    command += ["--others", "--ignored", "--exclude-standard", "--directory"]
    environment = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    try:
        told = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=GIT_PATIENCE,
            env={**environment, "GIT_OPTIONAL_LOCKS": "0", "GIT_ALLOW_PROTOCOL": "none"},
        )
    except (OSError, subprocess.TimeoutExpired):
        return frozenset()
    names = os.fsdecode(told.stdout).split("\0")
    return frozenset(f"{folder}/{name.rstrip('/')}" for name in names if name)
