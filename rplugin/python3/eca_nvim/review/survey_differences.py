"""Survey differences: what became of files between two surveys, and when.

Rules kept here:
- A file that is there for the first time was made only if nothing speaks for its having been there:
  git may have ignored it before. Of what was left out nobody knows what it was.
- When a file was changed, the file system tells: by the file, or by the folder it was in.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from eca_nvim.review.survey import MOMENT, Survey, SurveyedFile, above


class Difference(Struct, frozen=True):
    """What became of a file between two surveys; None where there was none.

    when: not before this it was changed, or not long (ns since 1970). is_late: after the later
    survey began. is_unknown: what it was is not known. folders: those above it that were not there
    before, the innermost first.
    """

    path: str
    before: SurveyedFile | None
    after: SurveyedFile | None
    when: int
    is_late: bool = False
    is_unknown: bool = False
    folders: tuple[str, ...] = ()


def differences(last: Survey | None, new: Survey) -> Iterator[Difference]:
    """Tell what changed between two surveys; of a first one, what was changed while it was made."""
    if last is None:
        yield from _during(new)
        return
    moved = {last.files[path].sight.number for path in last.files.keys() - new.files.keys()}
    for path, after in new.files.items():
        before = last.files.get(path)
        if before is None and after.sight.number in moved:
            yield _made(path, after, _put_at(path, last, new), last, new)
        elif before is None and after.sight.changed >= last.began - MOMENT:
            yield _made(path, after, after.sight.changed, last, new)
        elif before is not None and before is not after and not before.same_as(after):
            when = after.sight.changed
            yield Difference(path, before, after, when, _is_late(when, new))
    for path in last.files.keys() - new.files.keys():
        if new.leaves_out(path):
            continue  # nobody knows whether it is gone
        when = _put_at(path, last, new)
        yield Difference(path, last.files[path], None, when, _is_late(when, new))


def _during(new: Survey) -> Iterator[Difference]:
    for path, after in new.files.items():
        when = after.sight.changed
        if _is_late(when, new):
            yield Difference(path, None, after, when, is_late=True, is_unknown=True)


def _is_late(when: int, new: Survey) -> bool:
    return when >= new.began - MOMENT


def _made(path: str, after: SurveyedFile, when: int, last: Survey, new: Survey) -> Difference:
    """Tell of a file that is there for the first time."""
    folders = tuple(it for it in above(path) if it in new.folders and it not in last.folders)
    is_late, is_unknown = _is_late(when, new), last.leaves_out(path)
    return Difference(path, None, after, when, is_late, is_unknown, folders)


def _put_at(path: str, last: Survey, new: Survey) -> int:
    """Tell when something was last put into the folder above a file, or taken out of it."""
    for folder in above(path):
        try:
            if folder in last.folders:
                return Path(folder).stat().st_mtime_ns
        except OSError:  # it is gone, too: the one above it tells
            continue
    return new.began
