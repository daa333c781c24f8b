"""Replay: what was said in a session, read from the updates with which an agent loads it.

Rules kept here:
- A replay has readers of its own: nothing of it meets what the session sends later.
- A call or a thought is one message, wherever its updates stood, so no page cuts one in two.
- Each update is read once, and a page costs what it has. Of a session that is larger than
  MOST_BYTES the oldest messages are left out, and the oldest page says so.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import Final
from uuid import uuid4

from msgspec import Struct, field
from msgspec.structs import replace

from eca_nvim.agents.acp.inbox import Inbox
from eca_nvim.agents.acp.prompt import typed_text
from eca_nvim.agents.acp.updates.changes import of_the_past
from eca_nvim.agents.archive import CursorExpired
from eca_nvim.chat.text.joined_text import join_text
from eca_nvim.chat.user_actions.earlier_messages import Page
from eca_nvim.chat.vocabulary import agent_events, options, turn_events
from eca_nvim.chat.vocabulary.events import (
    Addressed,
    ChatEvent,
    NoticeReceived,
    ReasoningFinished,
    ReasoningStarted,
    ReasoningText,
    Role,
    TextReceived,
    ToolFinished,
    ToolOutput,
    ToolPreparing,
    ToolRejected,
    ToolRequested,
    ToolRunning,
    UnknownReceived,
)
from eca_nvim.protocol.acp import updates

MOST_BYTES: Final = 64 << 20
"""Most bytes of updates that are kept of one session."""
LEFT_OUT: Final = "Older messages of this chat are left out: it is larger than 64 MB."

_OF_CALLS: Final = (ToolPreparing, ToolRequested, ToolRunning, ToolFinished, ToolRejected)
_PRESENT: Final = (
    updates.AvailableCommands,
    updates.ConfigOptions,
    updates.CurrentMode,
    updates.SessionInfo,
    updates.Usage,
)
"""Updates that say how the session is now; they are no part of what was said."""


def is_said(update: updates.SessionUpdate) -> bool:
    """Return whether an update that comes during a load is a part of what was said."""
    return not isinstance(update, _PRESENT)


class _Message(Struct):
    """The events of one message, of about so many bytes; `key`: of the call or thought."""

    key: str | None
    events: list[Addressed] = field(default_factory=list)
    size: int = 0


class Replay:
    """What was said in one session; `chat_id` is ours, the others are as for the inbox."""

    def __init__(self, chat_id: str, folder: str, *, whole_prompts: bool = False) -> None:
        self._chat_id = chat_id
        life = f"{uuid4().hex[:8]} "
        self._inbox = Inbox(chat_id, folder, life, whole_prompts=whole_prompts)
        self._messages: deque[_Message] = deque()
        self._by_key: dict[str, _Message] = {}
        self._size = 0
        self._unread = 0
        """Bytes of updates that have given no event yet."""
        self._total = 0
        self._before_answer = 0
        """Messages that came before the answer to the load."""
        self._is_cut = False
        self._prompt: str | None = None
        """The id of the prompt that came last."""
        self._is_ours = False
        """The rest of it is what we have added."""
        self._is_users = False
        """The last update was a piece of it."""

    def __len__(self) -> int:
        return len(self._messages)

    def add(self, update: updates.SessionUpdate, size: int) -> None:
        """Read an update of `size` bytes."""
        newest = self._messages[-1].size if self._messages else 0
        if self._unread + newest > MOST_BYTES:
            self._is_cut = True
            return
        self._unread += size
        self._is_users = isinstance(update, updates.UserMessageChunk)
        self._place(self._inbox.receive(update))
        while self._size > MOST_BYTES and len(self._messages) > 1:
            self._drop_oldest()

    def answered(self) -> None:
        """Note that the agent has answered: it may go on, or say all of it once more."""
        self._place(self._inbox.turn_ended(None))
        self._before_answer = len(self._messages)

    def finish(self) -> None:
        """Read what is left: all has been replayed."""
        self._place(self._inbox.turn_ended(None))
        said = [*map(_texts, self._messages)]
        if said[: self._before_answer] == said[self._before_answer :]:
            while len(self._messages) > self._before_answer:
                self._messages.pop()
        self._by_key.clear()
        self._total = len(self._messages)

    def page(self, limit: int | None, before: str | None = None) -> Page:
        """Return the newest messages, or those before a cursor. Raises CursorExpired.

        Messages after the cursor are forgotten: they are shown already.
        """
        end = self._total if before is None else self._end(before)
        while len(self._messages) > end:
            self._messages.pop()
        begin = 0 if limit is None else max(0, end - limit)
        shown = islice(self._messages, begin, end)
        said = _addressed(join_text(chain.from_iterable(it.events for it in shown)))
        events = [_with_diffs(it) for it in said]
        if begin == 0 and self._is_cut:
            events.insert(0, Addressed(self._chat_id, NoticeReceived(LEFT_OUT)))
        return Page(events, str(begin) if begin else None, self._total, end - begin)

    def _end(self, before: str) -> int:
        if not before.isdecimal() or int(before) > len(self._messages):
            raise CursorExpired("these messages are not kept any more")
        return int(before)

    def _place(self, events: Iterable[agent_events.AgentEvent]) -> None:
        for event in filter(None, map(self._as_said, _addressed(events))):
            message = self._message_of(event.event)
            message.events.append(event)
            message.size += self._unread
            self._size += self._unread
            self._unread = 0

    def _as_said(self, event: Addressed) -> Addressed | None:
        """Return an event as it is shown; None: it is not.

        Left out are options of then, and all that follows the words that we added to a prompt.
        """
        match event.event:
            case TextReceived(role=Role.USER, text=text, content_id=prompt):
                goes_on = self._is_ours and prompt is not None and prompt == self._prompt
                typed = "" if goes_on else typed_text(text)
                self._is_ours, self._prompt = typed != text, prompt
                return replace(event, event=replace(event.event, text=typed)) if typed else None
            case turn_events.LinkReceived() | UnknownReceived() | turn_events.ImageReceived():
                return None if self._is_ours and self._is_users else event
            case options.OptionsChanged():
                return None
        return event

    def _message_of(self, event: ChatEvent) -> _Message:
        """Return the message that an event belongs to, which may be new."""
        key = _key(event)
        if key is not None and key in self._by_key:
            return self._by_key[key]
        if key is None and self._messages and _goes_on(self._messages[-1], event):
            return self._messages[-1]
        message = _Message(key)
        self._messages.append(message)
        if key is not None:
            self._by_key[key] = message
        return message

    def _drop_oldest(self) -> None:
        oldest = self._messages.popleft()
        self._size -= oldest.size
        self._is_cut = True
        if oldest.key is not None:
            del self._by_key[oldest.key]


def _texts(message: _Message) -> list[str]:
    """Return what is said in a message."""
    return [it.event.text for it in message.events if isinstance(it.event, TextReceived)]


def _addressed(events: Iterable[agent_events.AgentEvent]) -> Iterator[Addressed]:
    return (event for event in events if isinstance(event, Addressed))


def _with_diffs(addressed: Addressed) -> Addressed:
    """Return an event whose changes have their diffs."""
    event = addressed.event
    if not isinstance(event, _OF_CALLS) or not event.call.changes:
        return addressed
    changes = tuple(map(of_the_past, event.call.changes))
    return replace(addressed, event=replace(event, call=replace(event.call, changes=changes)))


def _goes_on(message: _Message, event: ChatEvent) -> bool:
    """Return whether an event is the next piece of the answer that a message is."""
    last = message.events[-1].event
    return _is_answer(event) and _is_answer(last)


def _is_answer(event: ChatEvent) -> bool:
    return isinstance(event, TextReceived) and event.role is Role.ASSISTANT


def _key(event: ChatEvent) -> str | None:
    """Return the id of the call or thought that an event is about."""
    match event:
        case ReasoningStarted(id=key) | ReasoningText(id=key) | ReasoningFinished(id=key):
            return key
        case ToolOutput(call_id=key):
            return key
        case _ if isinstance(event, _OF_CALLS):
            return event.call.id
        case _:
            return None
