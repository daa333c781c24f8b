"""Tools: the server's own and those of MCP servers.

Rule: an update may be partial (after a change of agent: name, status and tools): UNSET means
unchanged, None means that there is none.
"""

from typing import Any, ClassVar

from msgspec import UNSET, UnsetType

from eca_nvim.protocol.base.types import Notification, Wire


class Tool(Wire, frozen=True, kw_only=True):
    """A tool; `parameters` is a JSON schema; `disabled` applies to the selected agent."""

    name: str
    description: str | None = None
    parameters: Any = None
    disabled: bool | None = None


class McpPromptArgument(Wire, frozen=True, kw_only=True):
    """An argument of an MCP server's prompt."""

    name: str
    description: str | None = None
    required: bool | None = None


class McpPrompt(Wire, frozen=True, kw_only=True):
    """A prompt that an MCP server offers as a command."""

    name: str
    description: str | None = None
    arguments: tuple[McpPromptArgument, ...] | None = None


class McpResource(Wire, frozen=True, kw_only=True):
    """A resource that an MCP server offers as a context."""

    uri: str
    name: str | None = None
    description: str | None = None
    mime_type: str | None = None


class ToolServer(Wire, frozen=True, kw_only=True):
    """A tool server, by its name.

    `type` is native or mcp; `status` is running, starting, stopped, failed, disabled or
    requires-auth. A process has `command` and `args`, a remote server has `url`. `instructions` are
    for the model (not documented).
    """

    name: str
    type: str | UnsetType | None = UNSET
    status: str | UnsetType | None = UNSET
    tools: tuple[Tool, ...] | UnsetType | None = UNSET
    prompts: tuple[McpPrompt, ...] | UnsetType | None = UNSET
    resources: tuple[McpResource, ...] | UnsetType | None = UNSET
    command: str | UnsetType | None = UNSET
    args: tuple[str, ...] | UnsetType | None = UNSET
    url: str | UnsetType | None = UNSET
    disabled: bool | UnsetType | None = UNSET
    has_auth: bool | UnsetType | None = UNSET
    instructions: str | UnsetType | None = UNSET


class ToolServerUpdated(ToolServer, Notification, frozen=True, kw_only=True):
    """A tool server was added or changed."""

    method: ClassVar[str] = "tool/serverUpdated"


class ToolServerRemoved(Notification, frozen=True, kw_only=True):
    """A tool server was removed from the config."""

    method: ClassVar[str] = "tool/serverRemoved"

    name: str
