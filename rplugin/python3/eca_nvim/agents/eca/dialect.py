"""Which generation of the protocol a server speaks, and what it lacks for that.

No server says its generation. Rules kept here:
- Every word a server says shows that it is at least of some generation; it never grows older again.
  Prompts wait until a server is ready, which is when today's has spoken.
- Servers before today's may take their first prompt before they have shown anything: it is
  written so that each of them reads it, and what they lack is told when it is known.
- What a server lacks is told once, in one line; nothing is sent that it cannot know.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, IntEnum
from typing import Final

from msgspec import UNSET

from eca_nvim.protocol.eca import Unknown
from eca_nvim.protocol.eca.chat import PromptResult, PromptStatus
from eca_nvim.protocol.eca.choice import ChatConfig, ConfigUpdated
from eca_nvim.protocol.eca.content import (
    ContentReceived,
    FileChangeContent,
    MetadataContent,
    TextContent,
)
from eca_nvim.protocol.eca.lifecycle import InitializeResult
from eca_nvim.protocol.eca.notices import ShowMessage
from eca_nvim.protocol.eca.tool_call import ToolCall
from eca_nvim.protocol.eca.tools import ToolServerUpdated


class Generation(IntEnum):
    """A time in the protocol's life, the oldest first.

    UNKNOWN: nothing was shown yet, so it is before today's. DRAFT: the whole of an answer is text
    and proposals, ended by isComplete. BEHAVIORS: tool calls, and chats with ids of the server.
    SERVERS: a tool call names its server and can be remembered. AGENTS: today's.
    """

    UNKNOWN = 0
    DRAFT = 1
    BEHAVIORS = 2
    SERVERS = 3
    AGENTS = 4


class Lack(Enum):
    """What a server may lack, as the user is told."""

    STOP = "this server cannot be stopped: the turn goes on to its end"
    STEER = "this server cannot be steered: what you say is sent when the turn ends"
    TRUST = "this server knows no trust: it goes on asking"
    REMEMBER = "this server does not remember approvals: it will ask again"
    AGENT = "this server has no agents to choose from"
    FOLDERS = "this server takes no folders along with a prompt: they are not sent"
    TEXTS = "this server takes only files along with a prompt: what is in no file is not sent"


_SINCE: Final[Mapping[Lack, Generation]] = {
    Lack.STOP: Generation.BEHAVIORS,
    Lack.AGENT: Generation.BEHAVIORS,
    Lack.FOLDERS: Generation.BEHAVIORS,
    Lack.REMEMBER: Generation.SERVERS,
    Lack.STEER: Generation.AGENTS,
    Lack.TRUST: Generation.AGENTS,
}

_OLD_NOTICES: Final = (ToolServerUpdated, ShowMessage)
"""Notifications that came before agents."""


class Dialect:
    """What one server process showed of its generation so far."""

    def __init__(self, *, repo_map: bool = True) -> None:
        self._repo_map = repo_map
        self.generation = Generation.UNKNOWN
        self.speaks_of_behaviors = False
        """Whether agents have their older name only."""
        self._told: set[Lack] = set()

    def introduced(self, result: InitializeResult) -> None:
        """Take the answer to initialize."""
        if result.agents is not None:
            self.speaks_of_behaviors = True
            self._is_at_least(Generation.BEHAVIORS)
        elif result.models is not None:
            self._is_at_least(Generation.BEHAVIORS)
        elif result.welcome_message is not None:
            self._is_at_least(Generation.AGENTS)

    def heard(self, message: object) -> None:
        """Take a notification (hot: nothing is left to learn of most servers)."""
        if self.generation is Generation.AGENTS and type(message) is not ConfigUpdated:
            return
        match message:
            case ConfigUpdated(chat=config):
                self._configured(config or ChatConfig())
            case ContentReceived():
                self._is_at_least(_of_content(message))
            case Unknown():
                pass
            case _ if isinstance(message, _OLD_NOTICES):
                self._is_at_least(Generation.BEHAVIORS)
            case _:
                self._is_at_least(Generation.AGENTS)

    def answered(self, result: PromptResult) -> None:
        """Take the answer to a prompt, which named no model in the first draft."""
        if result.model is not None or result.status is PromptStatus.LOGIN:
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

    def may_be(self, generation: Generation) -> bool:
        """Return whether the server may be of a generation or of a later one."""
        return self.generation in (Generation.UNKNOWN, max(self.generation, generation))

    @property
    def wants_repo_map(self) -> bool:
        """Whether prompts ask for a map of the project; later servers have a tool for that."""
        return self._repo_map and self.generation is Generation.BEHAVIORS

    def first_told(self, lack: Lack) -> bool:
        """Note that a lack is told; say whether it is for the first time."""
        first = lack not in self._told
        self._told.add(lack)
        return first

    def _configured(self, config: ChatConfig) -> None:
        if config.of_behaviors:
            self.speaks_of_behaviors = True
        elif config.agents is not UNSET or config.select_agent is not UNSET:
            self.speaks_of_behaviors = False
            self._is_at_least(Generation.AGENTS)
        self._is_at_least(Generation.BEHAVIORS)

    def _is_at_least(self, generation: Generation) -> None:
        self.generation = max(self.generation, generation)


def _of_content(received: ContentReceived) -> Generation:
    if received.parent_chat_id is not None:
        return Generation.AGENTS
    match received.content:
        case FileChangeContent():
            return Generation.DRAFT
        case TextContent():
            is_piece = received.is_complete is not None
            return Generation.DRAFT if is_piece else Generation.UNKNOWN
        case ToolCall(server=str()) | MetadataContent():
            return Generation.SERVERS
        case _:
            return Generation.BEHAVIORS
