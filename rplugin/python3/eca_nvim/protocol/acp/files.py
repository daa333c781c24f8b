"""Files: fs/read_text_file and fs/write_text_file, by which an agent works through the editor."""

from typing import ClassVar

from eca_nvim.protocol.base.types import Int, Request, Wire


class FileText(Wire, frozen=True):
    """The text of a file, or of some of its lines."""

    content: str


class FileWritten(Wire, frozen=True):
    """A file was written."""


class ReadTextFile(Request[FileText], frozen=True):
    """Read a file. line: the first one, 1-based; limit: how many lines."""

    method: ClassVar[str] = "fs/read_text_file"

    session_id: str
    path: str
    line: Int | None = None
    limit: Int | None = None


class WriteTextFile(Request[FileWritten], frozen=True):
    """Give a file a new text; it is made if it is missing."""

    method: ClassVar[str] = "fs/write_text_file"

    session_id: str
    path: str
    content: str
