"""Agent events: what an agent reports about itself. A value that it omits is None: unchanged."""

from typing import TypeAlias

from msgspec import Struct

from eca_nvim.chat.vocabulary import bases, turn_events

AgentEvent: TypeAlias = bases.AgentEvent


class TrustWanted(AgentEvent, frozen=True):
    """Whether the agent's configuration wants tools to run without asking (ECA: selectTrust).

    No event switches trust on: the user is asked.
    """

    wanted: bool


class Welcomed(AgentEvent, frozen=True):
    """What the agent says in a chat without messages (ECA: welcomeMessage)."""

    text: str


class WorkChanged(AgentEvent, frozen=True):
    """A background activity of the agent (ECA: $/progress)."""

    id: str
    title: str
    done: bool


class MessageShown(AgentEvent, frozen=True):
    """A message for the user (ECA: $/showMessage); level is error, warn or info."""

    level: str
    text: str


class JobsChanged(AgentEvent, frozen=True):
    """All commands in the background that the agent knows, also ended ones (ECA: jobs/updated)."""

    jobs: tuple[turn_events.Job, ...]


class Tool(Struct, frozen=True):
    """A tool that a model may call; texts are the server's own.

    parameters: a JSON schema, as received. disabled: for the agent that is selected.
    """

    name: str
    description: str = ""
    parameters: object = None
    disabled: bool = False


class ToolServerChanged(AgentEvent, frozen=True):
    """A tool server (ECA: tool/serverUpdated, tool/serverRemoved); None means unchanged.

    kind: mcp, or native for the agent's own tools.
    """

    name: str
    status: str | None = None
    kind: str | None = None
    tools: tuple[Tool, ...] | None = None
    removed: bool = False
