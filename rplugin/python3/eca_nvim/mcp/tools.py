"""The tools of the MCP server `editor`: what an agent may ask of Neovim, and the answers as text.

All only read. Paths are absolute or relative to the workspace, lines count from 1, and a place in a
line is given by the symbol that stands there, or by a column from 1 in UTF-16 code units.
"""

import posixpath
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import cached_property, partial
from typing import Annotated, Any, ClassVar, Final, TypeAlias, TypeVar

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from eca_nvim.agents.base import (
    Diagnostic,
    EditorServices,
    FileRefused,
    Location,
    NoAnswer,
    OpenBuffer,
)
from eca_nvim.path_risks import is_inside, real_path
from eca_nvim.paths import LARGEST_LOADED, NotAFile, path_of, require_file

MOST_LINES: Final = 200
"""Lines of an answer, which says if there are more."""
LONGEST_MESSAGE: Final = 500
"""Characters of a diagnostic's message that are sent."""
LONGEST_NAME: Final = 100
"""Characters of an unknown tool's name that are sent back."""
_UNANSWERED: Final[Mapping[NoAnswer, str]] = {
    NoAnswer.STARTING: "the language server is starting: try again in some seconds",
    NoAnswer.NO_SERVER: "the editor has no language server for this file",
}


Found = TypeVar("Found", Diagnostic, Location, OpenBuffer)


class ToolFault(Exception):
    """Raised when a tool has no answer; the text says why in a line."""


class UnknownTool(Exception):
    """Raised when there is no tool of a name."""


Path: TypeAlias = Annotated[str, Meta(description="absolute, or relative to the workspace")]
Line: TypeAlias = Annotated[int, Meta(ge=1, le=2**31, description="from 1")]
Column: TypeAlias = Annotated[
    int, Meta(ge=1, le=2**31, description="from 1, in UTF-16 code units; or give symbol")
]
Symbol: TypeAlias = Annotated[
    str, Meta(min_length=1, max_length=1000, description="a name as it stands in that line")
]


class Nothing(Struct):
    """A call without arguments."""


class File(Struct):
    """A file; without a path all files of the workspace."""

    path: Path | UnsetType = UNSET


class Place(Struct):
    """A place in a file."""

    path: Path
    line: Line
    symbol: Symbol | UnsetType = UNSET
    column: Column | UnsetType = UNSET


class Tool(Struct, frozen=True):
    """A tool: what it is for, its arguments, and what answers it."""

    name: str
    description: str
    arguments: type[Struct]
    run: Callable[[Any], Awaitable[str]]

    ANNOTATIONS: ClassVar = {"readOnlyHint": True, "openWorldHint": False}

    def listed(self) -> dict[str, object]:
        """Return the tool as `tools/list` has it."""
        _, parts = msgspec.json.schema_components((self.arguments,))
        schema = parts[self.arguments.__name__]
        kept = {key: schema[key] for key in ("type", "properties", "required") if key in schema}
        return {
            "name": self.name,
            "description": self.description,
            "inputSchema": kept,
            "annotations": self.ANNOTATIONS,
        }


