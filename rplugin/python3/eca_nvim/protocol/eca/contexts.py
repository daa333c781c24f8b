"""Contexts: what a prompt contains besides its text, and queries that complete a prompt.

Lines and characters are 1-based.
"""

from typing import TypeAlias

from eca_nvim.protocol.base.types import OpenEnum, Request, UnknownPart, Wire
from eca_nvim.protocol.eca.editor import LinesRange, Range


class FileContext(Wire, frozen=True, kw_only=True, tag_field="type", tag="file"):
    """A file, or some of its lines; an image file is read as an image."""

    path: str
    lines_range: LinesRange | None = None


class DirectoryContext(Wire, frozen=True, kw_only=True, tag_field="type", tag="directory"):
    """A folder."""

    path: str


class WebContext(Wire, frozen=True, kw_only=True, tag_field="type", tag="web"):
    """A web page, which the server fetches."""

    url: str


class ImageContext(Wire, frozen=True, kw_only=True, tag_field="type", tag="image"):
    """An image without a file; base64 without a `data:` prefix.

    Today's server ignores it over stdio: prefer a `FileContext`.
    """

    media_type: str | None = None
    base64: str


class TextContext(Wire, frozen=True, kw_only=True, tag_field="type", tag="text"):
    """A text without a file: an unsaved buffer, a terminal, a quickfix list."""

    label: str
    content: str


class RepoMapContext(Wire, frozen=True, tag_field="type", tag="repoMap"):
    """A map of the project, made by the server; deprecated, today's servers ignore it."""


class CursorContext(Wire, frozen=True, kw_only=True, tag_field="type", tag="cursor"):
    """The cursor or the selection; lines and characters are 1-based.

    A server that proposes this kind of context sends neither field.
    """

    path: str | None = None
    position: Range | None = None


class McpResourceContext(Wire, frozen=True, kw_only=True, tag_field="type", tag="mcpResource"):
    """A resource of an MCP server."""

    uri: str
    name: str | None = None
    description: str | None = None
    mime_type: str | None = None
    server: str | None = None


class UnknownContext(UnknownPart, frozen=True, tag_field="type", tag=""):
    """A kind of context this client does not know."""


Context: TypeAlias = (
    FileContext
    | DirectoryContext
    | WebContext
    | ImageContext
    | TextContext
    | RepoMapContext
    | CursorContext
    | McpResourceContext
    | UnknownContext
)


class QueryContextResult(Wire, frozen=True, kw_only=True):
    """The matching contexts."""

    chat_id: str | None = None
    contexts: tuple[Context, ...] = ()


class QueryContextParams(Request[QueryContextResult], frozen=True, kw_only=True):
    """Find contexts to add; "" matches all; `contexts` are those the user has added already."""

    method = "chat/queryContext"
    chat_id: str | None = None
    query: str
    contexts: tuple[Context, ...]


class QueryFilesResult(Wire, frozen=True, kw_only=True):
    """The matching files, as contexts."""

    chat_id: str | None = None
    files: tuple[Context, ...] = ()


class QueryFilesParams(Request[QueryFilesResult], frozen=True, kw_only=True):
    """Find files; "" matches all."""

    method = "chat/queryFiles"
    chat_id: str | None = None
    query: str


class CommandKind(OpenEnum):
    """Where a command comes from."""

    NATIVE = "native"
    MCP_PROMPT = "mcpPrompt"
    CUSTOM_PROMPT = "customPrompt"
    SKILL = "skill"
    UNKNOWN = "unknown"


class CommandArgument(Wire, frozen=True, kw_only=True):
    """An argument of a command."""

    name: str
    description: str | None = None
    required: bool | None = None


class Command(Wire, frozen=True, kw_only=True):
    """A command that the user calls with `/name`."""

    name: str
    description: str | None = None
    type: CommandKind = CommandKind.UNKNOWN
    arguments: tuple[CommandArgument, ...] | None = None


class QueryCommandsResult(Wire, frozen=True, kw_only=True):
    """The matching commands."""

    chat_id: str | None = None
    commands: tuple[Command, ...] = ()


class QueryCommandsParams(Request[QueryCommandsResult], frozen=True, kw_only=True):
    """Find commands; "" matches all."""

    method = "chat/queryCommands"
    chat_id: str | None = None
    query: str
