"""Survey: the content of all files of a workspace at one moment, and what changed between two.

Rules kept here:
- A file is read again only if it may have changed. One that was written just before it was read may
  change again with the same time: it is read again by the next survey.
- Contents are compressed and limited in size. For a file that does not fit we notice a change but
  cannot restore the earlier content. The same is true of names that cannot be shown or sent.
- A survey is built from the last one and shares no mutable state: it is made in a thread.
- A new path counts as a new file only if nothing says that the file was there before: git may have
  ignored it. The earlier content of excluded files is unknown.
- The time of a change comes from the file system: from the file, or for a new or deleted one from
  its folder.
"""

from __future__ import annotations

import os.path
import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct, field

from eca_nvim.chat.model.calls import is_safe_path
from eca_nvim.paths import open_regular
from eca_nvim.review.workspace import FileStat, stat_file, walk

MOST_FILE_BYTES = 1 << 20
"""Bytes of a file whose content is stored, at most."""
MOST_BYTES = 1 << 26
"""Compressed bytes of all files together, at most."""
TIME_RESOLUTION = 100_000_000
"""Nanoseconds within which a file system may give two changes the same time."""
COMPRESSION_LEVEL = 1

LARGE = f"it is larger than {MOST_FILE_BYTES >> 20} MiB"
NO_ROOM = "no room left to store it"
ODD_NAME = "not read because of its name"
UNREADABLE = "it could not be read"


class SurveyedFile(Struct, frozen=True):
    """A file at one moment: its compressed content, or `fault`, the reason why it is not stored.

    is_recent: it was written so recently that it may change again with the same time.
    """

    stat: FileStat
    packed: bytes | None = None
    fault: str | None = None
    is_recent: bool = False

    @property
    def content(self) -> bytes:
        """The content, empty if it is not stored."""
        return b"" if self.packed is None else zlib.decompress(self.packed)

    def is_unchanged(self, stat: FileStat) -> bool:
        """Return whether a file with this stat surely has the same content still."""
        return self.stat == stat and not self.is_recent

    def same_as(self, other: SurveyedFile) -> bool:
        """Return whether the content is the same, as far as it is stored; else compare the stat."""
        if self.packed is None or other.packed is None:
            return self.stat == other.stat
        return self.packed == other.packed


class Survey(Struct, frozen=True):
    """All files of a workspace by path, its folders, and the excluded paths (`WorkspaceFiles`).

    began: ns since 1970.
    """

    files: Mapping[str, SurveyedFile] = field(default_factory=dict)
    folders: frozenset[str] = frozenset()
    excluded: frozenset[str] = frozenset()
    began: int = 0

    def covers(self, path: str) -> bool:
        """Return whether a file with this path would have been found."""
        folders = above(path)
        return not self.folders.isdisjoint(folders) and not self.excludes(path)

    def place(self, path: str) -> str:
        """Return the path of a surveyed file with the links above its workspace folder resolved.

        Below that folder a survey follows no links.
        """
        top = [folder for folder in above(path) if folder in self.folders][-1:]
        return "".join(os.path.realpath(it) + path.removeprefix(it) for it in top) or path

    def excludes(self, path: str) -> bool:
        """Return whether a path, or a folder above it, was excluded."""
        return not self.excluded.isdisjoint([path, *above(path)])


def above(path: str) -> list[str]:
    """Return the folders above a file, the innermost first."""
    return list(map(str, Path(path).parents))


def survey(
    folders: Sequence[str], last: Survey | None, check: Callable[[], None] = lambda: None
) -> Survey:
    """Survey a workspace; blocks. `check` is called often and raises to cancel.

    Raises UnknownWorkspace.
    """
    began, known = time.time_ns(), {} if last is None else last.files
    walked = walk(folders, check)
    files = {
        path: kept
        for path, stat in walked.files.items()
        if (kept := known.get(path)) is not None and kept.is_unchanged(stat)
    }
    room = MOST_BYTES - sum(len(kept.packed or b"") for kept in files.values())
    for path, stat in walked.files.items():
        check()
        if path not in files and (kept := survey_file(path, stat, room)) is not None:
            files[path] = kept
            room -= len(kept.packed or b"")
    return Survey(files, walked.folders, walked.excluded, began)


def survey_file(
    path: str, stat: FileStat | None = None, room: int = MOST_BYTES
) -> SurveyedFile | None:
    """Read a file; None if there is no regular file. `room`: compressed bytes it may take."""
    stat = stat or stat_file(path)
    if stat is None:
        return None
    packed, fault = _read(path, stat, room)
    stat_after = stat_file(path)
    if stat_after is None:
        return None
    is_recent = stat_after != stat or time.time_ns() - stat_after.changed < TIME_RESOLUTION
    return SurveyedFile(stat_after, packed, fault, is_recent)


def _read(path: str, stat: FileStat, room: int) -> tuple[bytes | None, str | None]:
    """Return the compressed content of a file, or the reason why it is not stored."""
    if not is_safe_path(path):
        return None, ODD_NAME
    if stat.size > MOST_FILE_BYTES:
        return None, LARGE
    try:
        with open_regular(path) as file:
            content = file.read(MOST_FILE_BYTES + 1)
    except (OSError, ValueError):
        return None, UNREADABLE
    if len(content) > MOST_FILE_BYTES:  # it has grown meanwhile
        return None, LARGE
    packed = zlib.compress(content, COMPRESSION_LEVEL)
    return (packed, None) if len(packed) <= room else (None, NO_ROOM)


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
