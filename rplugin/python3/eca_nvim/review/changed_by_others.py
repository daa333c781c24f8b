"""Changed by others: changes that were surely not made by a watched call.

Rules kept here:
- The content that the others left is kept: a later change of the same file by a call is compared
  with that, so that the call is not blamed for theirs.
- Paths are compared with links resolved.
"""

from __future__ import annotations

import os.path
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from msgspec.structs import replace

from eca_nvim.review.survey import Survey, SurveyedFile, above, survey_file
from eca_nvim.review.survey_differences import Difference


class ChangesByOthers:
    """The files that others have changed, as they left them, for the survey in progress or next.

        record      a         b
        survey         begins     ends

    The survey has surely seen `a`, and may have seen `b`. `a` is forgotten at its end, `b` is kept
    for the next one.
    """

    def __init__(self) -> None:
        self._changed: dict[str, SurveyedFile | None] = {}
        self._before_survey: Mapping[str, SurveyedFile | None] = {}

    def record(self, paths: Iterable[str]) -> None:
        """Record that files were changed just now."""
        self._changed |= {os.path.realpath(path): survey_file(path) for path in paths}

    def added_to(self, last: Survey) -> Survey:
        """Return the last survey with the recorded changes applied."""
        files = dict(last.files)
        for path, theirs in self._changed.items():
            if theirs is None:
                files.pop(path, None)
            elif last.covers(path) and not is_linked(path, last.folders):
                seen = files.get(path)
                if seen is None or seen.stat.changed < theirs.stat.changed:
                    files[path] = theirs
        return replace(last, files=files)

    def survey_begins(self) -> None:
        """Note that a survey begins: it sees what was recorded before."""
        self._before_survey = {**self._before_survey, **self._changed}
        self._changed = {}

    def survey_ends(self) -> None:
        """Forget what was recorded before the survey began."""
        self._before_survey = {}

    def without(self, difference: Difference) -> Difference | None:
        """Return the part of a difference that others did not make, None if nothing is left."""
        known = {**self._before_survey, **self._changed}
        path = os.path.realpath(difference.path) if known else ""
        if path not in known:
            return difference
        theirs, after = known[path], difference.after
        if theirs is None or after is None:
            return None if theirs is after else replace(difference, before=theirs)
        if after.stat.changed < theirs.stat.changed:
            return difference  # the survey saw the file before they changed it
        is_theirs = theirs.same_as(after)
        return None if is_theirs else replace(difference, before=theirs, is_unknown=False)


def is_linked(path: str, folders: frozenset[str]) -> bool:
    """Return whether a path leads through a link below the surveyed folders."""
    for part in (path, *above(path)):
        if part in folders:
            return False
        with suppress(OSError):  # a path that cannot be read leads nowhere
            if Path(part).is_symlink():
                return True
    return False
