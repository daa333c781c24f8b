"""What streams into a chat: chat/contentReceived and its kinds of content.

Rule: this is the hot path, so its usual shapes fit as they come; `decode.py` mends the rest.
"""

from typing import ClassVar, TypeAlias

from eca_nvim.protocol.eca.base import Notification, OpenEnum, UnknownPart, Wire
from eca_nvim.protocol.eca.draft import CodeBlock, FileChangeContent, Generated
from eca_nvim.protocol.eca.hooks import HookFinished, HookStarted
from eca_nvim.protocol.eca.reasoning import ReasonFinished, ReasonStarted, ReasonText
from eca_nvim.protocol.eca.tool_call import (
    ToolCalled,
    ToolCallPrepare,
    ToolCallRejected,
    ToolCallRun,
    ToolCallRunning,
)
from eca_nvim.protocol.eca.usage import UsageContent

__all__ = [
    "Content",
    "ContentReceived",
    "FileChangeContent",
    "FlagContent",
    "HookFinished",
    "HookStarted",
    "ImageContent",
    "MetadataContent",
    "ProgressContent",
    "ProgressState",
    "ReasonFinished",
    "ReasonStarted",
    "ReasonText",
    "Role",
    "TextContent",
    "ToolCallPrepare",
    "ToolCallRejected",
    "ToolCallRun",
    "ToolCallRunning",
    "ToolCalled",
    "UnknownContent",
    "UrlContent",
    "UsageContent",
]


class Role(OpenEnum):
    """Who speaks."""

    USER = "user"
    ASSISTANT = "assistant"
    SYSTEM = "system"
    UNKNOWN = "unknown"


class ProgressState(OpenEnum):
    """Whether the turn goes on."""

    RUNNING = "running"
    FINISHED = "finished"
    UNKNOWN = "unknown"


class TextContent(Wire, frozen=True, kw_only=True, tag_field="type", tag="text"):
    """A piece of text, cut anywhere; a user's message has a `content_id` to roll back to.

    `code_blocks` are the first draft's.
    """

    text: str = ""
    content_id: str | None = None
    code_blocks: tuple[CodeBlock, ...] = ()


class UrlContent(Wire, frozen=True, kw_only=True, tag_field="type", tag="url"):
    """A link."""

    title: str | None = None
    url: str = ""


class ImageContent(Wire, frozen=True, kw_only=True, tag_field="type", tag="image"):
    """A whole image, base64 without a `data:` prefix."""

    media_type: str | None = None
    base64: str = ""


class ProgressContent(Wire, frozen=True, kw_only=True, tag_field="type", tag="progress"):
    """What the server is at, in words; the words say nothing about waiting approvals."""

    state: ProgressState = ProgressState.UNKNOWN
    text: str | None = None


class MetadataContent(Wire, frozen=True, kw_only=True, tag_field="type", tag="metadata"):
    """The chat's title changed."""

    title: str | None = None


class FlagContent(Wire, frozen=True, kw_only=True, tag_field="type", tag="flag"):
    """A bookmark in the history."""

    text: str = ""
    content_id: str


class UnknownContent(UnknownPart, frozen=True, tag_field="type", tag=""):
    """A kind of content this client does not know."""


Content: TypeAlias = (
    TextContent
    | UrlContent
    | ImageContent
    | ProgressContent
    | UsageContent
    | ReasonStarted
    | ReasonText
    | ReasonFinished
    | HookStarted
    | HookFinished
    | ToolCallPrepare
    | ToolCallRun
    | ToolCallRunning
    | ToolCalled
    | ToolCallRejected
    | MetadataContent
    | FlagContent
    | FileChangeContent
    | UnknownContent
)


class ContentReceived(Notification, frozen=True, kw_only=True):
    """A piece of a chat. `parent_chat_id` is set for a subagent's.

    `chat_id` is None for what belongs to no chat, such as complaints about the config.
    `is_complete` was the end of the answer in the protocol's first draft, None since, and
    `metadata` told what it used.
    """

    method: ClassVar[str] = "chat/contentReceived"

    chat_id: str | None = None
    parent_chat_id: str | None = None
    role: Role = Role.ASSISTANT
    content: Content
    is_complete: bool | None = None
    metadata: Generated | None = None
