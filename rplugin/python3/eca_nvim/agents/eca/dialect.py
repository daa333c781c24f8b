"""Dialect: detects which generation of the protocol a server speaks, and what it lacks.

No server states its generation. Rules kept here:
- Each message of a server proves a minimum generation; the result never goes down.
  Prompts wait until a server is ready, and by then today's server has sent a message.
- An older server may get its first prompt before it has sent anything. That prompt is written so
  that each generation understands it; missing features are reported once they are known.
- A missing feature is reported once, in one line, a stop each time: it answers the user. Messages
  the server cannot know are not sent.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, IntEnum
from typing import Final

from msgspec import UNSET

from eca_nvim.chat.vocabulary.options import ALL_ABILITIES, Ability
from eca_nvim.protocol.eca import Unknown, chat, content, lifecycle, tool_call, tools


class Generation(IntEnum):
    """A generation of the protocol, oldest first.

    UNKNOWN: no proof yet, so it is older than today's. DRAFT: an answer consists of text and
    proposed changes, and ends with isComplete. BEHAVIORS: tool calls; the server creates chat ids.
    SERVERS: a tool call names its server and can be remembered. AGENTS: today's.
    """

    UNKNOWN = 0
    DRAFT = 1
    BEHAVIORS = 2
    SERVERS = 3
    AGENTS = 4


class Lack(Enum):
    """A feature that a server may lack; the value is the message to the user."""

    STOP = "this server cannot stop a turn: it runs to its end"
    REMEMBER = "this server cannot allow always: it will ask again"
    AGENT = "this server has no agents to choose from"
    FOLDERS = "this server does not accept folders with a prompt: they are not sent"
    RESOURCES = "this server accepts only resources that it lists: choose them after an @"
    TEXTS = "this server accepts only files with a prompt: text that is in no file is not sent"


_SINCE: Final[Mapping[Lack, Generation]] = {
    Lack.STOP: Generation.BEHAVIORS,
    Lack.AGENT: Generation.BEHAVIORS,
    Lack.FOLDERS: Generation.BEHAVIORS,
    Lack.REMEMBER: Generation.SERVERS,
    Lack.RESOURCES: Generation.AGENTS,
}

_ABLE_SINCE: Final[Mapping[Ability, Generation]] = {
    Ability.DELETE: Generation.DRAFT,
    Ability.CLEAR: Generation.DRAFT,
    Ability.LOGIN: Generation.BEHAVIORS,
}
"""Abilities that servers before today's have."""

_OLD_NOTICES: Final = (tools.ToolServerUpdated, lifecycle.ShowMessage)
"""Notifications that older servers sent, too."""


class Dialect:
    """What one server process has shown of its generation so far."""

    def __init__(self, *, repo_map: bool = True) -> None:
        self._repo_map = repo_map
        self.generation = Generation.UNKNOWN
        self.speaks_of_behaviors = False
        """Whether the server calls agents by their older name only."""
        self._reported: set[Lack] = set()

    def read_introduction(self, result: lifecycle.InitializeResult) -> None:
        """Learn from the response to initialize."""
        if result.agents is not None:
            self.speaks_of_behaviors = True
            self._is_at_least(Generation.BEHAVIORS)
        elif result.models is not None:
            self._is_at_least(Generation.BEHAVIORS)
        elif result.welcome_message is not None:
            self._is_at_least(Generation.AGENTS)

    def read_notification(self, message: object) -> None:
        """Learn from a notification: a hot path, and most servers are known by now."""
        if self.generation is Generation.AGENTS and type(message) is not chat.ConfigUpdated:
            return
        match message:
            case chat.ConfigUpdated(chat=config):
                self._configured(config or chat.ChatConfig())
            case content.ContentReceived():
                self._is_at_least(_of_content(message))
            case Unknown():
                pass
            case _ if isinstance(message, _OLD_NOTICES):
                self._is_at_least(Generation.BEHAVIORS)
            case _:
                self._is_at_least(Generation.AGENTS)

    def read_answer(self, result: chat.PromptResult) -> None:
        """Learn from the response to a prompt, which has no model in the first draft."""
        if result.model is not None or result.status is chat.PromptStatus.LOGIN:
            self._is_at_least(Generation.BEHAVIORS)
        elif result.result_message is not None:
            self._is_at_least(Generation.DRAFT)

    def lacks(self, lack: Lack) -> bool:
        """Return whether the server is known to lack something."""
        if lack is Lack.TEXTS:
            return self.generation in (Generation.BEHAVIORS, Generation.SERVERS)
        if self.generation is Generation.UNKNOWN:
            return _SINCE[lack] is Generation.AGENTS
        return self.generation < _SINCE[lack]

    @property
    def abilities(self) -> frozenset[Ability]:
        """What the server can do. Without proof it is not steered: that text would be lost."""
        if self.generation is Generation.UNKNOWN:
            return ALL_ABILITIES - {Ability.STEER}
        known = self.generation
        return frozenset(it for it in Ability if known >= _ABLE_SINCE.get(it, Generation.AGENTS))

    def may_be(self, generation: Generation) -> bool:
        """Return whether the server may be of a generation or of a later one."""
        return self.generation in (Generation.UNKNOWN, max(self.generation, generation))

    @property
    def wants_repo_map(self) -> bool:
        """Whether prompts ask for a map of the project; later servers have a tool for that."""
        return self._repo_map and self.generation is Generation.BEHAVIORS

    def is_first_report(self, lack: Lack) -> bool:
        """Note that a missing feature is reported; return whether it is the first time."""
        first = lack not in self._reported
        self._reported.add(lack)
        return first

    def _configured(self, config: chat.ChatConfig) -> None:
        if config.of_behaviors:
            self.speaks_of_behaviors = True
        elif config.agents is not UNSET or config.select_agent is not UNSET:
            self.speaks_of_behaviors = False
            self._is_at_least(Generation.AGENTS)
        self._is_at_least(Generation.BEHAVIORS)

    def _is_at_least(self, generation: Generation) -> None:
        self.generation = max(self.generation, generation)


def _of_content(received: content.ContentReceived) -> Generation:
    if received.parent_chat_id is not None:
        return Generation.AGENTS
    match received.content:
        case _ if received.is_complete is not None:  # a piece of an answer, whatever its kind
            return Generation.DRAFT
        case content.FileChangeContent():
            return Generation.DRAFT
        case content.TextContent() | content.UnknownContent():
            return Generation.UNKNOWN
        case tool_call.ToolCall(server=str()) | content.MetadataContent():
            return Generation.SERVERS
        case _:
            return Generation.BEHAVIORS
