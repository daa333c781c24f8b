"""Survey: what is in all files of a workspace, so that it is known when somebody changes them.

Rules kept here:
- A file is read again only when it may have changed. One that was written a moment ago may change
  once more without a trace: it is read again the next time.
- Contents are kept packed, and not without end: of what there is no room for, that it changed is
  known, but not what it was.
- Nothing here is shared with what goes on meanwhile: a survey is made from the last one.
"""

from __future__ import annotations

import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct, field

from eca_nvim.review.workspace import Sight, look, walk

LARGEST = 1 << 20
"""Bytes of a file that is kept, at most."""
MOST_BYTES = 1 << 26
"""Bytes that all files take when they are packed, at most."""
MOMENT = 100_000_000
"""Nanoseconds in which a file system may give two changes the same time."""
PACKING = 1

LARGE = f"it is larger than {LARGEST >> 20} MiB"
NO_ROOM = "there was no room to keep it"
UNREADABLE = "it could not be read"


class Kept(Struct, frozen=True):
    """A file at one moment: its content, packed, or the `fault` for which that is not kept."""

    sight: Sight
    packed: bytes | None = None
    fault: str | None = None
    is_young: bool = False

    @property
    def content(self) -> bytes:
        """Give the content; empty when it is not kept."""
        return b"" if self.packed is None else zlib.decompress(self.packed)

    def may_be(self, sight: Sight) -> bool:
        """Say whether a file that looks so is surely still the same."""
        return self.sight == sight and not self.is_young

    def same_as(self, other: Kept) -> bool:
        """Say whether nothing shows that it is another content."""
        if self.packed is None or other.packed is None:
            return self.sight == other.sight
        return self.packed == other.packed


class Survey(Struct, frozen=True):
    """All files of a workspace, by path, and its folders; `began`: in ns since 1970."""

    files: Mapping[str, Kept] = field(default_factory=dict)
    folders: frozenset[str] = frozenset()
    began: int = 0


class Difference(Struct, frozen=True):
    """What became of a file between two surveys; None where there was none.

    is_late: it was changed after the later survey began. folders: those above it that were not
    there before, the innermost first.
    """

    path: str
    before: Kept | None
    after: Kept | None
    is_late: bool = False
    folders: tuple[str, ...] = ()


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
        if (kept := known.get(path)) is not None and kept.may_be(sight)
    }
    room = MOST_BYTES - sum(len(kept.packed or b"") for kept in files.values())
    for path, sight in walked.files.items():
        check()
        if path not in files and (kept := keep(path, sight, room)) is not None:
            files[path] = kept
            room -= len(kept.packed or b"")
    return Survey(files, walked.folders, began)


def keep(path: str, sight: Sight | None = None, room: int = MOST_BYTES) -> Kept | None:
    """Read a file that looks so; None when there is no such file."""
    sight = sight or look(path)
    if sight is None:
        return None
    packed, fault = _read(path, sight, room)
    now = look(path)
    if now is None:
        return None
    is_young = now != sight or time.time_ns() - now.changed < MOMENT
    return Kept(now, packed, fault, is_young)


def _read(path: str, sight: Sight, room: int) -> tuple[bytes | None, str | None]:
    """Give the packed content of a file, or why it is not kept."""
    if sight.size > LARGEST:
        return None, LARGE
    try:
        packed = zlib.compress(Path(path).read_bytes(), PACKING)
    except OSError:
        return None, UNREADABLE
    return (packed, None) if len(packed) <= room else (None, NO_ROOM)


def differences(last: Survey | None, new: Survey) -> Iterator[Difference]:
    """Tell what changed between two surveys; of a first one, what was changed while it was made."""
    known = {} if last is None else last.files
    for path, after in new.files.items():
        before = known.get(path)
        if before is after or (before is not None and before.same_as(after)):
            continue
        is_late = after.sight.changed >= new.began - MOMENT
        if last is not None:
            yield Difference(path, before, after, is_late, tuple(_made(path, last, new)))
        elif is_late:
            yield Difference(path, None, after, is_late)
    for path in known.keys() - new.files.keys():
        yield Difference(path, known[path], None)


def _made(path: str, last: Survey, new: Survey) -> Iterator[str]:
    """Give the folders of a file that were made since the last survey."""
    for folder in map(str, Path(path).parents):
        if folder in last.folders or folder not in new.folders:
            return
        yield folder
