"""Agent events: what an agent reports about itself, in all chats, or to one chat.

A value that the agent omits is None: it is unchanged.
"""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Struct

from eca_nvim.chat.vocabulary.abilities import AbilitiesChanged
from eca_nvim.chat.vocabulary.events import Addressed


class ChoicesChanged(Struct, frozen=True):
    """The choices the user has, and the defaults; None means unchanged (ECA: config/updated).

    chat_id: the selection applies to this chat only. forced: the selections ("model", "agent") that
    replace those of every chat. wants_trust: whether the agent's configuration lets tools run
    without asking the user. bring_models: whether an agent in `agents` may select its own model.
    """

    models: tuple[str, ...] | None = None
    agents: tuple[str, ...] | None = None
    variants: tuple[str, ...] | None = None
    model: str | None = None
    agent: str | None = None
    variant: str | None = None
    wants_trust: bool | None = None
    welcome: str | None = None
    chat_id: str | None = None
    forced: tuple[str, ...] = ()
    bring_models: bool = True


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
    """All commands that run in the background (ECA: jobs/updated)."""

    running: tuple[str, ...]


class ToolServerChanged(Struct, frozen=True):
    """A tool server (ECA: tool/serverUpdated, tool/serverRemoved); None means unchanged."""

    name: str
    status: str | None = None
    kind: str | None = None
    tools: tuple[str, ...] | None = None
    removed: bool = False


AgentEvent: TypeAlias = (
    Addressed
    | AbilitiesChanged
    | ChoicesChanged
    | WorkChanged
    | MessageShown
    | ToolServerChanged
    | JobsChanged
)
