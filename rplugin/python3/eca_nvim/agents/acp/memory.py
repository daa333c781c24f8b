"""Memory: what is known of sessions beyond a process: which there are, what was said in them.

What was said is read from the updates with which an agent loads a session.
"""

from collections import deque
from collections.abc import Iterable, Sequence
from itertools import chain, islice
from typing import Final, Protocol

from msgspec import Struct, field
from msgspec.structs import replace

from eca_nvim.agents import recap
from eca_nvim.agents.abilities import AgentRefused
from eca_nvim.agents.acp.inbox import Inbox
from eca_nvim.agents.acp.prompt import typed_text
from eca_nvim.agents.acp.updates.changes import of_the_past
from eca_nvim.chat.text.joined_text import join_text
from eca_nvim.chat.user_actions.earlier_messages import Page
from eca_nvim.chat.vocabulary import events, options, turn_events
from eca_nvim.chat.vocabulary.events import Addressed, ChatEvent, TextReceived
from eca_nvim.digests import new_id
from eca_nvim.protocol.acp import updates

MOST_BYTES: Final = 64 << 20
"""Most bytes of updates that are kept of one session."""
LEFT_OUT: Final = "Older messages of this chat are left out: it is larger than 64 MB."

_OF_CALLS: Final = (
    events.ToolPreparing,
    events.ToolRequested,
    events.ToolRunning,
    events.ToolFinished,
    events.ToolRejected,
)
_OF_THOUGHTS: Final = (events.ReasoningStarted, events.ReasoningText, events.ReasoningFinished)
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
    """The events of one message, of about so many bytes.

    key: of the call or thought that it is. Such a one is one message wherever its updates stood, so
    that no page cuts it in two.
    """

    key: str | None
    events: list[ChatEvent] = field(default_factory=list)
    size: int = 0


class Replay:
    """What was said in one session; `chat_id` is ours, the others are as for the inbox.

    It has an inbox of its own: nothing of it meets what the session sends later.
    """

    def __init__(self, chat_id: str, folder: str, *, whole_prompts: bool = False) -> None:
        self._chat_id = chat_id
        self._inbox = Inbox(folder, f"{new_id()[:8]} ", whole_prompts=whole_prompts)
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
        # Of a larger session the oldest messages are left out, and the oldest page says so.
        while self._size > MOST_BYTES and len(self._messages) > 1:
            oldest = self._messages.popleft()
            self._size -= oldest.size
            self._is_cut = True
            if oldest.key is not None:
                del self._by_key[oldest.key]

    def answered(self) -> None:
        """Note that the agent has answered: it may go on, or say all of it once more."""
        self._place(self._inbox.turn_ended())
        self._before_answer = len(self._messages)

    def finish(self) -> None:
        """Read what is left: all has been replayed."""
        self._place(self._inbox.turn_ended())
        said = [
            [it.text for it in message.events if isinstance(it, TextReceived)]
            for message in self._messages
        ]
        if said[: self._before_answer] == said[self._before_answer :]:
            while len(self._messages) > self._before_answer:
                self._messages.pop()
        self._by_key.clear()
        self._total = len(self._messages)

    def page(self, limit: int | None, before: str | None = None) -> Page:
        """Return the newest messages, or those before a cursor. Raises AgentRefused.

        Messages after the cursor are forgotten: they are shown already.
        """
        end = self._total
        if before is not None:
            if not before.isdecimal() or int(before) > len(self._messages):
                raise AgentRefused("these messages are not kept any more")
            end = int(before)
        while len(self._messages) > end:
            self._messages.pop()
        begin = 0 if limit is None else max(0, end - limit)
        said = chain.from_iterable(it.events for it in islice(self._messages, begin, end))
        joined = join_text(Addressed(self._chat_id, _with_diffs(event)) for event in said)
        shown = [it for it in joined if isinstance(it, Addressed)]
        if begin == 0 and self._is_cut:
            shown.insert(0, Addressed(self._chat_id, events.NoticeReceived(LEFT_OUT)))
        return Page(shown, str(begin) if begin else None, self._total, end - begin)

    def _place(self, told: Iterable[ChatEvent]) -> None:
        for event in chain.from_iterable(map(self._as_said, told)):
            message = self._message_of(event)
            message.events.append(event)
            message.size += self._unread
            self._size += self._unread
            self._unread = 0

    def _as_said(self, event: ChatEvent) -> Iterable[ChatEvent]:
        """Yield an event as it is shown.

        Left out are options of then, and all that follows the words that we added to a prompt.
        """
        match event:
            case TextReceived(role=events.Role.USER, text=text, content_id=prompt):
                said, text = recap.unwrap(text)
                if said:
                    yield events.NoticeReceived(said, title=recap.HEADING)
                    if not text:
                        return
                goes_on = self._is_ours and prompt is not None and prompt == self._prompt
                typed = "" if goes_on else typed_text(text)
                self._is_ours, self._prompt = typed != text, prompt
                if typed:
                    yield TextReceived(event.role, typed, prompt)
            case (
                turn_events.LinkReceived() | events.UnknownReceived() | turn_events.ImageReceived()
            ):
                if not (self._is_ours and self._is_users):
                    yield event
            case options.OptionsChanged():
                pass
            case _:
                yield event

    def _message_of(self, event: ChatEvent) -> _Message:
        """Return the message that an event belongs to, which may be new."""
        key = _key(event)
        if key is not None and key in self._by_key:
            return self._by_key[key]
        if _is_answer(event) and self._messages and _is_answer(self._messages[-1].events[-1]):
            return self._messages[-1]
        message = _Message(key)
        self._messages.append(message)
        if key is not None:
            self._by_key[key] = message
        return message


