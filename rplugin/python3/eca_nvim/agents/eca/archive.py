"""Archive: lists, opens, pages, changes and copies the chats that an ECA server saves.

Rules kept here:
- Every request waits for its response, for a minute at most, because prompts may wait with it;
  every failure becomes one line (AgentRefused).
- A method the server does not know is not called again: the feature is missing, and the message
  says so in the user's terms. Servers before `chat/clear` clear a chat by deleting it; those of
  the first draft start a new chat if we stop naming the old one.
- The server replays a whole chat after a change. The replay is collected, and read only for what
  the response omits: the id of a new chat or bookmark, and whether the change worked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Literal, TypeVar

import anyio

from eca_nvim.agents.archive import (
    AgentLacks,
    AgentRefused,
    ChatSummary,
    ChatUnknown,
    CursorExpired,
    OpenedChat,
)
from eca_nvim.agents.eca.chat_ids import ChatIds
from eca_nvim.agents.eca.chat_options import ChatOptions
from eca_nvim.agents.eca.dialect import Dialect, Generation
from eca_nvim.agents.eca.inbox import Inbox
from eca_nvim.agents.eca.introduction import Abilities
from eca_nvim.agents.eca.outbox import one_line
from eca_nvim.agents.eca.prompt.mentions import Mentions
from eca_nvim.agents.eca.replay import Replay, Replays, original_event
from eca_nvim.chat.user_actions.earlier_messages import Page
from eca_nvim.chat.vocabulary.events import (
    ChatEvent,
    ChatOpened,
    FlagReceived,
    ReasoningStarted,
    TextReceived,
    ToolPreparing,
    ToolRequested,
)
from eca_nvim.chat.vocabulary.options import Ability
from eca_nvim.jsonrpc import METHOD_NOT_FOUND
from eca_nvim.protocol.eca import DecodeError, Failure, Request, decode_result, encode
from eca_nvim.protocol.eca import chats as eca
from eca_nvim.protocol.eca.chat import ChatStatus
from eca_nvim.protocol.eca.tools import JobKillParams
from eca_nvim.transport import Connection, ConnectionClosed, RemoteError

ANSWER_SECONDS: Final = 60.0
"""Time for the response to each request here."""

_ResultT = TypeVar("_ResultT")

_FAULTS: Final[dict[int | str | None, type[AgentRefused]]] = {
    "cursor_expired": CursorExpired,
    "chat_not_found": ChatUnknown,
}

_RUNNING: Final[Mapping[ChatStatus, bool]] = {
    ChatStatus.IDLE: False,
    ChatStatus.RUNNING: True,
    ChatStatus.STOPPING: True,
    ChatStatus.LOGIN: True,
}

_FEATURES: Final[Mapping[str, str]] = {
    eca.ChatListParams.method: "cannot list its saved chats",
    eca.ChatOpenParams.method: "cannot open a chat again",
    eca.ChatHistoryParams.method: "cannot show older messages",
    eca.ChatUpdateParams.method: "cannot rename chats",
    eca.ChatClearParams.method: "cannot clear chats",
    eca.ChatDeleteParams.method: "cannot delete chats",
    eca.ChatRollbackParams.method: "cannot roll back messages",
    eca.ChatForkParams.method: "cannot fork chats",
    eca.ChatAddFlagParams.method: "cannot set flags",
    eca.ChatRemoveFlagParams.method: "cannot remove flags",
    JobKillParams.method: "cannot end it",
}
"""What a server cannot do if it does not know a method."""


_ABILITIES: Final[Mapping[str, Ability]] = {
    eca.ChatListParams.method: Ability.LIST,
    eca.ChatUpdateParams.method: Ability.RENAME,
    eca.ChatClearParams.method: Ability.CLEAR,
    eca.ChatDeleteParams.method: Ability.DELETE,
    eca.ChatRollbackParams.method: Ability.ROLLBACK,
    eca.ChatForkParams.method: Ability.FORK,
    eca.ChatAddFlagParams.method: Ability.FLAGS,
}
"""What is not offered any more once a server did not know a method."""

_SINCE: Final[Mapping[str, Generation]] = {eca.ChatDeleteParams.method: Generation.BEHAVIORS}
"""Methods that servers before today's know; they are sent no others."""


