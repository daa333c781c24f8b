"""Dialect: which generation of the protocol a server speaks, and what older ones lack.

No server states its generation: each of its messages proves a minimum, so it never goes down.
"""

from collections.abc import Callable, Mapping
from enum import Enum, IntEnum
from typing import Final

from msgspec import UNSET

from eca_nvim.chat.vocabulary.options import ALL_ABILITIES, Ability
from eca_nvim.protocol.eca import (
    Unknown,
    chat,
    chats,
    content,
    contexts,
    draft,
    lifecycle,
    tool_call,
    tools,
)


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
    """A feature that a server may lack: the message to the user, and the first with the feature."""

    STOP = ("this server cannot stop a turn: it runs to its end", Generation.BEHAVIORS)
    REMEMBER = ("this server cannot allow always: it will ask again", Generation.SERVERS)
    AGENT = ("this server has no agents to choose from", Generation.BEHAVIORS)
    FOLDERS = (
        "this server does not accept folders with a prompt: they are not sent",
        Generation.BEHAVIORS,
    )
    RESOURCES = (
        "this server accepts only resources that it lists: choose them after an @",
        Generation.AGENTS,
    )
    TEXTS = (
        "this server accepts only files with a prompt: text that is in no file is not sent",
        Generation.AGENTS,
    )

    def __init__(self, message: str, since: Generation) -> None:
        self.message = message
        self.since = since


_KNOWN_SINCE: Final[Mapping[str, Generation]] = {
    chats.ChatDeleteParams.method: Generation.BEHAVIORS,
    contexts.QueryContextParams.method: Generation.BEHAVIORS,
    contexts.QueryCommandsParams.method: Generation.BEHAVIORS,
    tools.McpStart.method: Generation.DRAFT,
    tools.McpStop.method: Generation.DRAFT,
}
"""Requests that servers before today's know; they are sent no others."""
_ABLE_SINCE: Final[Mapping[Ability, Generation]] = {
    Ability.DELETE: Generation.DRAFT,
    Ability.CLEAR: Generation.DRAFT,
    Ability.LOGIN: Generation.BEHAVIORS,
}
"""Abilities that servers before today's have."""
_ABILITIES: Final[Mapping[str, Ability]] = {
    chats.ChatListParams.method: Ability.LIST,
    chats.ChatUpdateParams.method: Ability.RENAME,
    chats.ChatClearParams.method: Ability.CLEAR,
    chats.ChatDeleteParams.method: Ability.DELETE,
    chats.ChatRollbackParams.method: Ability.ROLLBACK,
    chats.ChatForkParams.method: Ability.FORK,
    chats.ChatAddFlagParams.method: Ability.FLAGS,
}
"""What is not offered any more once a server did not know a method."""


