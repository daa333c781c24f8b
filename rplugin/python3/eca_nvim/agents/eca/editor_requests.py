"""Editor requests: answers a server's requests to the editor from `EditorServices`.

Positions: the model sees diagnostics numbered as we send them, next to tools that count lines from
1, so they are 1-based by default; `base` 0 sends them 0-based, as in the editor. Definitions and
references are 1-based in both directions. Characters are UTF-16 code units. Each message of a
diagnostic ends with a line feed, because the server joins them without a separator.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

from eca_nvim.agents.base import Diagnostic, EditorServices, Location, NoAnswer
from eca_nvim.paths import LARGEST_LOADED, NotAFile, path_of, require_file, uri_of
from eca_nvim.protocol.eca import editor as eca
from eca_nvim.protocol.eca.editor import Position, Range

Base: TypeAlias = Literal[0, 1]
Result: TypeAlias = eca.DiagnosticsResult | eca.NavigationResult

_SEVERITIES: Final[Mapping[str, eca.Severity]] = {
    "error": "error",
    "warning": "warning",
    "information": "info",
    "hint": "hint",
}


_UNANSWERED: Final[Mapping[NoAnswer, eca.NavigationResult]] = {
    NoAnswer.STARTING: eca.NavigationResult(status="starting"),
    NoAnswer.NO_SERVER: eca.NavigationResult(
        status="no-server", message="the editor has no language server for this file"
    ),
}


async def diagnostics(
    services: EditorServices, request: eca.GetDiagnostics, base: Base
) -> eca.DiagnosticsResult:
    """Answer editor/getDiagnostics. Raises NotAFile."""
    path = None if request.uri is None else path_of(request.uri)
    found = await services.diagnostics(path)
    return eca.DiagnosticsResult(diagnostics=tuple(_diagnostic(item, base) for item in found))


async def navigation(
    services: EditorServices, request: eca.GetDefinition | eca.GetReferences
) -> eca.NavigationResult:
    """Answer editor/getDefinition or editor/getReferences; failures are answers, too."""
    kind = "definition" if isinstance(request, eca.GetDefinition) else "references"
    try:
        path = path_of(request.uri)
        require_file(path, LARGEST_LOADED)
    except NotAFile as fault:
        return eca.NavigationResult(status="error", message=str(fault))
    position = request.position
    found = await services.locations(kind, path, position.line, position.character)
    if isinstance(found, NoAnswer):
        return _UNANSWERED[found]
    return eca.NavigationResult(status="success", locations=tuple(map(_location, found)))


_NO_SOURCE: Final = "Neovim"
"""Source of a diagnostic without one, because older servers require a source."""


def _diagnostic(found: Diagnostic, base: Base) -> eca.Diagnostic:
    return eca.Diagnostic(
        uri=uri_of(found.path),
        severity=_SEVERITIES.get(found.severity, "info"),
        source=found.source or _NO_SOURCE,
        range=Range(
            start=Position(line=found.start_line + base, character=found.start_column + base),
            end=Position(line=found.end_line + base, character=found.end_column + base),
        ),
        code=found.code,
        message=found.message + "\n",
    )


def _location(found: Location) -> eca.Location:
    return eca.Location(
        uri=uri_of(found.path),
        range=Range(
            start=Position(line=found.start_line, character=found.start_column),
            end=Position(line=found.end_line, character=found.end_column),
        ),
    )