class EcaArchive:
    """The chats of one server process (`archive.Archive`)."""

    def __init__(
        self,
        connection: Connection,
        chats: ChatIds,
        inbox: Inbox,
        mentions: Mentions,
        replays: Replays,
        dialect: Dialect,
        abilities: Abilities,
        options: ChatOptions,
    ) -> None:
        self._connection = connection
        self._chats = chats
        self._inbox = inbox
        self._mentions = mentions
        self._replays = replays
        self._dialect = dialect
        self._abilities = abilities
        self._options = options
        self._absent: set[str] = set()

    async def list_chats(self, limit: int | None = None) -> Sequence[ChatSummary]:
        """Return the chats of this workspace, newest first (chat/list)."""
        result = await self._ask(eca.ChatListParams(limit=limit))
        return [self._summary(chat) for chat in result.chats]

    async def open_chat(self, chat_id: str, limit: int | None = None) -> OpenedChat:
        """Open a chat with its newest messages (chat/open)."""
        with self._replays.of(chat_id) as replay:
            params = eca.ChatOpenParams(chat_id=self._chats.theirs(chat_id), limit=limit)
            result = await self._ask(params)
        _raise(params.method, result.error)
        if not result.found:
            raise ChatUnknown("the server no longer has this chat")
        self._note_opened(chat_id)
        page = _page(replay, result.meta)
        if (used := result.selection) is not None:
            self._options.keep(chat_id, used.model, used.agent, used.variant or "")
        return OpenedChat(page, result.title)

    async def history(self, chat_id: str, before: str, limit: int | None = None) -> Page:
        """Return the page before a cursor (chat/history)."""
        theirs = self._chats.theirs(chat_id)
        params = eca.ChatHistoryParams(chat_id=theirs, before=before, limit=limit)
        result = await self._ask(params)
        _raise(params.method, result.error)
        events = [
            event
            for received in result.contents
            for event in self._inbox.content(received, replayed=True)
        ]
        return _page(Replay(chat_id, events), result.meta)

    async def rename(self, chat_id: str, title: str) -> None:
        """Rename a chat (chat/update)."""
        await self._ask(eca.ChatUpdateParams(chat_id=self._chats.theirs(chat_id), title=title))

    async def clear(self, chat_id: str) -> None:
        """Remove all messages of a chat (chat/clear; chat/delete on older servers)."""
        try:
            await self._ask(eca.ChatClearParams(chat_id=self._chats.theirs(chat_id), messages=True))
        except AgentLacks:
            if self._dialect.generation is Generation.AGENTS:
                raise
            await self.delete(chat_id)
        self._mentions.emptied(chat_id)

    async def delete(self, chat_id: str) -> str | None:
        """Delete a chat for good (chat/delete); then end its jobs, which would run on."""
        theirs = self._chats.theirs(chat_id)
        try:
            await self._ask(eca.ChatDeleteParams(chat_id=theirs))
        except AgentLacks:
            if self._dialect.generation > Generation.DRAFT:
                raise
        self._chats.forgotten(chat_id)
        self._inbox.forget(chat_id)
        self._mentions.emptied(chat_id)
        return await self._end_jobs(theirs)

    async def _end_jobs(self, theirs: str) -> str | None:
        """End the jobs of a chat (jobs/kill); return why some may still run."""
        fault = None
        for job in self._inbox.jobs:
            if job.chat_id == theirs and job.status == "running":
                try:
                    await self._ask(JobKillParams(job_id=job.id))
                except AgentRefused as refused:
                    fault = f"what the chat runs in the background may still run: {refused}"
        return fault

    async def rollback(self, chat_id: str, content_id: str, *, messages: bool, tools: bool) -> None:
        """Undo a chat from a user message on (chat/rollback).

        If the server does not know the message, it changes nothing and reports no error.
        """
        include: list[Literal["messages", "tools"]] = []
        include += ["messages"] if messages else []
        include += ["tools"] if tools else []
        params = eca.ChatRollbackParams(
            chat_id=self._chats.theirs(chat_id), content_id=content_id, include=tuple(include)
        )
        with self._replays.of(chat_id) as replay:
            await self._ask(params)
        if content_id in _content_ids(replay):
            raise AgentRefused("the server did not roll back, it does not know this message")
        self._mentions.shortened(chat_id)

    async def fork(self, chat_id: str, content_id: str | None) -> tuple[str, OpenedChat]:
        """Copy a chat up to and including some content (chat/fork)."""
        if content_id is None:
            raise AgentRefused("a chat can be forked only at a prompt or a tool call")
        params = eca.ChatForkParams(chat_id=self._chats.theirs(chat_id), content_id=content_id)
        with self._replays.of_new(self._chats.known()) as replay:
            await self._ask(params)
        if replay.chat_id is None:
            raise AgentRefused("the server did not fork, it no longer knows this place")
        self._note_opened(replay.chat_id)
        self._options.copy(chat_id, replay.chat_id)
        titles = [it.event.title for it in replay.events if isinstance(it.event, ChatOpened)]
        return replay.chat_id, OpenedChat(_page(replay, None), titles[0])

    async def add_flag(self, chat_id: str, content_id: str, text: str) -> str:
        """Add a bookmark after some content (chat/addFlag); only the replay has its id."""
        params = eca.ChatAddFlagParams(
            chat_id=self._chats.theirs(chat_id), content_id=content_id, text=text
        )
        with self._replays.of(chat_id) as replay:
            await self._ask(params)
        found = _flag_after(replay, content_id, text)
        if found is None:
            raise AgentRefused("the server set no flag, it no longer knows this place")
        return found

    async def remove_flag(self, chat_id: str, flag_id: str) -> None:
        """Remove a bookmark (chat/removeFlag)."""
        theirs = self._chats.theirs(chat_id)
        await self._ask(eca.ChatRemoveFlagParams(chat_id=theirs, content_id=flag_id))

    def _note_opened(self, chat_id: str) -> None:
        """Note that the server has a chat, which is past its first prompt."""
        self._chats.opened(chat_id)
        self._mentions.resumed(chat_id)

    def _summary(self, chat: eca.ChatSummary) -> ChatSummary:
        return ChatSummary(
            id=self._chats.ours(chat.id),
            title=chat.title,
            model=chat.model,
            messages=chat.message_count,
            created_ms=chat.created_at,
            updated_ms=chat.updated_at,
            running=_RUNNING.get(chat.status),
        )

    async def _ask(self, params: Request[_ResultT]) -> _ResultT:
        """Send a request and return its result. Raises AgentRefused and its subclasses."""
        method = params.method
        since = _SINCE.get(method, Generation.AGENTS)
        if method in self._absent or not self._dialect.may_be(since):
            raise _lacks(method)
        try:
            with anyio.fail_after(ANSWER_SECONDS):
                answer = await self._connection.request(method, encode(params))
            return decode_result(type(params), answer)
        except TimeoutError:
            line = f"{method} failed: no answer after {ANSWER_SECONDS:.0f} s"
            raise AgentRefused(line) from None
        except RemoteError as fault:
            raise self._refusal(method, fault) from fault
        except ConnectionClosed as fault:
            raise AgentRefused(f"{method} failed: {one_line(str(fault))}") from fault
        except DecodeError as fault:
            raise AgentRefused(f"the answer is malformed: {one_line(str(fault))}") from fault

    def _refusal(self, method: str, fault: RemoteError) -> AgentRefused:
        if fault.code == METHOD_NOT_FOUND:
            self._absent.add(method)
            if method in _ABILITIES:
                self._abilities.refused(_ABILITIES[method])
            return _lacks(method)
        kind = _FAULTS.get(fault.code, AgentRefused)
        return kind(f"{method} failed: {one_line(fault.message)}")


