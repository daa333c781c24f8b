"""Replay: separates the events of a replayed chat, and its subagents, from live events.

The server replays a chat with the same messages as live ones, and then responds to the request.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from eca_nvim.agents.eca.known_tools import main_argument
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


def original_event(addressed: Addressed) -> Addressed:
    """Return the original event of a replayed one.

    A rejected call is replayed as a finished one without name or time, and what the server told the
    model itself as a user message.
    """
    match addressed.event:
        case ToolFinished(
            call=call_details.ToolCall(name=None, server=None) as call, failed=False, total_ms=None
        ):
            summary = call.summary or main_argument(call.arguments or {})
            return replace(addressed, event=ToolRejected(replace(call, summary=summary)))
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


class Replay(Struct, eq=False):
    """The events of one replayed chat.

    chat_id: ours; None until the first chat is opened that is not in `known`.
    """

    chat_id: str | None
    known: frozenset[str] = frozenset()
    events: list[Addressed] = field(default_factory=list)
    subagents: set[str] = field(default_factory=set)

    def has(self, chat_id: str) -> bool:
        """Return whether a chat belongs to the replay."""
        return chat_id == self.chat_id or chat_id in self.subagents

    def claim(self, event: Addressed) -> bool:
        """Collect an event if it belongs to the replay; return whether it does."""
        # Turns, usage and progress are never replayed: they are of the turn that runs.
        if isinstance(event.event, _ALWAYS_LIVE) or event.chat_id is None:
            return False
        if event.parent_id is not None and self.has(event.parent_id):
            self.subagents.add(event.chat_id)
        elif self.chat_id is None and isinstance(event.event, ChatOpened):
            self.chat_id = None if event.chat_id in self.known else event.chat_id
        if not self.has(event.chat_id):
            return False
        self.events.append(event)
        return True


class Replays:
    """The awaited replays of one server process."""

    def __init__(self) -> None:
        self.awaited: list[Replay] = []

    @contextmanager
    def of(self, chat_id: str | None, known: frozenset[str] = frozenset()) -> Iterator[Replay]:
        """Collect the events of a chat (our id), or of a new one, until the context ends."""
        replay = Replay(chat_id, known)
        self.awaited.append(replay)
        try:
            yield replay
        finally:
            self.awaited.remove(replay)

    def has(self, chat_id: str) -> bool:
        """Return whether a chat is being replayed."""
        return any(replay.has(chat_id) for replay in self.awaited)

    def sort(self, events: Sequence[agent_events.AgentEvent]) -> Sequence[agent_events.AgentEvent]:
        """Return the live events, and collect the replayed ones."""
        return [
            event
            for event in events
            if not isinstance(event, Addressed)
            or not any(replay.claim(event) for replay in self.awaited)
        ]
