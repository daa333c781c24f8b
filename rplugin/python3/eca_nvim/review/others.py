"""Others: what is known to be changed by somebody else than a call that is watched.

Rules kept here:
- It is known what a file was when another had changed it: what was made of that is not his.
- A file that somebody is about to write is his until that is done.
- Paths are compared without links.
"""

from __future__ import annotations

import os.path
from collections.abc import Iterable, Mapping
from pathlib import Path

from msgspec.structs import replace

from eca_nvim.review.differences import Difference
from eca_nvim.review.survey import Kept, keep


class Others:
    """What others changed since the survey before."""

    def __init__(self) -> None:
        self._changed: dict[str, Kept | None] = {}
        self._before: Mapping[str, Kept | None] = {}
        self._writing: set[str] = set()

    def changed(self, paths: Iterable[str]) -> None:
        """Take that files were changed just now."""
        self._changed |= {os.path.realpath(path): keep(path) for path in paths}

    def changing(self, path: str) -> None:
        """Take that a file is about to be written; that it was is told by `changed`."""
        self._writing.add(os.path.realpath(path))

    def written(self, path: str) -> None:
        """Take that a file was written, or could not be."""
        self._writing.discard(os.path.realpath(path))
        self.changed([path])

    def survey_begins(self) -> None:
        """Take that a survey begins: it may see what is done from now on, or not."""
        self._before, self._changed = {**self._before, **self._changed}, {}

    def survey_ends(self) -> None:
        """Take that a survey has been taken: it has seen all that was done before it began."""
        self._before = {}

    def without(self, difference: Difference) -> Difference | None:
        """Give what is left of a difference when what others did is known."""
        known = {**self._before, **self._changed}
        path = os.path.realpath(difference.path) if known or self._writing else ""
        if path in self._writing:
            return None
        if path not in known:
            return difference
        theirs, after = known[path], difference.after
        if theirs is None or after is None:
            return None if theirs is after else replace(difference, before=theirs)
        is_theirs = theirs.same_as(after)
        return None if is_theirs else replace(difference, before=theirs, is_unknown=False)


def is_linked(path: str, folders: frozenset[str]) -> bool:
    """Say whether a link leads from a path elsewhere than to where the folders have it."""
    for part in (path, *map(str, Path(path).parents)):
        if part in folders:
            return False
        if Path(part).is_symlink():
            return True
    return False
