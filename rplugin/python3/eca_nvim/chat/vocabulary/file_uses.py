"""File uses: how an agent has used files, and the op that shows it."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Any, ClassVar

from msgspec import Struct


class Use(StrEnum):
    """What was done with a file. RUN: a command named it."""

    READ = "read"
    WRITTEN = "written"
    MENTIONED = "mentioned"
    RUN = "run"


class FileUsed(Struct, frozen=True):
    """A file was used; `path` is absolute.

    by_request: the agent asked this client to read or write it (ACP: fs/read_text_file). Usually a
    call says the same when it ends; the two count once. unsaved: what a file that was written by
    request would have been with the user's unsaved changes; None: there were none.
    """

    path: str
    use: Use
    by_request: bool = False
    unsaved: bytes | None = None


class FileNamed(Struct, frozen=True):
    """A path was named that may be no file; it counts once the session has found the file."""

    path: str
    use: Use = Use.MENTIONED


class SetFilesUsed(Struct, frozen=True):
    """The files of a chat that were used since the last such op, and its turn.

    A file: path, outside (of the workspace), turn (in which it was last used), heat (as of that
    turn), and how often it was used in each way (the values of Use). dropped: paths to forget.
    """

    name: ClassVar[str] = "used"
    chat: str
    turn: int
    files: Sequence[dict[str, Any]]
    dropped: Sequence[str] = ()
