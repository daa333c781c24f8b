"""What only the protocol's first draft knew: its contexts, code in texts, proposals, metadata.

Rule: lines count from 1 where the draft says so, and everywhere else alike.
"""

from typing import TypeAlias

from eca_nvim.protocol.eca.base import Int, Wire
from eca_nvim.protocol.eca.positions import Position


class LineSpan(Wire, frozen=True, kw_only=True):
    """Lines of a file, both ends included."""

    start_line: Int
    end_line: Int


class CodeBlock(Wire, frozen=True, kw_only=True):
    """Code found in a text; whether the text repeats it, the draft leaves open."""

    code: str = ""
    language: str | None = None


class ProposedChange(Wire, frozen=True, kw_only=True):
    """One change of a proposal; `kind` is create, change or delete."""

    kind: str | None = None
    content: str | None = None
    range: LineSpan | None = None


class FileChangeContent(Wire, frozen=True, kw_only=True, tag_field="type", tag="fileChange"):
    """Changes of a file as the protocol's first draft proposed them; tool calls since.

    The client makes them: the draft has no message that tells the server of an approval. The user
    is asked unless `manual_approval` is false; a server that leaves it out says nothing.
    """

    description: str | None = None
    manual_approval: bool | None = None
    file: str | None = None
    changes: tuple[ProposedChange, ...] = ()


class Generated(Wire, frozen=True, kw_only=True):
    """The metadata of a piece of an answer: how many tokens the answer used."""

    tokens_used: Int | None = None


class DraftFile(Wire, frozen=True, kw_only=True, tag_field="type", tag="file"):
    """A file, some of its lines, or where the cursor is in it."""

    path: str
    selection: LineSpan | None = None
    cursor: Position | None = None


class DraftWeb(Wire, frozen=True, kw_only=True, tag_field="type", tag="web"):
    """A page."""

    url: str


class DraftCode(Wire, frozen=True, kw_only=True, tag_field="type", tag="code"):
    """Text that is in no file."""

    content: str
    language: str
    description: str | None = None


DraftContext: TypeAlias = DraftFile | DraftWeb | DraftCode
