"""Events: everything an agent can tell a chat, in words of no particular protocol.

Rules kept here:
- Every event is frozen and belongs to one chat, except the few that concern the whole agent.
- Text is exactly what the agent sent; cleaning it for display is the renderer's work.
- What an agent left out is None. Ids are the agent's own, opaque strings.
- Durations are milliseconds, paths are absolute file system paths, lines are 1-based.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TypeAlias

from msgspec import Struct

from eca_nvim.chat.vocabulary.call_details import ToolCall


class Role(StrEnum):
    """Who a text is from."""

    USER = "user"
    ASSISTANT = "assistant"
    SYSTEM = "system"


class AgentTurn(StrEnum):
    """What the agent says its turn is doing (ECA: chat/statusChanged, progress)."""

    RUNNING = "running"
    STOPPING = "stopping"
    IDLE = "idle"
    FINISHED = "finished"
    LOGIN = "login"


# --- events of one chat -------------------------------------------------------------------------


class TextReceived(Struct, frozen=True):
    """Text of any role; assistant text is a chunk of a stream (ECA: text)."""

    role: Role
    text: str
    content_id: str | None = None


class ReasoningStarted(Struct, frozen=True):
    """The model began to think (ECA: reasonStarted)."""

    id: str


class ReasoningText(Struct, frozen=True):
    """A chunk of thought (ECA: reasonText)."""

    id: str
    text: str


class ReasoningFinished(Struct, frozen=True):
    """The thought is over; it may come after the first answer text (ECA: reasonFinished)."""

    id: str
    total_ms: int | None = None


class ToolPreparing(Struct, frozen=True):
    """The model is writing a call; `arguments_text` appends (ECA: toolCallPrepare)."""

    call: ToolCall
    arguments_text: str = ""


class ToolRequested(Struct, frozen=True):
    """A call is complete and will run, or waits for the user (ECA: toolCallRun)."""

    call: ToolCall
    needs_approval: bool = False


class ToolRunning(Struct, frozen=True):
    """A call runs; repeats as a subagent steps (ECA: toolCallRunning)."""

    call: ToolCall


class ToolFinished(Struct, frozen=True):
    """A call ended (ECA: toolCalled).

    dialogue: what it asked the user and what he said, as a call tells it that is heard of later.
    """

    call: ToolCall
    outputs: tuple[str, ...] = ()
    failed: bool = False
    total_ms: int | None = None
    dialogue: Dialogue | None = None


class InsteadWanted(Struct, frozen=True):
    """The agent asks, in these words, what to do instead of what was rejected."""

    text: str


BY_CONFIG = "user-config"
"""The reason of a rejection that is not the user's, but that of the agent's configuration."""


class ToolRejected(Struct, frozen=True):
    """A call will not run, or was stopped while it ran (ECA: toolCallRejected)."""

    call: ToolCall
    reason: str | None = None


class HookStarted(Struct, frozen=True):
    """A hook of the agent began (ECA: hookActionStarted)."""

    id: str
    name: str


class HookFinished(Struct, frozen=True):
    """A hook ended; `status` is its exit code (ECA: hookActionFinished)."""

    id: str
    name: str
    status: int | None = None
    output: str | None = None
    error: str | None = None
    tool_call_id: str | None = None


class LinkReceived(Struct, frozen=True):
    """A titled link (ECA: url)."""

    title: str
    url: str


class ImageReceived(Struct, frozen=True):
    """An image, base64 as it came (ECA: image)."""

    media_type: str
    base64: str


class FlagReceived(Struct, frozen=True):
    """A bookmark in the history (ECA: flag)."""

    text: str
    content_id: str


class TitleChanged(Struct, frozen=True):
    """The chat has a title (ECA: metadata)."""

    title: str


class ProgressChanged(Struct, frozen=True):
    """What the agent says it is doing now, for display only (ECA: progress, running).

    is_retry: something failed, and it is about to try again.
    """

    text: str
    is_retry: bool = False


class UsageCategory(Struct, frozen=True):
    """One part of the context window."""

    name: str
    tokens: int
    color: str | None = None


class UsageReported(Struct, frozen=True):
    """Tokens and cost so far (ECA: usage); costs are amounts in dollars, as text."""

    session_tokens: int | None = None
    context_limit: int | None = None
    output_limit: int | None = None
    last_message_cost: str | None = None
    session_cost: str | None = None
    auto_compact_percentage: int | None = None
    categories: tuple[UsageCategory, ...] = ()
    free_tokens: int | None = None
    free_color: str | None = None


class TurnChanged(Struct, frozen=True):
    """The agent's own word on its turn (ECA: chat/statusChanged; FINISHED: progress)."""

    turn: AgentTurn


