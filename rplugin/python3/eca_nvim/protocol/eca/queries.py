"""Queries for completion in a prompt: contexts, files and commands."""

from typing import ClassVar

from eca_nvim.protocol.base.types import OpenEnum, Request, Wire
from eca_nvim.protocol.eca.contexts import Context


class QueryContextResult(Wire, frozen=True, kw_only=True):
    """The matching contexts."""

    chat_id: str | None = None
    contexts: tuple[Context, ...] = ()


class QueryContextParams(Request[QueryContextResult], frozen=True, kw_only=True):
    """Find contexts to add; "" matches all; `contexts` are those the user has added already."""

    method: ClassVar[str] = "chat/queryContext"

    chat_id: str | None = None
    query: str
    contexts: tuple[Context, ...]


class QueryFilesResult(Wire, frozen=True, kw_only=True):
    """The matching files, as contexts."""

    chat_id: str | None = None
    files: tuple[Context, ...] = ()


class QueryFilesParams(Request[QueryFilesResult], frozen=True, kw_only=True):
    """Find files; "" matches all."""

    method: ClassVar[str] = "chat/queryFiles"

    chat_id: str | None = None
    query: str


class CommandKind(OpenEnum):
    """Where a command comes from."""

    NATIVE = "native"
    MCP_PROMPT = "mcpPrompt"
    CUSTOM_PROMPT = "customPrompt"
    SKILL = "skill"
    UNKNOWN = "unknown"

    @classmethod
    def _missing_(cls, value: object) -> "CommandKind":
        return cls.MCP_PROMPT if value == "mcp-prompt" else cls.UNKNOWN


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

    method: ClassVar[str] = "chat/queryCommands"

    chat_id: str | None = None
    query: str
