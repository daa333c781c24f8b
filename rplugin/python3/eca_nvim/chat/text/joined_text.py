"""Joined text: merges pieces of one text that arrived together into one event.

Every token passes through here; joining saves the work per event further on.
"""

from collections.abc import Iterable, Iterator
from itertools import groupby

from msgspec.structs import replace

from eca_nvim.chat.vocabulary.agent_events import AgentEvent
from eca_nvim.chat.vocabulary.events import (
    Addressed,
    ChatEvent,
    ReasoningText,
    Role,
    TextReceived,
    ToolOutput,
    ToolPreparing,
)

_TEXTS = (TextReceived, ReasoningText, ToolOutput)
LONG = 1 << 16
"""Characters of a piece of an answer that is not copied: that would cost more than an event."""


def join_text(events: Iterable[AgentEvent]) -> Iterator[AgentEvent]:
    """Join neighbouring pieces of text; all other events pass unchanged, in order."""
    for text, run in groupby(events, _text_of):
        if text is None:
            yield from run
        else:
            yield _joined(list(run))


def _text_of(event: AgentEvent) -> object:
    """Return a key of the text that an event continues; None if it has no such text."""
    if type(event) is not Addressed:
        return None
    # Text of the user or the system is never joined: each event is a message of its own.
    piece = event.event
    if type(piece) is TextReceived and piece.role is Role.ASSISTANT and len(piece.text) < LONG:
        return (TextReceived, event.chat_id, event.parent_id, piece.content_id)
    if type(piece) is ReasoningText:
        return (ReasoningText, event.chat_id, event.parent_id, piece.id)
    if type(piece) is ToolPreparing:
        return (ToolPreparing, event.chat_id, event.parent_id, piece.call)
    if type(piece) is ToolOutput and not (piece.replaces or piece.awaits_input):
        return (ToolOutput, event.chat_id, event.parent_id, piece.call_id)
    return None


def _joined(pieces: list[AgentEvent]) -> AgentEvent:
    first = pieces[0]
    if len(pieces) == 1 or not isinstance(first, Addressed):
        return first
    joined = _joined_events([it.event for it in pieces if isinstance(it, Addressed)])
    return Addressed(first.chat_id, joined, first.parent_id)


def _joined_events(pieces: list[ChatEvent]) -> ChatEvent:
    last = pieces[-1]
    if isinstance(last, ToolPreparing):
        written = "".join([it.arguments_text for it in pieces if isinstance(it, ToolPreparing)])
        return replace(last, arguments_text=written)
    text = "".join([it.text for it in pieces if isinstance(it, _TEXTS)])
    return replace(pieces[0], text=text)
