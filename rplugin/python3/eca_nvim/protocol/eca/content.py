"""Content: chat/contentReceived and its kinds of content.

Rule: this is the hot path, so the usual forms are decoded directly; `decode.py` handles the rest.
"""

from typing import ClassVar, TypeAlias

from eca_nvim.protocol.base.types import Notification, OpenEnum, UnknownPart, Wire
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
    """The author of a content."""

    USER = "user"
    ASSISTANT = "assistant"
    SYSTEM = "system"
    UNKNOWN = "unknown"


class ProgressState(OpenEnum):
    """Whether the turn is running."""

    RUNNING = "running"
    FINISHED = "finished"
    UNKNOWN = "unknown"


class TextContent(Wire, frozen=True, kw_only=True, tag_field="type", tag="text"):
    """A piece of text, cut anywhere; a user message has a `content_id` for rollbacks.

    `code_blocks` are from the first draft.
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
    """What the server is doing, in words; they do not mention waiting approvals."""

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
    """A piece of a chat. `parent_chat_id` is set for a subagent.

    `chat_id` is None for content of no chat, such as errors in the config. Only in the protocol's
    first draft, `is_complete` marks the end of an answer and `metadata` has its tokens.
    """

    method: ClassVar[str] = "chat/contentReceived"

    chat_id: str | None = None
    parent_chat_id: str | None = None
    role: Role = Role.ASSISTANT
    content: Content
    is_complete: bool | None = None
    metadata: Generated | None = None
