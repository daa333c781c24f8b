"""Replay: separates the events of a replayed chat from live events.

The server replays a chat with the same messages as live ones, and then responds to the request.
Rules kept here:
- While the replay of a chat is awaited, its events and those of its subagents are collected
  instead of emitted. Turns, usage and progress are never replayed: they are emitted at once.
- Replayed user messages contain what the server added for the model; this is cut off here. Those
  that it wrote itself are notes, not prompts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from eca_nvim.agents.eca.content.known_tools import main_argument
from eca_nvim.chat.vocabulary import agent_events, call_details, options, turn_events
from eca_nvim.chat.vocabulary.events import (
    Addressed,
    ChatOpened,
    NoticeReceived,
    ProgressChanged,
    QuestionAsked,
    Role,
    TextReceived,
    ToolFinished,
    ToolRejected,
)

_ALWAYS_LIVE: Final = (
    turn_events.TurnEvent,
    turn_events.UsageReported,
    ProgressChanged,
    QuestionAsked,
    options.OptionsChanged,
)

_UNTYPED: Final = re.compile(
    r"\s*(?:(?:I|A user hook) rejected one or more tool calls"
    r"|The conversation was compacted/summarized, consider this summary:)"
)
"""How the server's own user messages without an id begin; a prompt has one."""
_JOB_ENDED: Final = re.compile(r"Background job job-\d{1,9} \(")
"""How its messages about ended jobs begin, which have an id; their first line ends a sentence."""
_BLOCK_ENDS: Final = ("</contexts>", "</editor-state>", "</additionalContext>")
"""The ends of the blocks that the server adds to a message."""


def user_text(text: str) -> str:
    """Cut off the blocks that the server added at the end of a message for the model."""
    begin, end = len(text), len(text.rstrip())
    while (start := _last_block(text, end)) is not None:
        begin, end = start, start - 1
    return text[:begin]


def _last_block(text: str, end: int) -> int | None:
    """Return where the last block of a text begins; None if the text ends in no block."""
    if not text.endswith(_BLOCK_ENDS, 0, max(end, 0)):
        return None
    name = text[text.rfind("/", 0, end) + 1 : end - 1]
    start = end
    while (start := text.rfind(f"<{name}", 0, start)) >= 0:
        line_end = text.find("\n", start, end)
        opens = text[start : max(line_end, start)]
        starts_line = start == 0 or text[start - 1] == "\n"
        if starts_line and opens.endswith(">") and opens[len(name) + 1] in " >":
            return start
    return None


def original_event(addressed: Addressed) -> Addressed:
    """Return the original event of a replayed one.

    A rejected call is replayed as a finished one without name or time, and what the server told the
    model itself as a user message.
    """
    match addressed.event:
        case ToolFinished(
            call=call_details.ToolCall(name=None, server=None) as call, failed=False, total_ms=None
        ):
            return replace(addressed, event=ToolRejected(_named(call)))
        case TextReceived(role=Role.USER, text=text, content_id=id_) if _is_note(text, id_):
            first, _, rest = text.strip().partition("\n")
            note = NoticeReceived(rest, title=first) if rest else NoticeReceived(first)
            return replace(addressed, event=note)
        case _:
            return addressed


def _is_note(text: str, content_id: str | None) -> bool:
    """Return whether the server wrote a user message itself."""
    if content_id is None and _UNTYPED.match(text):
        return True
    first = text.lstrip().split("\n", 1)[0].rstrip()
    return bool(_JOB_ENDED.match(first)) and first.endswith(".")


def _named(call: call_details.ToolCall) -> call_details.ToolCall:
    """Return a call without a name with its main argument as summary."""
    return replace(call, summary=call.summary or main_argument(call.arguments or {}))


class Replay(Struct):
    """The events of one replayed chat; `chat_id` None means the next new chat."""

    chat_id: str | None
    events: list[Addressed] = field(default_factory=list)
    subagents: set[str] = field(default_factory=set)

    def claim(self, event: Addressed, known: frozenset[str]) -> bool:
        """Claim an event for the replay if it belongs there; return whether it does.

        A subagent in the event joins the replay. A replay of a new chat binds to the first opened
        chat that is not in `known`.
        """
        if isinstance(event.event, _ALWAYS_LIVE) or event.chat_id is None:
            return False
        if event.parent_id is not None and self._has(event.parent_id):
            self.subagents.add(event.chat_id)
        elif self.chat_id is None and isinstance(event.event, ChatOpened):
            self.chat_id = None if event.chat_id in known else event.chat_id
        return self._has(event.chat_id)

    def _has(self, chat_id: str) -> bool:
        return chat_id == self.chat_id or chat_id in self.subagents


class Replays:
    """The awaited replays of one server process."""

    def __init__(self) -> None:
        self._awaited: list[tuple[Replay, frozenset[str]]] = []

    @contextmanager
    def of(self, chat_id: str) -> Iterator[Replay]:
        """Collect the events of a chat (our id) until the context ends."""
        with self._await(Replay(chat_id), frozenset()) as replay:
            yield replay

    @contextmanager
    def of_new(self, known: frozenset[str]) -> Iterator[Replay]:
        """Collect the events of the first chat opened that is not in `known`."""
        with self._await(Replay(None), known) as replay:
            yield replay

    def claim(self, event: Addressed) -> bool:
        """Claim an event for the replay it belongs to; return whether there is one."""
        return any(replay.claim(event, known) for replay, known in self._awaited)

    def sort(self, events: Sequence[agent_events.AgentEvent]) -> Sequence[agent_events.AgentEvent]:
        """Return the live events, and collect the replayed ones: a hot path."""
        if not self._awaited:
            return events
        return [event for event in events if not self._keep(event)]

    @contextmanager
    def _await(self, replay: Replay, known: frozenset[str]) -> Iterator[Replay]:
        entry = (replay, known)
        self._awaited.append(entry)
        try:
            yield replay
        finally:
            self._awaited.remove(entry)

    def _keep(self, event: agent_events.AgentEvent) -> bool:
        """Collect an event if it is replayed; return whether it is."""
        if not isinstance(event, Addressed):
            return False
        for replay, known in self._awaited:
            if replay.claim(event, known):
                replay.events.append(event)
                return True
        return False
