"""Survey differences: what changed between two surveys, and when.

Rules kept here:
- A new path counts as a new file only if nothing says that the file was there before: git may have
  ignored it. The earlier content of excluded files is unknown.
- The time of a change comes from the file system: from the file, or for a new or deleted one from
  its folder.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from eca_nvim.review.survey import TIME_RESOLUTION, Survey, SurveyedFile, above


class Difference(Struct, frozen=True):
    """A file that differs between two surveys; None where it did not exist.

    when: it was changed at this time, or a little before or after (ns since 1970). during_survey:
    after the later survey began. is_unknown: its earlier content is unknown. folders: the folders
    above it that are new, the innermost first.
    """

    path: str
    before: SurveyedFile | None
    after: SurveyedFile | None
    when: int
    during_survey: bool = False
    is_unknown: bool = False
    folders: tuple[str, ...] = ()


def differences(last: Survey | None, new: Survey) -> Iterator[Difference]:
    """Yield what changed between two surveys; for a first one, what changed while it was made."""
    if last is None:
        yield from _changed_during(new)
        return
    moved = {last.files[path].stat.number for path in last.files.keys() - new.files.keys()}
    for path, after in new.files.items():
        before = last.files.get(path)
        if before is None and after.stat.number in moved:
            yield _new_file(path, after, _folder_changed(path, last, new), last, new)
        elif before is None and after.stat.changed >= last.began - TIME_RESOLUTION:
            yield _new_file(path, after, after.stat.changed, last, new)
        elif before is not None and before is not after and not before.same_as(after):
            when = after.stat.changed
            yield Difference(path, before, after, when, _is_during(when, new))
    for path in last.files.keys() - new.files.keys():
        if new.excludes(path):
            continue  # it may still be there
        when = _folder_changed(path, last, new)
        yield Difference(path, last.files[path], None, when, _is_during(when, new))


def _changed_during(new: Survey) -> Iterator[Difference]:
    for path, after in new.files.items():
        when = after.stat.changed
        if _is_during(when, new):
            yield Difference(path, None, after, when, during_survey=True, is_unknown=True)


def _is_during(when: int, new: Survey) -> bool:
    return when >= new.began - TIME_RESOLUTION


def _new_file(path: str, after: SurveyedFile, when: int, last: Survey, new: Survey) -> Difference:
    folders = tuple(it for it in above(path) if it in new.folders and it not in last.folders)
    return Difference(path, None, after, when, _is_during(when, new), last.excludes(path), folders)


def _folder_changed(path: str, last: Survey, new: Survey) -> int:
    """Return when an entry of the nearest existing folder above a file was last added or removed.

    In ns since 1970.
    """
    for folder in above(path):
        try:
            if folder in last.folders:
                return Path(folder).stat().st_mtime_ns
        except OSError:  # the folder is gone too: try the one above
            continue
    return new.began
