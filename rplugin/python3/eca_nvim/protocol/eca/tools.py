"""The tools the server offers: its own and those of MCP servers.

Rule: an update may say a part only (after a change of agent: name, status and tools): UNSET is
what it says nothing about, None what there is none of.
"""

from typing import Any, ClassVar

from msgspec import UNSET, UnsetType

from eca_nvim.protocol.eca.base import Notification, Wire


class Tool(Wire, frozen=True, kw_only=True):
    """A tool; `parameters` is a JSON schema; `disabled` is for the agent in use."""

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
    """A prompt an MCP server offers; called as a command."""

    name: str
    description: str | None = None
    arguments: tuple[McpPromptArgument, ...] | None = None


class McpResource(Wire, frozen=True, kw_only=True):
    """A resource an MCP server offers; added as a context."""

    uri: str
    name: str | None = None
    description: str | None = None
    mime_type: str | None = None


class ToolServer(Wire, frozen=True, kw_only=True):
    """A server of tools, by its name.

    `type` is native or mcp; `status` is running, starting, stopped, failed, disabled or
    requires-auth. `command` and `args` are of one that is a process, `url` of one that is not.
    `instructions` is what it tells the model (not documented).
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
    """A server of tools is there, or changed."""

    method: ClassVar[str] = "tool/serverUpdated"


class ToolServerRemoved(Notification, frozen=True, kw_only=True):
    """A server of tools was removed from the config."""

    method: ClassVar[str] = "tool/serverRemoved"

    name: str
