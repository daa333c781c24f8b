"""Editor: positions in a text, and requests for diagnostics, definitions and references.

Each message defines whether its lines and characters are 0-based or 1-based. Characters are
UTF-16 code units wherever the protocol defines them.
"""

from typing import Literal, TypeAlias

from eca_nvim.protocol.base.types import Int, Request, Wire


class Position(Wire, frozen=True, kw_only=True):
    """A position between two characters."""

    line: Int
    character: Int


class Range(Wire, frozen=True, kw_only=True):
    """A range of text, `end` exclusive (not defined by the protocol, but usual in editors)."""

    start: Position
    end: Position


class LinesRange(Wire, frozen=True, kw_only=True):
    """Whole lines of a file, 1-based, both ends included."""

    start: Int
    end: Int


Severity: TypeAlias = Literal["error", "warning", "info", "hint"]
NavigationStatus: TypeAlias = Literal["success", "starting", "no-server", "error"]


class Diagnostic(Wire, frozen=True, kw_only=True):
    """A diagnostic of a file.

    The server passes the numbers of `range` to the model unchanged. Its tools and earlier versions
    of the protocol count lines from 1; today's documentation counts from 0.
    """

    uri: str
    severity: Severity
    source: str | None = None
    range: Range
    code: str | None = None
    message: str


class DiagnosticsResult(Wire, frozen=True, kw_only=True):
    """The requested diagnostics."""

    diagnostics: tuple[Diagnostic, ...]


class GetDiagnostics(Request[DiagnosticsResult], frozen=True, kw_only=True):
    """Get the diagnostics of a file, or without a `uri` of the whole workspace.

    The server waits 30 s for the response.
    """

    method = "editor/getDiagnostics"
    uri: str | None = None


class Location(Wire, frozen=True, kw_only=True):
    """A range in a file; lines and characters are 1-based, characters in UTF-16 code units."""

    uri: str
    range: Range


class NavigationResult(Wire, frozen=True, kw_only=True):
    """The locations found, or why there are none.

    After `starting` the server asks again, every 2 s. `locations` is for success, `message` for
    no-server and error.
    """

    status: NavigationStatus
    locations: tuple[Location, ...] | None = None
    message: str | None = None


class GetDefinition(Request[NavigationResult], frozen=True, kw_only=True):
    """Get the definition of the symbol at a position, counted as in `Location`."""

    method = "editor/getDefinition"
    uri: str
    position: Position


class GetReferences(Request[NavigationResult], frozen=True, kw_only=True):
    """Get the references to the symbol at a position, counted as in `Location`."""

    method = "editor/getReferences"
    uri: str
    position: Position
    include_declaration: bool = True
