"""Changed by others: what is known to be changed by somebody else than a call that is watched.

Rules kept here:
- It is known what a file was when another had changed it: what was made of that is not his.
- Paths are compared without links.
"""

from __future__ import annotations

import os.path
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from msgspec.structs import replace

from eca_nvim.review.survey import Survey, SurveyedFile, above, keep
from eca_nvim.review.survey_differences import Difference


class Others:
    """What others changed since the survey before."""

    def __init__(self) -> None:
        self._changed: dict[str, SurveyedFile | None] = {}
        self._before: Mapping[str, SurveyedFile | None] = {}

    def changed(self, paths: Iterable[str]) -> None:
        """Take that files were changed just now."""
        self._changed |= {os.path.realpath(path): keep(path) for path in paths}

    def added_to(self, last: Survey) -> Survey:
        """Give a survey as it would be after what others did since it began."""
        files = dict(last.files)
        for path, theirs in self._changed.items():
            if theirs is None:
                files.pop(path, None)
            elif last.would_have(path) and not is_linked(path, last.folders):
                seen = files.get(path)
                if seen is None or seen.sight.changed < theirs.sight.changed:
                    files[path] = theirs
        return replace(last, files=files)

    def survey_begins(self) -> None:
        """Take that a survey begins: it may see what is done from now on, or not."""
        self._before, self._changed = {**self._before, **self._changed}, {}

    def survey_ends(self) -> None:
        """Take that a survey has been taken: it has seen all that was done before it began."""
        self._before = {}

    def without(self, difference: Difference) -> Difference | None:
        """Give what is left of a difference when what others did is known."""
        known = {**self._before, **self._changed}
        path = os.path.realpath(difference.path) if known else ""
        if path not in known:
            return difference
        theirs, after = known[path], difference.after
        if theirs is None or after is None:
            return None if theirs is after else replace(difference, before=theirs)
        if after.sight.changed < theirs.sight.changed:
            return difference  # it was seen before they changed it
        is_theirs = theirs.same_as(after)
        return None if is_theirs else replace(difference, before=theirs, is_unknown=False)


def is_linked(path: str, folders: frozenset[str]) -> bool:
    """Say whether a link leads from a path elsewhere than to where the folders have it."""
    for part in (path, *above(path)):
        if part in folders:
            return False
        with suppress(OSError):  # what cannot be looked at leads nowhere
            if Path(part).is_symlink():
                return True
    return False
