"""Workspace: which files there are in some folders, and how they can be told from later ones.

Rules kept here:
- Ordinary files; no link is followed.
- What is no work of anybody is left out: folders of version control, caches that say so, and what
  git ignores. git is asked when there is one, nothing needs it.
- So many files and no more: of a larger workspace nothing is told.
"""

from __future__ import annotations

import os
import stat
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TypeAlias

from msgspec import Struct

from eca_nvim.environment import child_environment

MOST_FILES = 20_000
CHECKED = 0.05
"""Seconds between two checks while git is at work."""
_LEFT_OUT = frozenset({".git", ".hg", ".svn", ".jj", "node_modules", "__pycache__"})
_MARKS = frozenset({"CACHEDIR.TAG", "pyvenv.cfg"})
"""Files that say of their folder that it can be made again."""


Check: TypeAlias = Callable[[], None]
"""Raises UnknownWorkspace when a look is not to go on."""


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
    """Files by path, all folders they may be in, and what was left out: files and folders."""

    files: dict[str, Sight]
    folders: frozenset[str]
    left_out: frozenset[str]


def walk(folders: Sequence[str], check: Check = lambda: None) -> Walked:
    """Look at all files of some folders. Raises UnknownWorkspace."""
    files: dict[str, Sight] = {}
    seen: set[str] = set()
    left_out: set[str] = set()
    for folder in folders:
        for inner, entries in _folders(folder, left_out, check):
            seen.add(inner)
            files |= _files(entries)
            check()
            if len(files) + len(seen) > MOST_FILES:
                raise UnknownWorkspace(f"the workspace has more than {MOST_FILES:,} files")
    return Walked(files, frozenset(seen), frozenset(left_out))


def _folders(
    folder: str, left_out: set[str], check: Check
) -> Iterator[tuple[str, Sequence[os.DirEntry[str]]]]:
    """Give a folder and those in it with what is in them; adds to what is left out."""
    waiting = [folder]
    while waiting:
        current = waiting.pop()
        entries = _entries(current)
        names = {entry.name for entry in entries or ()}
        if entries is None or (current != folder and names & _MARKS):
            left_out.add(current)
            continue
        if current == folder or ".git" in names:  # also a repository in the repository
            left_out |= _ignored(current, check)
        left_out |= {entry.path for entry in entries if entry.name in _LEFT_OUT}
        left = [entry for entry in entries if entry.path not in left_out]
        yield current, left
        waiting += [entry.path for entry in left if entry.is_dir(follow_symlinks=False)]


def _entries(folder: str) -> list[os.DirEntry[str]] | None:
    """Give what is in a folder; None when it is gone, or not ours to read."""
    try:
        with os.scandir(folder) as found:
            return list(found)
    except OSError:
        return None


def _files(entries: Sequence[os.DirEntry[str]]) -> Iterator[tuple[str, Sight]]:
    for entry in entries:
        with suppress(OSError):  # it is gone already
            found = entry.stat(follow_symlinks=False)
            if stat.S_ISREG(found.st_mode):
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


def _ignored(folder: str, check: Check) -> frozenset[str]:
    """Ask git what it ignores in a folder, as paths; nothing where git does not work."""
    from shutil import which  # noqa: PLC0415 - the start looks at no files

    git = which("git")
    if git is None:
        return frozenset()
    # A repository may name programs that watch files or fetch them: none is started for a look.
    command = [git, "-c", "core.fsmonitor=false", "-C", folder, "ls-files", "-z"]
    command += ["--others", "--ignored", "--exclude-standard", "--directory"]
    environment = {
        key: value for key, value in child_environment().items() if not key.startswith("GIT_")
    }
    environment |= {"GIT_OPTIONAL_LOCKS": "0", "GIT_ALLOW_PROTOCOL": "none"}
    names = os.fsdecode(_output(command, environment, check)).split("\0")
    return frozenset(f"{folder}/{name.rstrip('/')}" for name in names if name)


def _output(command: Sequence[str], environment: Mapping[str, str], check: Check) -> bytes:
    """Give what a program says; it ends when the check says so."""
    try:
        with subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
        ) as program:
            try:
                return _said(program, check)
            finally:
                program.kill()  # which does nothing to one that has ended
    except OSError:
        return b""


def _said(program: subprocess.Popen[bytes], check: Check) -> bytes:
    while True:
        check()
        with suppress(subprocess.TimeoutExpired):
            return program.communicate(timeout=CHECKED)[0]
