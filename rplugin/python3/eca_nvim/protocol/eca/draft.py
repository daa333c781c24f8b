"""Draft: types of the protocol's first draft only: contexts, code blocks, proposals, metadata.

Rule: all lines are 1-based, also where the draft does not define it.
"""

from typing import TypeAlias

from eca_nvim.protocol.base.types import Int, Wire
from eca_nvim.protocol.eca.editor import Position


class LineSpan(Wire, frozen=True, kw_only=True):
    """Lines of a file, both ends included."""

    start_line: Int
    end_line: Int


class CodeBlock(Wire, frozen=True, kw_only=True):
    """Code found in a text; the draft does not say whether the text contains it."""

    code: str = ""
    language: str | None = None


class ProposedChange(Wire, frozen=True, kw_only=True):
    """One change in a proposal; `kind` is create, change or delete."""

    kind: str | None = None
    content: str | None = None
    range: LineSpan | None = None


class FileChangeContent(Wire, frozen=True, kw_only=True, tag_field="type", tag="fileChange"):
    """Proposed changes of a file; tool calls have replaced them.

    The client makes the changes: the draft has no message for an approval. The user is asked unless
    `manual_approval` is false; None if the server omits it.
    """

    description: str | None = None
    manual_approval: bool | None = None
    file: str | None = None
    changes: tuple[ProposedChange, ...] = ()


class Generated(Wire, frozen=True, kw_only=True):
    """Metadata of an answer: the tokens it used."""

    tokens_used: Int | None = None


class DraftFile(Wire, frozen=True, kw_only=True, tag_field="type", tag="file"):
    """A file, some of its lines, or the cursor in it."""

    path: str
    selection: LineSpan | None = None
    cursor: Position | None = None


class DraftWeb(Wire, frozen=True, kw_only=True, tag_field="type", tag="web"):
    """A web page."""

    url: str


class DraftCode(Wire, frozen=True, kw_only=True, tag_field="type", tag="code"):
    """Text without a file."""

    content: str
    language: str
    description: str | None = None


DraftContext: TypeAlias = DraftFile | DraftWeb | DraftCode
