"""Places: where a path leads on this disk, and which files are more than files.

Rules kept here:
- Links are followed, of a path as it is written and of the path without `..` in it: programs differ
  in which of the two they take. Of what is not there yet the folders count.
- Nothing is opened. A path that no file can have leads nowhere.
- A git folder is known by its name or by what is in it: that of a work tree, of a submodule or of a
  bare repository may be called and lie anywhere. git runs programs that it names.
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
_OF_AGENT: Final = ".eca"


class Kind(Enum):
    """What a path leads to that the user must know of, in his words."""

    OUTSIDE = "outside the workspace by a link"
    GIT = "in a git folder, from which git runs programs"
    EDITOR = "run by Neovim when it starts there"
    AGENT = "what the agent itself may do"


def leads_to(path: str, folders: Sequence[str]) -> dict[Kind, str]:
    """Give what a path in a workspace leads to, each with the path without links.

    path: absolute, or relative to the first folder. folders: absolute. An ordinary file of the
    workspace leads to nothing.
    """
    found: dict[Kind, str] = {}
    for real, written in _readings(posixpath.join(*folders[:1], path)):
        for kind in _kinds(PurePosixPath(real), PurePosixPath(written), folders):
            found.setdefault(kind, real)
    return found


def real_path(path: str) -> str:
    """Follow all links of a path, also where it leads to nothing. Raises ValueError."""
    return posixpath.realpath(path)


def _readings(path: str) -> Iterator[tuple[str, str]]:
    """Give the paths without links that a program may come to, and what is written of each."""
    for written in dict.fromkeys((posixpath.normpath(path), path)):
        try:
            if len(os.fsencode(written)) <= _LONGEST:
                yield real_path(written), posixpath.normpath(written)
        except ValueError:  # a NUL, or half a character
            continue


def _kinds(real: PurePosixPath, written: PurePosixPath, folders: Sequence[str]) -> Iterator[Kind]:
    if _is_in(written, folders) and not _is_in(real, map(real_path, folders)):
        yield Kind.OUTSIDE
    names = {name.casefold() for name in (*real.parts, *written.parts)}
    if _GIT in names or any(map(_is_git_folder, (real, *real.parents))):
        yield Kind.GIT
    if {real.name.casefold(), written.name.casefold()} & _OF_EDITOR:
        yield Kind.EDITOR
    if _OF_AGENT in names:
        yield Kind.AGENT


def _is_in(path: PurePosixPath, folders: Iterable[str]) -> bool:
    return any(path.is_relative_to(folder) for folder in folders)


def _is_git_folder(folder: PurePosixPath) -> bool:
    return all(os.path.lexists(folder / name) for name in _IN_GIT_FOLDERS)
