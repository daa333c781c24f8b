"""What the server asks the editor: diagnostics, definitions and references."""

from typing import ClassVar, Literal, TypeAlias

from eca_nvim.protocol.eca.base import Request, Wire
from eca_nvim.protocol.eca.positions import Position, Range

Severity: TypeAlias = Literal["error", "warning", "info", "hint"]
NavigationStatus: TypeAlias = Literal["success", "starting", "no-server", "error"]


class Diagnostic(Wire, frozen=True, kw_only=True):
    """A diagnostic of a file.

    The server hands the numbers of `range` to the model as they are; its tools count lines
    from 1, so do the protocol's earlier versions, today's documentation counts from 0.
    """

    uri: str
    severity: Severity
    source: str | None = None
    range: Range
    code: str | None = None
    message: str


class DiagnosticsResult(Wire, frozen=True, kw_only=True):
    """The diagnostics asked for."""

    diagnostics: tuple[Diagnostic, ...]


class GetDiagnostics(Request[DiagnosticsResult], frozen=True, kw_only=True):
    """The server asks for diagnostics; without a `uri` those of the whole workspace.

    An answer that takes more than 30 s is too late.
    """

    method: ClassVar[str] = "editor/getDiagnostics"

    uri: str | None = None


class Location(Wire, frozen=True, kw_only=True):
    """A place in a file; lines and characters count from 1, characters in UTF-16 code units."""

    uri: str
    range: Range


class NavigationResult(Wire, frozen=True, kw_only=True):
    """The places found, or why there are none.

    `starting` is asked again every 2 s; `locations` goes with success, `message` with
    no-server and error.
    """

    status: NavigationStatus
    locations: tuple[Location, ...] | None = None
    message: str | None = None


class GetDefinition(Request[NavigationResult], frozen=True, kw_only=True):
    """The server asks where a symbol is defined; counted as in `Location`."""

    method: ClassVar[str] = "editor/getDefinition"

    uri: str
    position: Position


class GetReferences(Request[NavigationResult], frozen=True, kw_only=True):
    """The server asks where a symbol is used; counted as in `Location`."""

    method: ClassVar[str] = "editor/getReferences"

    uri: str
    position: Position
    include_declaration: bool = True
