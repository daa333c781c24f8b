"""What a server tells again of a chat, kept apart from what happens now.

The server replays a chat with the messages it streams live, and answers the request for it
afterwards. Rules kept here:
- While a replay of a chat is awaited, its contents are collected instead of told; so are those of
  subagents in it. Turns, usage and progress are never replayed: they are told at once.
- What a model was given besides the user's words is in the replayed words, and is cut off here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from eca_nvim.chat.vocabulary.call_details import ToolCall
from eca_nvim.chat.vocabulary.events import (
    Addressed,
    AgentEvent,
    ChatOpened,
    ProgressChanged,
    QuestionAsked,
    Role,
    SelectionChanged,
    TextReceived,
    ToolFinished,
    ToolRejected,
    TurnChanged,
    UsageReported,
)

_OF_NOW: Final = (TurnChanged, UsageReported, ProgressChanged, QuestionAsked, SelectionChanged)

_REJECTED: Final = "I rejected one or more tool calls"
_BLOCKS: Final = ("contexts", "editor-state", "additionalContext")
"""Names of the blocks that the server adds to a message."""


def words_of_user(text: str) -> str:
    """Cut off what the server added to a message for the model: whole blocks at its end."""
    begin, end = len(text), len(text.rstrip())
    while (start := _last_block(text, end)) is not None:
        begin, end = start, start - 1
    return text[:begin]


def _last_block(text: str, end: int) -> int | None:
    """Find where the block begins that ends a text: the nearest line that opens one."""
    name = next((it for it in _BLOCKS if text.endswith(f"</{it}>", 0, max(end, 0))), None)
    if name is None:
        return None
    start = end
    while (start := text.rfind(f"<{name}", 0, start)) >= 0:
        line_end = text.find("\n", start, end)
        opens = text[start : max(line_end, start)]
        starts_line = start == 0 or text[start - 1] == "\n"
        if starts_line and opens.endswith(">") and opens[len(name) + 1] in " >":
            return start
    return None


def as_it_was(told: Addressed) -> Addressed:
    """Return what once happened.

    A rejected call is replayed as one that ended without a verdict, and what the server told its
    model of it as words of the user.
    """
    match told.event:
        case ToolFinished(
            call=ToolCall(name=None, server=None) as call, failed=False, total_ms=None
        ):
            return replace(told, event=ToolRejected(call))
        case TextReceived(role=Role.USER, text=text) as said if text.lstrip().startswith(_REJECTED):
            return replace(told, event=replace(said, role=Role.SYSTEM))
        case _:
            return told


class Replay(Struct):
    """What is told of one chat while it is replayed; `chat_id` None: of the next chat met."""

    chat_id: str | None
    events: list[Addressed] = field(default_factory=list)
    subagents: set[str] = field(default_factory=set)

    def claim(self, event: Addressed, known: frozenset[str]) -> bool:
        """Claim an event that belongs to the replay; says whether it does.

        A subagent that the event names joins the replay; a replay of a new chat becomes that of
        the first one opened that is not among the `known`.
        """
        if isinstance(event.event, _OF_NOW) or event.chat_id is None:
            return False
        if event.parent_id is not None and self._has(event.parent_id):
            self.subagents.add(event.chat_id)
        elif self.chat_id is None and isinstance(event.event, ChatOpened):
            self.chat_id = None if event.chat_id in known else event.chat_id
        return self._has(event.chat_id)

    def _has(self, chat_id: str) -> bool:
        return chat_id == self.chat_id or chat_id in self.subagents


class Replays:
    """The replays of one server process that are awaited."""

    def __init__(self) -> None:
        self._awaited: list[tuple[Replay, frozenset[str]]] = []

    @contextmanager
    def of(self, chat_id: str) -> Iterator[Replay]:
        """Collect what is told of a chat, by our id, until the answer is there."""
        with self._await(Replay(chat_id), frozenset()) as replay:
            yield replay

    @contextmanager
    def of_new(self, known: frozenset[str]) -> Iterator[Replay]:
        """Collect what is told of the first chat opened that is not among the known ones."""
        with self._await(Replay(None), known) as replay:
            yield replay

    def claim(self, event: Addressed) -> bool:
        """Claim an event for the replay that it belongs to; says whether one is awaited."""
        return any(replay.claim(event, known) for replay, known in self._awaited)

    def sort(self, events: Sequence[AgentEvent]) -> Sequence[AgentEvent]:
        """Return what happens now, and keep what is replayed (hot: mostly nothing is)."""
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

    def _keep(self, event: AgentEvent) -> bool:
        """Keep an event that is replayed; says whether it is."""
        if not isinstance(event, Addressed):
            return False
        for replay, known in self._awaited:
            if replay.claim(event, known):
                replay.events.append(event)
                return True
        return False
