"""Content: chat/contentReceived and its kinds: texts, reasoning, hooks, usage; questions."""

from typing import TypeAlias

from eca_nvim.protocol.base.types import Int, Notification, OpenEnum, Request, UnknownPart, Wire
from eca_nvim.protocol.eca import draft, tool_call


class ReasonStarted(Wire, frozen=True, kw_only=True, tag_field="type", tag="reasonStarted"):
    """The model has begun to reason."""

    id: str


class ReasonText(Wire, frozen=True, kw_only=True, tag_field="type", tag="reasonText"):
    """A piece of reasoning, cut anywhere."""

    id: str
    text: str = ""


class ReasonFinished(Wire, frozen=True, kw_only=True, tag_field="type", tag="reasonFinished"):
    """The reasoning ended; may arrive after the answer has begun. Time in milliseconds."""

    id: str
    total_time_ms: Int | None = None


class HookStarted(Wire, frozen=True, kw_only=True, tag_field="type", tag="hookActionStarted"):
    """A hook has begun; `action_type` is shell."""

    id: str
    name: str | None = None
    action_type: str | None = None


class HookFinished(Wire, frozen=True, kw_only=True, tag_field="type", tag="hookActionFinished"):
    """A hook ended; `status` is its exit code, `tool_call_id` the call it acted on."""

    id: str
    name: str | None = None
    action_type: str | None = None
    status: Int | None = None
    output: str | None = None
    error: str | None = None
    tool_call_id: str | None = None


class UsageLimit(Wire, frozen=True, kw_only=True):
    """The model's limits, in tokens of input (`context`) and output."""

    context: Int | None = None
    output: Int | None = None


class ContextCategory(Wire, frozen=True, kw_only=True):
    """A part of the context window; `color` is hexadecimal ("#61afef")."""

    name: str = ""
    tokens: Int = 0
    color: str | None = None
    emoji: str | None = None


class ContextBreakdown(Wire, frozen=True, kw_only=True):
    """Estimated contents of the context window, in tokens; unknown values are None."""

    categories: tuple[ContextCategory, ...] = ()
    used_tokens: Int = 0
    free_tokens: Int | None = None
    context_limit: Int | None = None
    free_color: str | None = None
    free_emoji: str | None = None


class UsageContent(Wire, frozen=True, kw_only=True, tag_field="type", tag="usage"):
    """The usage of the whole chat so far, sent after each request to the model.

    Costs are decimal numbers in dollars, as text. Costs, limit and breakdown are None for a model
    whose price and size the server does not know.
    """

    session_tokens: Int = 0
    last_message_cost: str | None = None
    session_cost: str | None = None
    limit: UsageLimit | None = None
    auto_compact_percentage: Int | None = None
    context_breakdown: ContextBreakdown | None = None


class QuestionOption(Wire, frozen=True, kw_only=True):
    """An answer to choose; its label is sent back."""

    label: str
    description: str | None = None


class AnswerResult(Wire, frozen=True, kw_only=True):
    """The user's answer: an option's label or free text; None if cancelled."""

    answer: str | None
    cancelled: bool


class AskQuestion(Request[AnswerResult], frozen=True, kw_only=True):
    """A tool or a login asks the user a question.

    `tool_call_id` is the call that asks; `request_id` is the server's own id (not documented).
    """

    method = "chat/askQuestion"
    chat_id: str | None = None
    question: str = ""
    options: tuple[QuestionOption, ...] | None = None
    allow_freeform: bool = True
    tool_call_id: str | None = None
    request_id: str | None = None


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
    code_blocks: tuple[draft.CodeBlock, ...] = ()


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
    | tool_call.ToolCallPrepare
    | tool_call.ToolCallRun
    | tool_call.ToolCallRunning
    | tool_call.ToolCalled
    | tool_call.ToolCallRejected
    | MetadataContent
    | FlagContent
    | draft.FileChangeContent
    | UnknownContent
)


class ContentReceived(Notification, frozen=True, kw_only=True):
    """A piece of a chat. `parent_chat_id` is set for a subagent.

    `chat_id` is None for content of no chat, such as errors in the config. Only in the protocol's
    first draft, `is_complete` marks the end of an answer and `metadata` has its tokens.
    """

    method = "chat/contentReceived"
    chat_id: str | None = None
    parent_chat_id: str | None = None
    role: Role = Role.ASSISTANT
    content: Content
    is_complete: bool | None = None
    metadata: draft.Generated | None = None
