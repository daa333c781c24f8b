"""Path risks: paths that lead out of the workspace, or to files that other programs obey.

Rules kept here:
- Links are followed, both of the path as written and of the path with `..` resolved: programs
  differ in which of the two they use. Of a path that does not exist the existing folders count.
- Nothing is opened. A path that no file can have is no risk.
- A git folder is recognised by its name or its content: those of work trees, submodules and bare
  repositories may have any name and be anywhere. git runs programs that are configured there.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from pathlib import PurePosixPath
from typing import Final

_LONGEST: Final = 4096  # bytes of a path (PATH_MAX)
_GIT: Final = ".git"
_IN_GIT_FOLDERS: Final = ("HEAD", "objects", "refs")
_OF_EDITOR: Final = frozenset({".nvim.lua", ".nvimrc", ".exrc"})  # see 'exrc'
_OF_AGENTS: Final = frozenset(
    {
        *(".claude", ".codex", ".copilot", ".eca", ".gemini", ".goose", ".opencode", ".qwen"),
        ".mcp.json",
    }
)
"""In a workspace; it may itself be in a folder with such a name."""


class PathRisk(Enum):
    """Why a path needs the user's attention, in words for him."""

    OUTSIDE = "outside the workspace by a link"
    GIT = "in a git folder, from which git runs programs"
    EDITOR = "run by Neovim when it starts there"
    AGENT = "what the agent itself may do"


def path_risks(path: str, folders: Sequence[str]) -> dict[PathRisk, str]:
    """Return the risks of a path, each with the real path; none for an ordinary workspace file.

    path: absolute, or relative to the first folder. folders: the workspace, absolute.
    """
    found: dict[PathRisk, str] = {}
    for real, written in _real_paths(posixpath.join(*folders[:1], path)):
        for risk in _risks(PurePosixPath(real), PurePosixPath(written), folders):
            found.setdefault(risk, real)
    return found


def real_path(path: str) -> str:
    """Return a path with all links resolved, whether it exists or not. Raises ValueError."""
    return posixpath.realpath(path)


def is_inside(path: str, folders: Iterable[str]) -> bool:
    """Return whether a real path is in one of some folders, which may be named by links."""
    return _is_in(PurePosixPath(path), map(real_path, folders))


def _real_paths(path: str) -> Iterator[tuple[str, str]]:
    """Yield the real paths that a program may end up with, each with the path as written."""
    for written in dict.fromkeys((posixpath.normpath(path), path)):
        try:
            if len(os.fsencode(written)) <= _LONGEST:
                yield real_path(written), posixpath.normpath(written)
        except ValueError:  # a NUL, or half a surrogate pair
            continue


def _risks(
    real: PurePosixPath, written: PurePosixPath, folders: Sequence[str]
) -> Iterator[PathRisk]:
    if _is_in(written, folders) and not _is_in(real, map(real_path, folders)):
        yield PathRisk.OUTSIDE
    names = {name.casefold() for name in (*real.parts, *written.parts)}
    if _GIT in names or any(map(_is_git_folder, (real, *real.parents))):
        yield PathRisk.GIT
    if {real.name.casefold(), written.name.casefold()} & _OF_EDITOR:
        yield PathRisk.EDITOR
    below = {name.casefold() for path in (real, written) for name in _below(path, folders)}
    if below & _OF_AGENTS:
        yield PathRisk.AGENT


def _is_in(path: PurePosixPath, folders: Iterable[str]) -> bool:
    return any(path.is_relative_to(folder) for folder in folders)


def _below(path: PurePosixPath, folders: Sequence[str]) -> Sequence[str]:
    """Return the names of a path below the workspace, all if it is outside."""
    inside = (it for it in (*folders, *map(real_path, folders)) if path.is_relative_to(it))
    return path.relative_to(next(inside, "/")).parts


def _is_git_folder(folder: PurePosixPath) -> bool:
    return all(os.path.lexists(folder / name) for name in _IN_GIT_FOLDERS)