class EditorTools:
    """The tools, for a workspace: absolute folders."""

    def __init__(self, services: EditorServices, folders: Sequence[str]) -> None:
        self._services = services
        self._folders = folders
        tools = (
            Tool(
                "diagnostics",
                "What linters and language servers find wrong, in a file or the whole workspace, "
                "with the user's unsaved changes.",
                File,
                self._diagnostics,
            ),
            Tool(
                "definition",
                "Where a symbol is defined, from the language server.",
                Place,
                partial(self._locations, "definition"),
            ),
            Tool(
                "references",
                "Where a symbol is used, its definition included, from the language server.",
                Place,
                partial(self._locations, "references"),
            ),
            Tool(
                "open_buffers",
                "The workspace's files that are open in the editor, the one used last first, with "
                "the line of the cursor; those with unsaved changes are marked.",
                Nothing,
                self._open_buffers,
            ),
        )
        self._tools = {tool.name: tool for tool in tools}

    @cached_property
    def listed(self) -> Sequence[Mapping[str, object]]:
        """The tools as `tools/list` has them."""
        return [tool.listed() for tool in self._tools.values()]

    async def call(self, name: object, arguments: object) -> str:
        """Call a tool. Raises UnknownTool, ToolFault."""
        tool = self._tools.get(name) if isinstance(name, str) else None
        if tool is None:
            raise UnknownTool(f"there is no tool {str(name)[:LONGEST_NAME]!r}")
        try:
            return await tool.run(msgspec.convert(arguments or {}, tool.arguments))
        except msgspec.ValidationError as fault:
            raise ToolFault(f"wrong arguments: {fault}") from fault
        except (NotAFile, FileRefused) as fault:
            raise ToolFault(str(fault)) from fault

    async def _diagnostics(self, asked: File) -> str:
        path = None if asked.path is UNSET else await self._known(asked.path)
        found = await self._services.diagnostics(path)
        return _text(found, self._diagnostic, "no diagnostics")

    async def _open_buffers(self, _asked: Nothing) -> str:
        found = await self._services.open_buffers()
        inside = [it for it in found if is_inside(it.path, self._folders)]
        return _text(inside, self._open_buffer, "no file of the workspace is open")

    async def _locations(self, kind: str, asked: Place) -> str:
        path = await self._known(asked.path)
        require_file(path, LARGEST_LOADED)
        column = column_of(await self._services.read_text(path), asked)
        found = await self._services.locations(kind, path, asked.line, column)
        if isinstance(found, NoAnswer):
            raise ToolFault(_UNANSWERED[found])
        return _text(found, self._location, f"no {kind} found")

    async def _known(self, path: str) -> str:
        """Return the real path of a file of the workspace, or of another one open in Neovim.

        A definition may be elsewhere, as in a library: of that only the place is named. Raises
        ToolFault, NotAFile.
        """
        is_uri = path.startswith("file:")
        real = real_path(path_of(path if is_uri else posixpath.join(*self._folders[:1], path)))
        if not is_inside(real, self._folders):
            open_paths = {it.path for it in await self._services.open_buffers()}
            if real not in open_paths:
                raise ToolFault(f"neither in the workspace nor open in the editor: {path!r}")
        return real

    def _shown(self, path: str) -> str:
        """Return a path relative to the first folder of the workspace if it is in it."""
        folder = real_path(self._folders[0]) if self._folders else ""
        return posixpath.relpath(path, folder) if folder and is_inside(path, [folder]) else path

    def _diagnostic(self, found: Diagnostic) -> str:
        message = " ".join(found.message.split())[:LONGEST_MESSAGE]
        about = " ".join(filter(None, (found.source, found.code)))
        place = f"{self._shown(found.path)}:{found.start_line + 1}:{found.start_column + 1}"
        return f"{place}: {found.severity}: {message}{f' [{about}]' if about else ''}"

    def _location(self, found: Location) -> str:
        return f"{self._shown(found.path)}:{found.start_line}:{found.start_column}"

    def _open_buffer(self, found: OpenBuffer) -> str:
        marks = [name for name in ("visible", "modified") if getattr(found, name)]
        return " ".join((f"{self._shown(found.path)}:{found.line}", *(f"({it})" for it in marks)))


def column_of(text: str, asked: Place) -> int:
    """Return the column of a place in a text, from 1 in UTF-16 code units. Raises ToolFault."""
    lines = text.split("\n")
    if asked.line > len(lines):
        raise ToolFault(f"there are only {len(lines)} lines in {asked.path!r}")
    line = lines[asked.line - 1]
    if asked.symbol is not UNSET:
        at = _place_of(asked.symbol, line)
        if at is None:
            raise ToolFault(f"line {asked.line} of {asked.path!r} does not have {asked.symbol!r}")
        return _units(line[:at]) + 1
    if asked.column is UNSET:
        raise ToolFault("give the symbol that stands in the line, or its column")
    if asked.column > _units(line) + 1:
        raise ToolFault(f"line {asked.line} of {asked.path!r} has only {_units(line)} columns")
    return asked.column


def _place_of(symbol: str, line: str) -> int | None:
    """Return where a symbol stands as a whole word, else where it stands first."""
    first = at = line.find(symbol)
    while at >= 0:
        end = at + len(symbol)
        around = line[max(0, at - 1) : at] + line[end : end + 1]
        if not any(it.isalnum() or it == "_" for it in around):
            return at
        at = line.find(symbol, end)
    return first if first >= 0 else None


def _units(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def _text(found: Sequence[Found], line: Callable[[Found], str], nothing: str) -> str:
    """Return a line for each thing up to the limit; `nothing` stands for none."""
    left_out = len(found) - MOST_LINES
    more: Sequence[str] = [f"… and {left_out} more: ask about one file"] if left_out > 0 else []
    return "\n".join((*map(line, found[:MOST_LINES]), *more)) or nothing