class TurnLapsed(Struct, frozen=True):
    """The agent was asked about a silent turn (AskTurn), and does not say that it goes on.

    is_idle: it says that the chat is idle; else it says nothing of the chat.
    """

    number: int
    times_asked: int
    is_idle: bool


class PromptAnswered(Struct, frozen=True):
    """The agent took a prompt, or refused it (ECA: the answer to chat/prompt)."""

    accepted: bool
    model: str | None = None
    fault: str | None = None


class SelectionChanged(Struct, frozen=True):
    """Model, agent or variant of this chat changed; None leaves one as it was."""

    model: str | None = None
    agent: str | None = None
    variant: str | None = None


class TrustRefused(Struct, frozen=True):
    """The agent cannot let this chat work without asking. No event switches trust on."""


class QuestionAsked(Struct, frozen=True):
    """Somebody waits for an answer (ECA: chat/askQuestion, a request of the server).

    by_agent: else this client asks.
    """

    id: str
    question: str
    options: tuple[tuple[str, str], ...] = ()  # label, description
    allow_freeform: bool = True
    tool_call_id: str | None = None
    by_agent: bool = True


class Dialogue(Struct, frozen=True):
    """A question that is over; `answer` is None when it was dismissed."""

    question: QuestionAsked
    answer: str | None = None


class ChatOpened(Struct, frozen=True):
    """The agent has the chat (ECA: chat/opened); it may come again."""

    title: str | None = None


class ChatCleared(Struct, frozen=True):
    """The history of the chat is gone (ECA: chat/cleared); `usage`: its tokens and cost, too."""

    messages: bool = True
    usage: bool = False


class ChatDeleted(Struct, frozen=True):
    """The agent no longer has the chat (ECA: chat/deleted)."""


class UnknownReceived(Struct, frozen=True):
    """Content of a kind this client does not know; shown plainly."""

    kind: str
    text: str
    role: Role = Role.SYSTEM


class NoticeReceived(Struct, frozen=True):
    """A line from the client or the agent itself, shown as a system note."""

    text: str
    is_error: bool = False


class AgentGone(Struct, frozen=True):
    """The agent's process ended; every running turn of it is over."""

    reason: str
    stderr_tail: tuple[str, ...] = ()


ChatEvent: TypeAlias = (
    TextReceived
    | ReasoningStarted
    | ReasoningText
    | ReasoningFinished
    | InsteadWanted
    | ToolPreparing
    | ToolRequested
    | ToolRunning
    | ToolFinished
    | ToolRejected
    | HookStarted
    | HookFinished
    | LinkReceived
    | ImageReceived
    | FlagReceived
    | TitleChanged
    | ProgressChanged
    | UsageReported
    | TurnChanged
    | TurnLapsed
    | PromptAnswered
    | SelectionChanged
    | TrustRefused
    | QuestionAsked
    | ChatOpened
    | ChatCleared
    | ChatDeleted
    | UnknownReceived
    | NoticeReceived
    | AgentGone
)


class Addressed(Struct, frozen=True):
    """An event and the chat it is for; `parent_id` when that chat is a subagent's.

    `chat_id` is None where the agent named no chat; the session then picks one.
    """

    chat_id: str | None
    event: ChatEvent
    parent_id: str | None = None


# --- events of the agent as a whole -------------------------------------------------------------


class ChoicesChanged(Struct, frozen=True):
    """What the user may choose from, and the defaults; None leaves one as it was.

    `chat_id` scopes the selection to one chat (ECA: config/updated). `forced` names what every chat
    goes on with ("model", "agent"), whatever was chosen before. `wants_trust`: whether the
    agent's configuration wants its tools to run without asking the user. `bring_models`: whether
    what `agents` lists may come with models of their own.
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
    """Something the agent does in the background (ECA: $/progress)."""

    id: str
    title: str
    done: bool


class MessageShown(Struct, frozen=True):
    """A message for the user (ECA: $/showMessage); level is error, warn or info."""

    level: str
    text: str


class JobsChanged(Struct, frozen=True):
    """The commands that run in the background, all of them (ECA: jobs/updated)."""

    running: tuple[str, ...]


class ToolServerChanged(Struct, frozen=True):
    """A tool server (ECA: tool/serverUpdated, tool/serverRemoved); None is "as it was"."""

    name: str
    status: str | None = None
    kind: str | None = None
    tools: tuple[str, ...] | None = None
    removed: bool = False


AgentEvent: TypeAlias = (
    Addressed | ChoicesChanged | WorkChanged | MessageShown | ToolServerChanged | JobsChanged
)