def _with_diffs(event: ChatEvent) -> ChatEvent:
    if not isinstance(event, _OF_CALLS) or not event.call.changes:
        return event
    changes = tuple(map(of_the_past, event.call.changes))
    return replace(event, call=replace(event.call, changes=changes))


def _is_answer(event: ChatEvent) -> bool:
    return isinstance(event, TextReceived) and event.role is events.Role.ASSISTANT


def _key(event: ChatEvent) -> str | None:
    """Return the id of the call or thought that an event is about."""
    if isinstance(event, _OF_THOUGHTS):
        return event.id
    if isinstance(event, events.ToolOutput):
        return event.call_id
    return event.call.id if isinstance(event, _OF_CALLS) else None


class KeptSessions(Protocol):
    """The sessions of one agent that are bound to chats of this project.

    A chat is bound by its first prompt, or by being opened.
    """

    def session_of(self, chat_id: str) -> str | None:
        """Return the id of a chat's session."""

    def chats_of(self, session_ids: Iterable[str]) -> Sequence[str]:
        """Return the id of the chat that stands for each session, the same in all Neovims."""

    def used(self) -> Iterable[tuple[str, str, str, float]]:
        """Yield the bound chats: id, session, title, and when it was used last (s since 1970)."""

    def keep(self, chat_id: str, session_id: str, title: str = "") -> int | None:
        """Bind a chat to a session that is in use here now; `title`: of a chat without one.

        Returns the process id of another running Neovim that uses it, the first time that is seen.
        """

    def drop(self, chat_id: str) -> None:
        """Forget the session of a chat."""


class Memory(Struct):
    """What outlives the processes of one agent.

    shown: our ids of the chats whose session was opened in this host, so that the view has what was
    said. replays: what was said before that, by chat. listed: by chat, the sessions that were
    listed last, with their titles. renewed: chats that get a new session, whatever they have had.
    titles: what those were called whose session was kept apart since.
    """

    kept: KeptSessions
    shown: set[str] = field(default_factory=set)
    replays: dict[str, Replay] = field(default_factory=dict)
    listed: dict[str, tuple[str, str | None]] = field(default_factory=dict)
    renewed: set[str] = field(default_factory=set)
    titles: dict[str, str] = field(default_factory=dict)

    def session_of(self, chat_id: str) -> str | None:
        """Return the id of the session that a chat stands for."""
        listed, _ = self.listed.get(chat_id, (None, None))
        return self.kept.session_of(chat_id) or listed

    def goes_on_in(self, chat_id: str) -> str | None:
        """Return the id of the session in which a chat goes on, None if it gets a new one."""
        return None if chat_id in self.renewed else self.session_of(chat_id)

    def prompted(self, chat_id: str) -> None:
        """Note that the new session of a chat, if it has one, gets its first prompt.

        The one before is kept as that of another chat, so that it is listed.
        """
        if chat_id in self.renewed:
            self.renewed.discard(chat_id)
            self.set_aside(chat_id)

    def set_aside(self, chat_id: str) -> str:
        """Keep the session of a chat as that of another chat; return the id of that."""
        for chat, session_id, title, _ in self.kept.used():
            if chat == chat_id:
                self.kept.drop(chat_id)
                (other_id,) = self.kept.chats_of([session_id])
                self.kept.keep(other_id, session_id, title)
                self.titles[chat_id] = title
                return other_id
        return new_id()

    def exchange(self, chat_id: str, other_id: str) -> None:
        """Keep each other's session for two chats."""
        both = (chat_id, other_id)
        kept = {chat: (it, title) for chat, it, title, _ in self.kept.used() if chat in both}
        for chat, other in (both, both[::-1]):
            self.kept.drop(chat)
            if other in kept:
                self.kept.keep(chat, *kept[other])
        renewed = self.renewed.intersection(both)
        self.renewed ^= {*both} if len(renewed) == 1 else set()
        self.listed = {chat: it for chat, it in self.listed.items() if chat not in both}

    def forget(self, chat_id: str) -> None:
        """Forget a chat that is gone."""
        self.kept.drop(chat_id)
        self.renewed.discard(chat_id)
        self.shown.discard(chat_id)
        self.replays.pop(chat_id, None)
