"""The chats that an ECA server keeps: listed, opened, paged, changed and copied.

Rules kept here:
- Every request waits for its answer; whatever goes wrong becomes one line (AgentRefused).
- A method the server does not know is not asked for again: the feature is absent, and is told so
  in words of what the user wanted. Servers before `chat/clear` empty a chat by deleting it; those
  of the first draft begin a new one when they are not told of the old.
- The server replays a whole chat for a change in it. What is replayed is collected, and only read
  to learn what the answer does not say: the id of a new chat or bookmark, whether it worked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Literal, TypeVar

from eca_nvim.agents.archive import (
    AgentLacks,
    AgentRefused,
    ChatSummary,
    ChatUnknown,
    CursorExpired,
    OpenedChat,
)
from eca_nvim.agents.eca.chat_ids import ChatIds
from eca_nvim.agents.eca.dialect import Dialect, Generation
from eca_nvim.agents.eca.inbox import Inbox
from eca_nvim.agents.eca.outbox import one_line
from eca_nvim.agents.eca.prompt.mentions import Mentions
from eca_nvim.agents.eca.replay import Replay, Replays, as_it_was
from eca_nvim.chat.user_actions.earlier_messages import Page
from eca_nvim.chat.vocabulary.events import (
    ChatEvent,
    ChatOpened,
    FlagReceived,
    ReasoningStarted,
    SelectionChanged,
    TextReceived,
    ToolPreparing,
    ToolRequested,
)
from eca_nvim.jsonrpc import METHOD_NOT_FOUND
from eca_nvim.protocol.eca import DecodeError, Failure, Request, decode_result, encode
from eca_nvim.protocol.eca import chats as eca
from eca_nvim.protocol.eca.chat import ChatStatus
from eca_nvim.transport import Connection, ConnectionClosed, RemoteError

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
    eca.ChatListParams.method: "cannot list the chats it keeps",
    eca.ChatOpenParams.method: "cannot open a chat again",
    eca.ChatHistoryParams.method: "cannot show older messages",
    eca.ChatUpdateParams.method: "cannot rename chats",
    eca.ChatClearParams.method: "cannot empty chats",
    eca.ChatDeleteParams.method: "cannot delete chats",
    eca.ChatRollbackParams.method: "cannot take messages back",
    eca.ChatForkParams.method: "cannot copy chats",
    eca.ChatAddFlagParams.method: "cannot set flags",
    eca.ChatRemoveFlagParams.method: "cannot remove flags",
}
"""What a server cannot do that does not know a method."""


_SINCE: Final[Mapping[str, Generation]] = {eca.ChatDeleteParams.method: Generation.BEHAVIORS}
"""What servers before today's know; it is all they are asked for."""


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
    ) -> None:
        self._connection = connection
        self._chats = chats
        self._inbox = inbox
        self._mentions = mentions
        self._replays = replays
        self._dialect = dialect
        self._absent: set[str] = set()

    async def list_chats(self, limit: int | None = None) -> Sequence[ChatSummary]:
        """Return the chats of this workspace, the newest first (chat/list)."""
        result = await self._ask(eca.ChatListParams(limit=limit))
        return [self._summary(chat) for chat in result.chats]

    async def open_chat(self, chat_id: str, limit: int | None = None) -> OpenedChat:
        """Open a chat with its newest messages (chat/open)."""
        with self._replays.of(chat_id) as replay:
            params = eca.ChatOpenParams(chat_id=self._chats.theirs(chat_id), limit=limit)
            result = await self._ask(params)
        _raise(params.method, result.error)
        if not result.found:
            raise ChatUnknown("the server does not have this chat any more")
        self._met(chat_id)
        page = _page(replay, result.meta)
        return OpenedChat(page, result.title, _selection(result.selection))

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
        """Return a chat a title (chat/update)."""
        await self._ask(eca.ChatUpdateParams(chat_id=self._chats.theirs(chat_id), title=title))

    async def clear(self, chat_id: str) -> None:
        """Take all messages out of a chat (chat/clear, chat/delete of older servers)."""
        try:
            await self._ask(eca.ChatClearParams(chat_id=self._chats.theirs(chat_id), messages=True))
        except AgentLacks:
            if self._dialect.generation is Generation.AGENTS:
                raise
            await self.delete(chat_id)
        self._mentions.emptied(chat_id)

    async def delete(self, chat_id: str) -> None:
        """Delete a chat for good (chat/delete)."""
        try:
            await self._ask(eca.ChatDeleteParams(chat_id=self._chats.theirs(chat_id)))
        except AgentLacks:
            if self._dialect.generation > Generation.DRAFT:
                raise
        self._chats.forgotten(chat_id)
        self._inbox.forgotten(chat_id)
        self._mentions.emptied(chat_id)

    async def rollback(self, chat_id: str, content_id: str, *, messages: bool, tools: bool) -> None:
        """Undo a chat from a message of the user on (chat/rollback).

        The server keeps everything when it does not know the message, and says nothing of it.
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

    async def fork(self, chat_id: str, content_id: str) -> tuple[str, OpenedChat]:
        """Copy a chat up to some content, that included (chat/fork)."""
        params = eca.ChatForkParams(chat_id=self._chats.theirs(chat_id), content_id=content_id)
        with self._replays.of_new(self._chats.known()) as replay:
            await self._ask(params)
        if replay.chat_id is None:
            raise AgentRefused("the server did not fork, it does not know this place any more")
        self._met(replay.chat_id)
        titles = [it.event.title for it in replay.events if isinstance(it.event, ChatOpened)]
        return replay.chat_id, OpenedChat(_page(replay, None), titles[0])

    async def add_flag(self, chat_id: str, content_id: str, text: str) -> str:
        """Put a bookmark after some content (chat/addFlag); its id is in the replay only."""
        params = eca.ChatAddFlagParams(
            chat_id=self._chats.theirs(chat_id), content_id=content_id, text=text
        )
        with self._replays.of(chat_id) as replay:
            await self._ask(params)
        found = _flag_after(replay, content_id, text)
        if found is None:
            raise AgentRefused("the server set no flag, it does not know this place any more")
        return found

    async def remove_flag(self, chat_id: str, flag_id: str) -> None:
        """Take a bookmark away (chat/removeFlag)."""
        theirs = self._chats.theirs(chat_id)
        await self._ask(eca.ChatRemoveFlagParams(chat_id=theirs, content_id=flag_id))

    def _met(self, chat_id: str) -> None:
        """Note that the server has a chat, and that its first prompt is long past."""
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
        """Send a request and read its answer. Raises AgentRefused and its kinds."""
        method = params.method
        since = _SINCE.get(method, Generation.AGENTS)
        if method in self._absent or not self._dialect.may_be(since):
            raise _lacks(method)
        try:
            answer = await self._connection.request(method, encode(params))
            return decode_result(type(params), answer)
        except RemoteError as fault:
            raise self._refusal(method, fault) from fault
        except ConnectionClosed as fault:
            raise AgentRefused(f"{method} failed: {one_line(str(fault))}") from fault
        except DecodeError as fault:
            raise AgentRefused(f"the answer makes no sense, {one_line(str(fault))}") from fault

    def _refusal(self, method: str, fault: RemoteError) -> AgentRefused:
        if fault.code == METHOD_NOT_FOUND:
            self._absent.add(method)
            return _lacks(method)
        kind = _FAULTS.get(fault.code, AgentRefused)
        return kind(f"{method} failed: {one_line(fault.message)}")


def _lacks(method: str) -> AgentLacks:
    return AgentLacks(f"this server {_FEATURES[method]}: it does not know {method}")


def _raise(method: str, failure: Failure | None) -> None:
    """Raise the failure that a good answer carries."""
    if failure is not None:
        kind = _FAULTS.get(failure.code, AgentRefused)
        raise kind(f"{method} failed: {one_line(failure.message)}")


def _page(replay: Replay, meta: eca.HistoryMeta | None) -> Page:
    told = meta or eca.HistoryMeta()
    return Page(list(map(as_it_was, replay.events)), told.before_cursor, told.total, told.returned)


def _selection(told: eca.ChatSelection | None) -> SelectionChanged | None:
    if told is None:
        return None
    return SelectionChanged(told.model, told.agent, told.variant or "")


def _content_ids(replay: Replay) -> list[str | None]:
    return [it.event.content_id for it in replay.events if isinstance(it.event, TextReceived)]


def _flag_after(replay: Replay, content_id: str, text: str) -> str | None:
    """Find the id of the bookmark set last: the one with the text, nearest after the content."""
    seen = False
    for told in replay.events:
        if isinstance(told.event, FlagReceived):
            if seen and told.event.text == text:
                return told.event.content_id
        elif content_id in _ids(told.event):
            seen = True
    return None


def _ids(event: ChatEvent) -> tuple[str | None, ...]:
    """Return the ids by which the server finds a piece of a chat."""
    match event:
        case TextReceived(content_id=found) | ReasoningStarted(id=found):
            return (found,)
        case ToolRequested(call=call) | ToolPreparing(call=call):
            return (call.id,)
        case _:
            return ()
