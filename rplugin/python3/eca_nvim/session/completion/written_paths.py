r"""Written paths: how a path stands in a prompt, as `lua/eca/context/tokens.lua` reads it.

Rules kept here: a blank is written `\ `. A path is relative to the working folder if it is inside,
else it begins with `/` or `~/`. A name that would mean something else is written after `./`.
"""

from __future__ import annotations

import posixpath
from typing import Final

_BLANK: Final = "\\ "
_WORDS: Final = frozenset({"cursor", "selection", "diagnostics", "quickfix", "diff"})
"""Tokens that are no path."""


class Writer:
    """Writes absolute paths for a working folder, and reads what the user typed."""

    def __init__(self, working_folder: str) -> None:
        self._folder = working_folder.rstrip("/")
        self._home = posixpath.expanduser("~").rstrip("/")

    def written(self, path: str) -> str:
        """Return a path as a user would type it, without escapes; a folder ends in `/`."""
        if path.startswith(f"{self._folder}/"):
            name = path[len(self._folder) + 1 :]
            is_ambiguous = name in _WORDS or name.startswith(("~", "buffer:", "terminal:"))
            return f"./{name}" if is_ambiguous else name
        if self._home and path.startswith(f"{self._home}/"):
            return f"~{path[len(self._home) :]}"
        return path

    def absolute(self, typed: str) -> str:
        """Return the path that a typed one means."""
        if typed.startswith("~/"):
            return self._home + typed[1:]
        return posixpath.join(self._folder, typed)


def escaped(path: str) -> str:
    """Return a path as it is in a token."""
    return path.replace(" ", _BLANK)


def unescaped(word: str) -> str:
    """Return what a word of a prompt means."""
    return word.replace(_BLANK, " ")
