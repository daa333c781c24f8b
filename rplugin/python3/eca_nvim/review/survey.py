"""Survey: what is in all files of a workspace, so that it is known when somebody changes them.

Rules kept here:
- A file is read again only when it may have changed. One that was written a moment ago may change
  once more without a trace: it is read again the next time.
- Contents are kept packed, and not without end: of what there is no room for, that it changed is
  known, but not what it was. The same goes for names that cannot be shown or sent.
- Nothing here is shared with what goes on meanwhile: a survey is made from the last one.
"""

from __future__ import annotations

import os.path
import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from msgspec import Struct, field

from eca_nvim.chat.model.call_files import is_safe_path
from eca_nvim.paths import open_regular
from eca_nvim.review.workspace import Sight, look, walk

MOST_FILE_BYTES = 1 << 20
"""Bytes of a file that is kept, at most."""
MOST_BYTES = 1 << 26
"""Bytes that all files take when they are packed, at most."""
MOMENT = 100_000_000
"""Nanoseconds in which a file system may give two changes the same time."""
PACKING = 1

LARGE = f"it is larger than {MOST_FILE_BYTES >> 20} MiB"
NO_ROOM = "there was no room to keep it"
ODD_NAME = "not looked at for its name"
UNREADABLE = "it could not be read"


class SurveyedFile(Struct, frozen=True):
    """A file at one moment: its content, packed, or the `fault` for which that is not kept."""

    sight: Sight
    packed: bytes | None = None
    fault: str | None = None
    is_young: bool = False

    @property
    def content(self) -> bytes:
        """Give the content; empty when it is not kept."""
        return b"" if self.packed is None else zlib.decompress(self.packed)

    def is_still(self, sight: Sight) -> bool:
        """Say whether a file that looks so is surely still the same."""
        return self.sight == sight and not self.is_young

    def same_as(self, other: SurveyedFile) -> bool:
        """Say whether nothing shows that it is another content."""
        if self.packed is None or other.packed is None:
            return self.sight == other.sight
        return self.packed == other.packed


class Survey(Struct, frozen=True):
    """All files of a workspace by path, its folders, and what was left out (`Walked`).

    began: when, in ns since 1970.
    """

    files: Mapping[str, SurveyedFile] = field(default_factory=dict)
    folders: frozenset[str] = frozenset()
    left_out: frozenset[str] = frozenset()
    began: int = 0

    def would_have(self, path: str) -> bool:
        """Say whether a file of that path would have been found, had there been one."""
        folders = above(path)
        return not self.folders.isdisjoint(folders) and not self.leaves_out(path)

    def place(self, path: str) -> str:
        """Give the path of a file without links: no survey goes through one below its folders."""
        top = [folder for folder in above(path) if folder in self.folders][-1:]
        return "".join(os.path.realpath(it) + path.removeprefix(it) for it in top) or path

    def leaves_out(self, path: str) -> bool:
        """Say whether a path, or a folder above it, was left out."""
        return not self.left_out.isdisjoint([path, *above(path)])


def above(path: str) -> list[str]:
    """Give the folders above a file, the innermost first."""
    return list(map(str, Path(path).parents))


def survey(
    folders: Sequence[str], last: Survey | None, check: Callable[[], None] = lambda: None
) -> Survey:
    """Look at a workspace, which blocks; `check` raises when that is not to go on.

    Raises UnknownWorkspace.
    """
    began, known = time.time_ns(), {} if last is None else last.files
    walked = walk(folders, check)
    files = {
        path: kept
        for path, sight in walked.files.items()
        if (kept := known.get(path)) is not None and kept.is_still(sight)
    }
    room = MOST_BYTES - sum(len(kept.packed or b"") for kept in files.values())
    for path, sight in walked.files.items():
        check()
        if path not in files and (kept := keep(path, sight, room)) is not None:
            files[path] = kept
            room -= len(kept.packed or b"")
    return Survey(files, walked.folders, walked.left_out, began)


def keep(path: str, sight: Sight | None = None, room: int = MOST_BYTES) -> SurveyedFile | None:
    """Read a file that looks so; None when there is no such file."""
    sight = sight or look(path)
    if sight is None:
        return None
    packed, fault = _read(path, sight, room)
    now = look(path)
    if now is None:
        return None
    is_young = now != sight or time.time_ns() - now.changed < MOMENT
    return SurveyedFile(now, packed, fault, is_young)


def _read(path: str, sight: Sight, room: int) -> tuple[bytes | None, str | None]:
    """Give the packed content of a file, or why it is not kept."""
    if not is_safe_path(path):
        return None, ODD_NAME
    if sight.size > MOST_FILE_BYTES:
        return None, LARGE
    try:
        with open_regular(path) as file:
            content = file.read(MOST_FILE_BYTES + 1)
    except (OSError, ValueError):
        return None, UNREADABLE
    if len(content) > MOST_FILE_BYTES:  # it has grown
        return None, LARGE
    packed = zlib.compress(content, PACKING)
    return (packed, None) if len(packed) <= room else (None, NO_ROOM)
