"""MCP servers: tool servers that the agent starts or connects to for a session."""

from typing import Literal

from eca_nvim.protocol.base.types import Wire


class McpCapabilities(Wire, frozen=True):
    """The kinds of remote MCP servers that an agent can connect to."""

    http: bool = False
    sse: bool = False


class NamedValue(Wire, frozen=True):
    """A variable of an environment, or a header."""

    name: str
    value: str


class McpStdio(Wire, frozen=True):
    """A server that the agent starts; every agent can. `command` is an absolute path."""

    name: str
    command: str
    args: tuple[str, ...]
    env: tuple[NamedValue, ...]


class McpRemote(Wire, frozen=True):
    """A server that runs already, for agents with the capability of its `type`."""

    type: Literal["http", "sse"]
    name: str
    url: str
    headers: tuple[NamedValue, ...]
