"""MCP servers: to run and configure them; the server reports results as `ToolServerUpdated`."""

from typing import ClassVar, Literal

from eca_nvim.protocol.base.types import Int, Notification, Request, Wire
from eca_nvim.protocol.eca.failures import Failure
from eca_nvim.protocol.eca.tools import ToolServer


class McpStart(Notification, frozen=True, kw_only=True):
    """Start an MCP server."""

    method: ClassVar[str] = "mcp/startServer"

    name: str


class McpStop(Notification, frozen=True, kw_only=True):
    """Stop an MCP server."""

    method: ClassVar[str] = "mcp/stopServer"

    name: str


class McpConnect(Notification, frozen=True, kw_only=True):
    """Authorize an MCP server that requires it; the server opens the browser."""

    method: ClassVar[str] = "mcp/connectServer"

    name: str


class McpLogout(Notification, frozen=True, kw_only=True):
    """Forget the credentials of an MCP server and restart it."""

    method: ClassVar[str] = "mcp/logoutServer"

    name: str


class McpEnable(Notification, frozen=True, kw_only=True):
    """Enable an MCP server in the config and start it."""

    method: ClassVar[str] = "mcp/enableServer"

    name: str


class McpDisable(Notification, frozen=True, kw_only=True):
    """Disable an MCP server in the config and stop it."""

    method: ClassVar[str] = "mcp/disableServer"

    name: str


class McpAddResult(Wire, frozen=True, kw_only=True):
    """The server that was added, or why it was not."""

    server: ToolServer | None = None
    error: Failure | None = None


class McpAddParams(Request[McpAddResult], frozen=True, kw_only=True):
    """Add an MCP server to the config and start it: a `command` to run or a `url`.

    Today's server rewrites the names in `env` to kebab-case and drops `client_id` and
    `oauth_port`. `scope` "workspace" needs the folder's `workspace_uri`.
    """

    method: ClassVar[str] = "mcp/addServer"

    name: str
    command: str | None = None
    args: tuple[str, ...] | None = None
    env: dict[str, str] | None = None
    url: str | None = None
    headers: dict[str, str] | None = None
    client_id: str | None = None
    client_secret: str | None = None
    oauth_port: Int | None = None
    auth_scope: str | None = None
    disabled: bool | None = None
    scope: Literal["global", "workspace"] | None = None
    workspace_uri: str | None = None


class McpUpdateParams(Request[None], frozen=True, kw_only=True):
    """Change an MCP server's command or URL in the config, and restart it."""

    method: ClassVar[str] = "mcp/updateServer"

    name: str
    command: str | None = None
    args: tuple[str, ...] | None = None
    url: str | None = None


class McpRemoveResult(Wire, frozen=True, kw_only=True):
    """Whether the server was removed, or why it was not."""

    name: str | None = None
    removed: bool | None = None
    error: Failure | None = None


class McpRemoveParams(Request[McpRemoveResult], frozen=True, kw_only=True):
    """Remove an MCP server from the config."""

    method: ClassVar[str] = "mcp/removeServer"

    name: str
