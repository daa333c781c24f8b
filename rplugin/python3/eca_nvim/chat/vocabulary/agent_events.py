"""Agent events: what an agent reports about itself, in all chats, or to one chat.

A value that the agent omits is None: it is unchanged.
"""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Struct

from eca_nvim.chat.vocabulary import events, login, options, turn_events


class TrustWanted(Struct, frozen=True):
    """Whether the agent's configuration wants tools to run without asking (ECA: selectTrust).

    No event switches trust on: the user is asked.
    """

    wanted: bool


class Welcomed(Struct, frozen=True):
    """What the agent says in a chat without messages (ECA: welcomeMessage)."""

    text: str


class WorkChanged(Struct, frozen=True):
    """A background activity of the agent (ECA: $/progress)."""

    id: str
    title: str
    done: bool


class MessageShown(Struct, frozen=True):
    """A message for the user (ECA: $/showMessage); level is error, warn or info."""

    level: str
    text: str


class JobsChanged(Struct, frozen=True):
    """All commands in the background that the agent knows, also ended ones (ECA: jobs/updated)."""

    jobs: tuple[turn_events.Job, ...]


class ToolServerChanged(Struct, frozen=True):
    """A tool server (ECA: tool/serverUpdated, tool/serverRemoved); None means unchanged."""

    name: str
    status: str | None = None
    kind: str | None = None
    tools: tuple[str, ...] | None = None
    removed: bool = False


AgentEvent: TypeAlias = (
    events.Addressed
    | options.AbilitiesChanged
    | login.LoginNeeded
    | TrustWanted
    | Welcomed
    | WorkChanged
    | MessageShown
    | ToolServerChanged
    | JobsChanged
)
