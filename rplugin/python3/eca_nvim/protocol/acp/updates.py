"""Updates: session/update and its variants.

Rule: this is the hot path, so the usual forms are decoded directly; `base/codec.py` has the rest.
"""

from typing import TypeAlias

import msgspec

from eca_nvim.protocol.acp.content import ContentBlock, PlanEntry
from eca_nvim.protocol.acp.options import ConfigOption
from eca_nvim.protocol.acp.tool_call import ToolCallUpdate
from eca_nvim.protocol.base.types import Int, Notification, OpenEnum, UnknownPart, Wire


class Chunk(Wire, frozen=True, kw_only=True):
    """A piece of a message; another `message_id` begins another message."""

    content: ContentBlock
    message_id: str | None = None


class GooseMessage(Wire, frozen=True):
    """What goose says of a message, in place of the protocol's id."""

    message_id: str | None = None


class MessageMeta(Wire, frozen=True):
    """What `_meta` says about a message; nothing else of it is read."""

    goose: GooseMessage | None = None


class UserMessageChunk(Chunk, frozen=True, tag_field="sessionUpdate", tag="user_message_chunk"):
    """A piece of what the user said: replayed, or an echo of the prompt."""

    meta: MessageMeta | None = msgspec.field(default=None, name="_meta")

    @property
    def said_in(self) -> str | None:
        """The id of its message."""
        goose = self.meta.goose if self.meta is not None else None
        return self.message_id or (goose.message_id if goose is not None else None)


class AgentMessageChunk(Chunk, frozen=True, tag_field="sessionUpdate", tag="agent_message_chunk"):
    """A piece of the agent's answer."""


class AgentThoughtChunk(Chunk, frozen=True, tag_field="sessionUpdate", tag="agent_thought_chunk"):
    """A piece of the model's reasoning."""


class ToolCallBegun(ToolCallUpdate, frozen=True, tag_field="sessionUpdate", tag="tool_call"):
    """A call; some agents send it again instead of an update."""


class ToolCallChanged(
    ToolCallUpdate, frozen=True, tag_field="sessionUpdate", tag="tool_call_update"
):
    """What is new about a call, which may never have been announced."""


class Plan(Wire, frozen=True, tag_field="sessionUpdate", tag="plan"):
    """The whole list of tasks."""

    entries: tuple[PlanEntry, ...] = ()


class CommandInput(Wire, frozen=True):
    """The argument of a command, described by `hint`."""

    hint: str | None = None


class AvailableCommand(Wire, frozen=True):
    """What a prompt may begin with, as `/name`."""

    name: str
    description: str | None = None
    input: CommandInput | None = None


class AvailableCommands(
    Wire, frozen=True, tag_field="sessionUpdate", tag="available_commands_update"
):
    """All commands of the session."""

    available_commands: tuple[AvailableCommand, ...] = ()


class CurrentMode(Wire, frozen=True, tag_field="sessionUpdate", tag="current_mode_update"):
    """The mode has changed."""

    current_mode_id: str


class ConfigOptions(Wire, frozen=True, tag_field="sessionUpdate", tag="config_option_update"):
    """All options of the session, with their values."""

    config_options: tuple[ConfigOption, ...] = ()


class SessionInfo(Wire, frozen=True, tag_field="sessionUpdate", tag="session_info_update"):
    """What the session is called; no title: unchanged."""

    title: str | None = None


class Cost(Wire, frozen=True):
    """What the session has cost so far, in a unit such as USD."""

    amount: float
    currency: str = "USD"


class Usage(Wire, frozen=True, tag_field="sessionUpdate", tag="usage_update"):
    """Tokens in the context window, and its size."""

    used: Int | None = None
    size: Int | None = None
    cost: Cost | None = None


class Notice(Wire, frozen=True, tag_field="sessionUpdate", tag="notice"):
    """A message for the user; `severity` is info, warning, error or another word."""

    title: str
    description: str | None = None
    severity: str = "info"


class CompactionStatus(OpenEnum):
    """How far a compaction is."""

    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"
    UNKNOWN = "unknown"


class Compaction(Wire, frozen=True, tag_field="sessionUpdate", tag="compaction_update"):
    """The agent replaces what was said by a summary; `summary` is all of it so far."""

    compaction_id: str
    status: CompactionStatus = CompactionStatus.UNKNOWN
    summary: tuple[ContentBlock, ...] | None = None
    error: str | None = None


class CompactionChunk(Wire, frozen=True, tag_field="sessionUpdate", tag="compaction_summary_chunk"):
    """The next piece of such a summary."""

    compaction_id: str
    content: ContentBlock


class UnknownUpdate(UnknownPart, frozen=True, tag_field="sessionUpdate", tag=""):
    """An update of an unknown variant."""


SessionUpdate: TypeAlias = (
    UserMessageChunk
    | AgentMessageChunk
    | AgentThoughtChunk
    | ToolCallBegun
    | ToolCallChanged
    | Plan
    | AvailableCommands
    | CurrentMode
    | ConfigOptions
    | SessionInfo
    | Usage
    | Notice
    | Compaction
    | CompactionChunk
    | UnknownUpdate
)


class SessionUpdated(Notification, frozen=True):
    """Something happened in a session."""

    method = "session/update"
    session_id: str
    update: SessionUpdate
