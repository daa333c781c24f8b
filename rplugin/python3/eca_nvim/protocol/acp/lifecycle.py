"""Lifecycle: initialize, login and logout, and `$/cancel_request`, which either side may send."""

from typing import Any, Final

from msgspec import field

from eca_nvim.protocol.acp.sessions import McpCapabilities
from eca_nvim.protocol.base.types import Int, Notification, Request, Wire


class AuthenticateParams(Request[None], frozen=True):
    """Log in by a way of the agent, which it does by itself."""

    method = "authenticate"
    method_id: str


class LogoutParams(Request[None], frozen=True):
    """Log out, for agents with the capability."""

    method = "logout"


VERSION: Final = 1
"""The version of the protocol that this client speaks."""

AUTH_REQUIRED: Final = -32000
"""Error code of a request that needs a login."""
RESOURCE_NOT_FOUND: Final = -32002
"""Error code of a request for something that does not exist."""


class Implementation(Wire, frozen=True):
    """The name and version of a client or an agent; `title` is for users."""

    name: str
    version: str = ""
    title: str | None = None


class PromptCapabilities(Wire, frozen=True):
    """What a prompt may contain besides text and links."""

    image: bool = False
    audio: bool = False
    embedded_context: bool = False


class SessionCapabilities(Wire, frozen=True):
    """Methods of sessions that an agent has; an empty object means that it has the method."""

    close: dict[str, Any] | None = None
    list: dict[str, Any] | None = None
    resume: dict[str, Any] | None = None
    delete: dict[str, Any] | None = None
    fork: dict[str, Any] | None = None
    title: dict[str, Any] | None = None
    additional_directories: dict[str, Any] | None = None


class AuthCapabilities(Wire, frozen=True):
    """What an agent can do with a login; an empty object means that it has the method."""

    logout: dict[str, Any] | None = None


class AgentCapabilities(Wire, frozen=True):
    """What an agent can do."""

    auth: AuthCapabilities = AuthCapabilities()
    prompt_capabilities: PromptCapabilities = PromptCapabilities()
    session_capabilities: SessionCapabilities = SessionCapabilities()
    mcp_capabilities: McpCapabilities = McpCapabilities()
    load_session: bool = False


class TerminalLogin(Wire, frozen=True):
    """A command that logs in, in a terminal."""

    command: str
    args: tuple[str, ...] = ()
    env: dict[str, str] = field(default_factory=dict)


class AuthMeta(Wire, frozen=True):
    """What agents add to a way to log in, in older forms of it."""

    type: str = ""
    args: tuple[str, ...] = ()
    terminal_auth: TerminalLogin | None = field(default=None, name="terminal-auth")


class EnvironmentVariable(Wire, frozen=True):
    """A variable that an agent reads."""

    name: str
    optional: bool = False


class AuthMethod(Wire, frozen=True):
    """A way to log in.

    `type`: agent; terminal, which runs the agent's program with `args` and `env` added; or env_var,
    which needs `vars`.
    """

    id: str
    name: str
    description: str | None = None
    type: str = ""
    args: tuple[str, ...] = ()
    env: dict[str, str] = field(default_factory=dict)
    vars: tuple[EnvironmentVariable, ...] = ()
    meta: AuthMeta | None = field(default=None, name="_meta")


class Steering(Wire, frozen=True):
    """Whether a running turn can be steered."""

    supported: bool = False


class InitializeMeta(Wire, frozen=True):
    """What agents announce beyond the protocol; `welcome` is what a new chat shows, in Markdown."""

    steering: Steering = Steering()
    welcome: str = ""


class InitializeResult(Wire, frozen=True):
    """The agent's answer to initialize."""

    protocol_version: Int
    agent_capabilities: AgentCapabilities = AgentCapabilities()
    agent_info: Implementation | None = None
    auth_methods: tuple[AuthMethod, ...] = ()
    meta: InitializeMeta = field(default=InitializeMeta(), name="_meta")


class InitializeParams(Request[InitializeResult], frozen=True):
    """The first request: who we are and what we can do."""

    method = "initialize"
    protocol_version: Int
    client_info: Implementation
    client_capabilities: dict[str, Any]


class CancelRequest(Notification, frozen=True):
    """The other side no longer needs the answer to a request."""

    method = "$/cancel_request"
    request_id: Int | str
