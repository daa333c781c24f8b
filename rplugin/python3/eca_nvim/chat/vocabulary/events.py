"""Events: everything an agent can report to a chat, in no particular protocol.

Text is exactly what the agent sent, ids are its own, and a value that it omits is None. Durations
are milliseconds, paths absolute, lines 1-based.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TypeAlias

from msgspec import Struct

from eca_nvim.chat.vocabulary import bases, call_details, requests

ChatEvent: TypeAlias = bases.ChatEvent


class Role(StrEnum):
    """The author of a text."""

    USER = "user"
    ASSISTANT = "assistant"
    SYSTEM = "system"


class TextReceived(ChatEvent, frozen=True):
    """Text of any role; assistant text arrives in chunks (ECA: text)."""

    role: Role
    text: str
    content_id: str | None = None


class SteerTaken(ChatEvent, frozen=True):
    """The agent has taken a message to the running turn (ACP: _session/steering)."""

    text: str


class ReasoningStarted(ChatEvent, frozen=True):
    """The model began to reason (ECA: reasonStarted)."""

    id: str


class ReasoningText(ChatEvent, frozen=True):
    """A chunk of reasoning (ECA: reasonText)."""

    id: str
    text: str


class ReasoningFinished(ChatEvent, frozen=True):
    """The reasoning ended; may arrive after the first answer text (ECA: reasonFinished)."""

    id: str
    total_ms: int | None = None


class ToolPreparing(ChatEvent, frozen=True):
    """The model is writing a call; `arguments_text` is the next chunk (ECA: toolCallPrepare)."""

    call: call_details.ToolCall
    arguments_text: str = ""
    so_far: call_details.KnownSoFar | None = None


class ToolRequested(ChatEvent, frozen=True):
    """A call is complete and will run, or waits for the user (ECA: toolCallRun).

    choices: the answers, if it waits. request_id: of the agent's request for approval, if that has
    an id (ACP: session/request_permission). Another id asks again, even about a call that began.
    """

    call: call_details.ToolCall
    needs_approval: bool = False
    choices: tuple[requests.Choice, ...] = (requests.ALLOW, requests.REJECT)
    request_id: str | None = None


class ToolRunning(ChatEvent, frozen=True):
    """A call runs; repeats with each step of a subagent (ECA: toolCallRunning).

    is_approved: the agent runs it because somebody approved it. Without that, a call that waits for
    the user goes on waiting.
    """

    call: call_details.ToolCall
    is_approved: bool = False


class ToolOutput(ChatEvent, frozen=True):
    """Output of a call that runs: raw text in pieces, which may be cut anywhere.

    replaces: the text replaces all output so far. awaits_input: nothing more comes without input
    from the user, until the next event says otherwise.
    """

    call_id: str
    text: str
    replaces: bool = False
    awaits_input: bool = False


class ToolFinished(ChatEvent, frozen=True):
    """A call ended (ECA: toolCalled).

    outputs: its whole output; if there is none, the end of what it printed stays (`ToolOutput`).
    dialogue: the question it asked and the user's answer, if the call is replayed.
    """

    call: call_details.ToolCall
    outputs: tuple[str, ...] = ()
    failed: bool = False
    total_ms: int | None = None
    dialogue: Dialogue | None = None


class InsteadWanted(ChatEvent, frozen=True):
    """The agent asks, with this text, what to do instead of the rejected call."""

    text: str


BY_CONFIG = "user-config"
"""The reason of a rejection by the agent's configuration, not by the user."""
CUT = "cut"
"""The reason of a rejection of a call that we have ended with its turn."""


class ApprovalWithdrawn(ChatEvent, frozen=True):
    """The agent no longer asks whether a call may run (ACP: $/cancel_request)."""

    call: call_details.ToolCall


class ToolRejected(ChatEvent, frozen=True):
    """A call will not run, or was stopped while it ran (ECA: toolCallRejected)."""

    call: call_details.ToolCall
    reason: str | None = None


class PlanChanged(ChatEvent, frozen=True):
    """The agent's whole task list, sent without a call; replaces the previous one (ACP: plan)."""

    tasks: call_details.TaskList


class FlagReceived(ChatEvent, frozen=True):
    """A bookmark in the history (ECA: flag)."""

    text: str
    content_id: str


class TitleChanged(ChatEvent, frozen=True):
    """The chat has a title (ECA: metadata)."""

    title: str


class ProgressChanged(ChatEvent, frozen=True):
    """What the agent says it is doing now, for display only (ECA: progress, running).

    is_retry: the agent is about to try again after a failure.
    """

    text: str
    is_retry: bool = False


class QuestionAsked(ChatEvent, frozen=True):
    """A question to the user (ECA: chat/askQuestion, ACP: elicitation/create, requests both).

    by_agent: False if this client asks. of_turn: it ends with the turn of its chat. form: the
    fields to ask one after the other; None for a question with one answer. link: the web address
    that the agent wants the user to open. secret: an answer in the user's own words is shown
    nowhere. in_login: the answer goes to the login that the turn is.
    """

    id: str
    question: str
    options: tuple[tuple[str, str], ...] = ()  # label, description
    allow_freeform: bool = True
    tool_call_id: str | None = None
    by_agent: bool = True
    of_turn: bool = True
    form: tuple[requests.FormField, ...] | None = None
    link: str | None = None
    secret: bool = False
    in_login: bool = False


class QuestionClosed(ChatEvent, frozen=True):
    """The agent waits for no answer any more (ACP: elicitation/complete, $/cancel_request).

    is_done: what the question's link was for has been done.
    """

    id: str
    is_done: bool = False


class Dialogue(Struct, frozen=True):
    """A closed question; `answer` is None if it was dismissed."""

    question: QuestionAsked
    answer: str | None = None


class ChatOpened(ChatEvent, frozen=True):
    """The agent has the chat (ECA: chat/opened); may repeat."""

    title: str | None = None


class ChatCleared(ChatEvent, frozen=True):
    """The chat's messages, or its usage, were cleared (ECA: chat/cleared).

    moves: a blank chat goes to another agent; what an earlier host has drawn of it stays.
    """

    messages: bool = True
    usage: bool = False
    moves: bool = False


class ChatDeleted(ChatEvent, frozen=True):
    """The agent no longer has the chat (ECA: chat/deleted)."""


class UnknownReceived(ChatEvent, frozen=True):
    """Content of a kind this client does not know; shown as text."""

    kind: str
    text: str


class NoticeReceived(ChatEvent, frozen=True):
    """A notice from this client or the agent, shown as a system message; below a title folded."""

    text: str
    is_error: bool = False
    title: str = ""


class AgentGone(ChatEvent, frozen=True):
    """The agent's process ended, and with it every running turn."""

    reason: str
    stderr_tail: tuple[str, ...] = ()


class Addressed(bases.AgentEvent, frozen=True):
    """An event and its chat; `parent_id` is set if that chat is a subagent's.

    `chat_id` is None if the agent named no chat; the session then picks one.
    """

    chat_id: str | None
    event: ChatEvent
    parent_id: str | None = None