def _lacks(method: str) -> AgentLacks:
    return AgentLacks(f"this server {_FEATURES[method]}: it does not know {method}")


def _raise(method: str, failure: Failure | None) -> None:
    """Raise the failure that a successful response contains, if any."""
    if failure is not None:
        kind = _FAULTS.get(failure.code, AgentRefused)
        raise kind(f"{method} failed: {one_line(failure.message)}")


def _page(replay: Replay, meta: eca.HistoryMeta | None) -> Page:
    found = meta or eca.HistoryMeta()
    events = list(map(original_event, replay.events))
    return Page(events, found.before_cursor or None, found.total, found.returned)


def _content_ids(replay: Replay) -> list[str | None]:
    return [it.event.content_id for it in replay.events if isinstance(it.event, TextReceived)]


def _flag_after(replay: Replay, content_id: str, text: str) -> str | None:
    """Return the id of the new bookmark: the first with this text after the content."""
    seen = False
    for addressed in replay.events:
        if isinstance(addressed.event, FlagReceived):
            if seen and addressed.event.text == text:
                return addressed.event.content_id
        elif content_id in _ids(addressed.event):
            seen = True
    return None


def _ids(event: ChatEvent) -> tuple[str | None, ...]:
    """Return the ids by which the server addresses a piece of a chat."""
    match event:
        case TextReceived(content_id=found) | ReasoningStarted(id=found):
            return (found,)
        case ToolRequested(call=call) | ToolPreparing(call=call):
            return (call.id,)
        case _:
            return ()
