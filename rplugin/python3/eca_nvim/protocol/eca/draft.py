"""What only the protocol's first draft knew."""

from eca_nvim.protocol.eca.base import Wire


class LineSpan(Wire, frozen=True, kw_only=True):
    """Lines of a file, counted from 1."""

    start_line: int
    end_line: int


class ProposedChange(Wire, frozen=True, kw_only=True):
    """One change of a proposal; `kind` is create, change or delete."""

    kind: str | None = None
    content: str | None = None
    range: LineSpan | None = None


class FileChangeContent(Wire, frozen=True, kw_only=True, tag_field="type", tag="fileChange"):
    """Changes of a file as the protocol's first draft proposed them; tool calls since."""

    description: str | None = None
    manual_approval: bool = False
    file: str | None = None
    changes: tuple[ProposedChange, ...] = ()