class Dialect:
    """What one server process has shown of its generation; `changed` is called when it grows."""

    def __init__(
        self, *, repo_map: bool = True, changed: Callable[[], None] = lambda: None
    ) -> None:
        self._repo_map = repo_map
        self._changed = changed
        self._absent: set[str] = set()  # requests that the server has answered with -32601
        self.generation = Generation.UNKNOWN
        self.is_today = False
        """Whether the server is known to speak today's protocol."""
        self.speaks_of_behaviors = False
        """Whether the server calls agents by their older name."""

    # --- what the rest asks: it knows no generation ----------------------------------------------

    @property
    def abilities(self) -> frozenset[Ability]:
        """What the server can do. Without proof it is not steered: that text would be lost."""
        if self.generation is Generation.UNKNOWN:
            return ALL_ABILITIES - {Ability.STEER}
        if self.is_today:
            return ALL_ABILITIES - {_ABILITIES.get(method) for method in self._absent}
        return frozenset(it for it, since in _ABLE_SINCE.items() if self.generation >= since)

    @property
    def has_trust(self) -> bool:
        """Whether the server can run the calls of a chat without asking."""
        return self.is_today

    @property
    def agents_bring_models(self) -> bool:
        """Whether an agent can have a model of its own."""
        return not self.speaks_of_behaviors

    @property
    def takes_further_folders(self) -> bool:
        """Whether the server accepts that the workspace changes."""
        return self.is_today

    @property
    def can_clear(self) -> bool:
        """Whether the server can empty a chat and keep it."""
        return self.is_today

    @property
    def saves_chats(self) -> bool:
        """Whether the server keeps chats, so that they can be deleted."""
        return self.generation > Generation.DRAFT

    def may_know(self, method: str) -> bool:
        """Return whether the server may know a request."""
        since = _KNOWN_SINCE.get(method, Generation.AGENTS)
        is_too_old = Generation.UNKNOWN < self.generation < since
        return method not in self._absent and not is_too_old

    def note_absent(self, method: str) -> None:
        """Note that the server does not know a request."""
        self._absent.add(method)
        self._changed()

    # --- what the translator reads and asks ------------------------------------------------------

    def read_introduction(self, result: lifecycle.InitializeResult) -> None:
        """Learn from the response to initialize."""
        if result.agents is not None:
            self.speaks_of_behaviors = True
        if result.agents is not None or result.models is not None:
            self._is_at_least(Generation.BEHAVIORS)
        elif result.welcome_message is not None:
            self._is_at_least(Generation.AGENTS)

    def read(self, message: object) -> None:
        """Learn from a notification."""
        match message:
            case chat.ConfigUpdated(chat=config):
                self._read_config(config or chat.ChatConfig())
            case content.ContentReceived():
                if (generation := _of_content(message)) > self.generation:
                    self._is_at_least(generation)
            case Unknown():
                pass
            case (
                tools.ToolServerUpdated() | lifecycle.ShowMessage()
            ):  # older servers sent these, too
                self._is_at_least(Generation.BEHAVIORS)
            case _:
                self._is_at_least(Generation.AGENTS)

    def _read_config(self, config: chat.ChatConfig) -> None:
        self._is_at_least(Generation.BEHAVIORS)
        if config.of_behaviors:
            self.speaks_of_behaviors = True
        elif config.agents is not UNSET or config.select_agent is not UNSET:
            self.speaks_of_behaviors = False
            self._is_at_least(Generation.AGENTS)

    def read_answer(self, result: chat.PromptResult) -> None:
        """Learn from the response to a prompt, which has no model in the first draft."""
        if result.model is not None or result.status is chat.PromptStatus.LOGIN:
            self._is_at_least(Generation.BEHAVIORS)
        elif result.result_message is not None:
            self._is_at_least(Generation.DRAFT)

    def lacks(self, lack: Lack) -> bool:
        """Return whether the server is known to lack something."""
        if lack is Lack.TEXTS and self.generation <= Generation.DRAFT:
            return False  # the draft had a context for code
        if self.generation is Generation.UNKNOWN:
            return lack.since is Generation.AGENTS
        return self.generation < lack.since

    @property
    def wants_repo_map(self) -> bool:
        """Whether prompts ask for a map of the project; later servers have a tool for that."""
        return self._repo_map and self.generation is Generation.BEHAVIORS

    def _is_at_least(self, generation: Generation) -> None:
        if generation > self.generation:
            self.generation = generation
            self.is_today = generation is Generation.AGENTS
            self._changed()


def _of_content(received: content.ContentReceived) -> Generation:
    if received.parent_chat_id is not None:
        return Generation.AGENTS
    match received.content:
        case _ if received.is_complete is not None:  # a piece of an answer, whatever its kind
            return Generation.DRAFT
        case draft.FileChangeContent():
            return Generation.DRAFT
        case content.TextContent() | content.UnknownContent():
            return Generation.UNKNOWN
        case tool_call.ToolCall(server=str()) | content.MetadataContent():
            return Generation.SERVERS
        case _:
            return Generation.BEHAVIORS
