"""Intents that ask something: a chat's text, places in it, images. intents.py has the rules."""

from __future__ import annotations

from typing import ClassVar, TypeAlias

from msgspec import Struct


class Grep(Struct, frozen=True):
    """Search a whole chat for a regular expression, including collapsed text.

    A lower-case pattern ignores case. Answered by the op `answer` with this number: a table of hits
    (in order; tables of block, shown, row, column and text) and more (number of hits left out), or
    of fault (why the search failed). `shown` is the block in the view: the same, or one around it.
    `row` is a line of the block's whole text, 0-based, absent if the header matches; `column` is a
    byte column, 0-based.
    """

    name: ClassVar[str] = "grep"
    chat: str
    pattern: str
    request: int


class Reveal(Struct, frozen=True):
    """Open a block and the blocks around it; answered by the op `answer` with this number.

    row: a line of its whole text, 0-based. The answer is the line's row in the body. If the body
    leaves the line out, it is nil, and the block's whole text is shown at this line.
    """

    name: ClassVar[str] = "reveal"
    chat: str
    block: int
    request: int
    row: int | None = None


class RequestPlace(Struct, frozen=True):
    """Ask which file is meant at a row of a block's body (0-based; nil: its header) and a column.

    Answered by the op `answer` with this number: a table of path (absolute) and line (1-based, nil
    if none is meant); nil if no file is meant. A header may name several files: the byte column
    (0-based) tells which.
    """

    name: ClassVar[str] = "place"
    chat: str
    block: int
    column: int
    request: int
    row: int | None = None


class RequestImage(Struct, frozen=True):
    """Ask for the file of an image block; answered by the op `answer` with this number.

    The answer is its path; nil if images of this kind are not shown.
    """

    name: ClassVar[str] = "image"
    chat: str
    block: int
    request: int


class RequestOutput(Struct, frozen=True):
    """Show a block's whole text in a buffer of its own, at a line (0-based)."""

    name: ClassVar[str] = "output"
    chat: str
    block: int
    row: int = 0


class RequestTranscript(Struct, frozen=True):
    """Ask for the whole chat as Markdown; answered by the op `answer` with this number."""

    name: ClassVar[str] = "transcript"
    chat: str
    request: int


class RequestTimeline(Struct, frozen=True):
    """Ask for the user's messages and flags; answered by the op `answer` with this number.

    The answer is a list of tables in order: block, kind (user, flag, older) and title. With a
    `block` it has only the user message that the block is or belongs to, if any.
    """

    name: ClassVar[str] = "timeline"
    chat: str
    request: int
    block: int | None = None


class CheckContext(Struct, frozen=True):
    """Ask whether a context (`contexts.parse_context`) can be sent.

    Answered by the op `answer` with this number: a table of fault (why not, in one line), or of
    first and last (the lines in order, cut to those that exist).
    """

    name: ClassVar[str] = "check_context"
    item: object
    request: int


class ReadDiff(Struct, frozen=True):
    """Ask for git's diff of the repository that a folder is in.

    Answered by the op `answer` with this number: a table of label, content and cut (what is left of
    it, nil if that is all), or of fault (why there is none, in one line).
    """

    name: ClassVar[str] = "read_diff"
    folder: str
    request: int


class ChangeFolder(Struct, frozen=True):
    """Add a folder to the workspace, or remove one that was added; the path is absolute.

    Answered by the op `answer` with this number: a list of the folders that are added now; nil if
    it was refused.
    """

    name: ClassVar[str] = "change_folder"
    path: str
    removed: bool
    request: int


class PasteImage(Struct, frozen=True):
    """Ask for the image in the clipboard as a file.

    Answered by the op `answer` with this number: a table of path, or of fault (why there is none,
    in one line).
    """

    name: ClassVar[str] = "paste_image"
    request: int


ContentRequest: TypeAlias = (
    RequestTranscript | RequestTimeline | Reveal | RequestOutput | RequestImage | RequestPlace
)
"""Intents that are answered at once from what a chat contains."""
