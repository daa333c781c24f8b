"""Joined text: pieces of one text that arrived together become one event.

Rules kept here:
- Only neighbours are joined, of the same chat, the same speaker and the same message or thought:
  what a chat shows is the same as without.
- What the user or the system says is never joined: each is a message of its own.
- It is on the path of every token: a server that is faster than the view pays for each piece here,
  and for each read further on.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from itertools import groupby

from msgspec.structs import replace

from eca_nvim.chat.vocabulary.events import Addressed, AgentEvent, ReasoningText, Role, TextReceived


def join_text(events: Iterable[AgentEvent]) -> Iterator[AgentEvent]:
    """Put neighbouring pieces of text together; all other events stay as they are, in order."""
    for text, run in groupby(events, _text_of):
        if text is None:
            yield from run
        else:
            yield _joined(list(run))


def _text_of(event: AgentEvent) -> Hashable:
    """Name the text that an event is a piece of; None when it is none."""
    if type(event) is not Addressed:
        return None
    said = event.event
    if type(said) is TextReceived and said.role is Role.ASSISTANT:
        return (TextReceived, event.chat_id, event.parent_id, said.content_id)
    if type(said) is ReasoningText:
        return (ReasoningText, event.chat_id, event.parent_id, said.id)
    return None


def _joined(pieces: list[AgentEvent]) -> AgentEvent:
    first = pieces[0]
    if len(pieces) == 1 or not isinstance(first, Addressed):
        return first
    text = "".join(_piece(event).text for event in pieces)
    return replace(first, event=replace(_piece(first), text=text))


def _piece(event: AgentEvent) -> TextReceived | ReasoningText:
    said = event.event if isinstance(event, Addressed) else event
    assert isinstance(said, TextReceived | ReasoningText)
    return said
