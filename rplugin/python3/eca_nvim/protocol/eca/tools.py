"""Tools: the server's own, those of MCP servers, which can be run and configured, and jobs."""

from typing import Any, Literal

from msgspec import UNSET, UnsetType

from eca_nvim.protocol.base.types import Int, Notification, Request, Wire
from eca_nvim.protocol.eca.lifecycle import Failure


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
    """A tool server, by its name, maybe in part: UNSET means unchanged, None that there is none.

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

    method = "tool/serverUpdated"


class ToolServerRemoved(Notification, frozen=True, kw_only=True):
    """A tool server was removed from the config."""

    method = "tool/serverRemoved"
    name: str


class OfMcpServer(Notification, frozen=True, kw_only=True):
    """What the user wants of an MCP server; the server answers nothing to an unknown name."""

    name: str


class McpStart(OfMcpServer, frozen=True):
    """Start it."""

    method = "mcp/startServer"


class McpStop(OfMcpServer, frozen=True):
    """Stop it."""

    method = "mcp/stopServer"


class McpConnect(OfMcpServer, frozen=True):
    """Authorize one that requires it; the server opens the browser."""

    method = "mcp/connectServer"


class McpLogout(OfMcpServer, frozen=True):
    """Forget its credentials and restart it."""

    method = "mcp/logoutServer"


class McpEnable(OfMcpServer, frozen=True):
    """Enable it in the config and start it."""

    method = "mcp/enableServer"


class McpDisable(OfMcpServer, frozen=True):
    """Disable it in the config and stop it."""

    method = "mcp/disableServer"


class McpAddResult(Wire, frozen=True, kw_only=True):
    """The server that was added, or why it was not."""

    server: ToolServer | None = None
    error: Failure | None = None


class McpAddParams(Request[McpAddResult], frozen=True, kw_only=True):
    """Add an MCP server to the config and start it: a `command` to run or a `url`.

    Today's server rewrites the names in `env` to kebab-case and drops `client_id` and
    `oauth_port`. `scope` "workspace" needs the folder's `workspace_uri`.
    """

    method = "mcp/addServer"
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

    method = "mcp/updateServer"
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

    method = "mcp/removeServer"
    name: str


class Job(Wire, frozen=True, kw_only=True):
    """A job; `status` is running, completed, failed or killed.

    `label` is the command; `started_at` an ISO 8601 time; `elapsed` a text ("5m23s");
    `tool_call_id` the call that started it (not documented).
    """

    id: str
    type: str | None = None
    status: str | None = None
    label: str | None = None
    summary: str | None = None
    started_at: str | None = None
    elapsed: str | None = None
    exit_code: Int | None = None
    chat_id: str | None = None
    chat_label: str | None = None
    tool_call_id: str | None = None


class Jobs(Wire, frozen=True, kw_only=True):
    """All jobs; a finished one disappears after some seconds."""

    jobs: tuple[Job, ...] = ()


class JobsUpdated(Jobs, Notification, frozen=True, kw_only=True):
    """The jobs changed."""

    method = "jobs/updated"


class JobsListParams(Request[Jobs], frozen=True):
    """List the jobs of all chats."""

    method = "jobs/list"


class JobKillResult(Wire, frozen=True, kw_only=True):
    """Whether the job existed and was killed."""

    killed: bool = False


class JobKillParams(Request[JobKillResult], frozen=True, kw_only=True):
    """Kill a job."""

    method = "jobs/kill"
    job_id: str


class OutputLine(Wire, frozen=True, kw_only=True):
    """A line of a job's output; `stream` is stdout or stderr."""

    text: str = ""
    stream: str | None = None


class JobOutputResult(Wire, frozen=True, kw_only=True):
    """A job's last lines, at most 2000; `status` is None for an unknown job."""

    lines: tuple[OutputLine, ...] = ()
    status: str | None = None
    exit_code: Int | None = None


class JobOutputParams(Request[JobOutputResult], frozen=True, kw_only=True):
    """Read a job's output; the model can still read the same output."""

    method = "jobs/readOutput"
    job_id: str
