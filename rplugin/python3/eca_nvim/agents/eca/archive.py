"""Archive: lists, opens, pages, changes and copies the chats that an ECA server saves.

The server replays a whole chat after a change. The replay is collected, and read only for what the
response omits: the id of a new chat or bookmark, and whether the change worked.
"""

from collections.abc import Sequence
from contextlib import suppress
from itertools import dropwhile
from typing import Literal

from eca_nvim.agents.abilities import AgentLacks, AgentRefused, ChatSummary, ChatUnknown, OpenedChat
from eca_nvim.agents.base import Emit
from eca_nvim.agents.eca.chat_options import ChatOptions
from eca_nvim.agents.eca.inbox import Inbox
from eca_nvim.agents.eca.prompts import Mentions
from eca_nvim.agents.eca.replay import Replay, Replays, original_event
from eca_nvim.agents.eca.server import EcaServer, refusal
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
from eca_nvim.protocol.eca import Failure
from eca_nvim.protocol.eca import chats as eca
from eca_nvim.protocol.eca.chat import ChatStatus
from eca_nvim.protocol.eca.tools import JobKillParams


class EcaArchive:
    """The chats of one server process (`abilities.Archive`)."""

    def __init__(
        self,
        server: EcaServer,
        inbox: Inbox,
        mentions: Mentions,
        replays: Replays,
        options: ChatOptions,
        emit: Emit,
    ) -> None:
        self._server = server
        self._inbox = inbox
        self._mentions = mentions
        self._replays = replays
        self._options = options
        self._emit = emit

    async def list_chats(self, limit: int | None = None) -> Sequence[ChatSummary]:
        """Return the chats of this workspace, newest first (chat/list), without inline ones."""
        result = await self._server.ask(eca.ChatListParams(limit=limit))
        return [self._summary(chat) for chat in result.chats if chat.kind != "inline"]

    async def open_chat(self, chat_id: str, limit: int | None = None) -> OpenedChat:
        """Open a chat with its newest messages (chat/open)."""
        with self._replays.of(chat_id) as replay:
            params = eca.ChatOpenParams(chat_id=chat_id, limit=limit)
            result = await self._server.ask(params)
        _raise(params.method, result.error)
        if not result.found:
            raise ChatUnknown("the server no longer has this chat")
        self._note_opened(chat_id)
        page = _page(replay, result.meta)
        if (used := result.selection) is not None:
            self._options.keep(chat_id, used.model, used.agent, used.variant or "")
            self._emit(self._options.changed())
        return OpenedChat(page, result.title)

    async def history(self, chat_id: str, before: str, limit: int | None = None) -> Page:
        """Return the page before a cursor (chat/history)."""
        params = eca.ChatHistoryParams(chat_id=chat_id, before=before, limit=limit)
        result = await self._server.ask(params)
        _raise(params.method, result.error)
        with self._replays.of(chat_id) as replay:
            for received in result.contents:
                for message in self._server.translator.read(received):
                    self._inbox.read(message)
        return _page(replay, result.meta)

    async def rename(self, chat_id: str, title: str) -> None:
        """Rename a chat (chat/update)."""
        await self._server.ask(eca.ChatUpdateParams(chat_id=chat_id, title=title))

    async def clear(self, chat_id: str) -> None:
        """Remove all messages of a chat (chat/clear)."""
        try:
            await self._server.ask(eca.ChatClearParams(chat_id=chat_id, messages=True))
        except AgentLacks:
            if self._server.dialect.can_clear:
                raise
            await self._delete(chat_id)  # its next prompt starts another one
        self._mentions.emptied(chat_id)

    async def delete(self, chat_id: str) -> str | None:
        """Delete a chat for good (chat/delete); then end its jobs, which would run on."""
        await self._delete(chat_id)
        self._mentions.emptied(chat_id)
        return await self._end_jobs(chat_id)

    async def _delete(self, chat_id: str) -> None:
        try:
            await self._server.ask(eca.ChatDeleteParams(chat_id=chat_id))
        except AgentLacks:
            if self._server.dialect.saves_chats:
                raise  # else there is nothing to delete: it is enough that we no longer name it
        self._server.translator.forget(chat_id)

    async def _end_jobs(self, chat_id: str) -> str | None:
        """End the jobs of a chat (jobs/kill); return why some may still run."""
        fault = None
        for job in self._inbox.jobs:
            if job.chat_id == chat_id and job.status == "running":
                try:
                    await self._server.ask(JobKillParams(job_id=job.id))
                except AgentRefused as refused:
                    fault = f"what the chat runs in the background may still run: {refused}"
        return fault

    async def rollback(self, chat_id: str, content_id: str, *, messages: bool, tools: bool) -> None:
        """Undo a chat from a user message on (chat/rollback).

        If the server does not know the message, it changes nothing and reports no error.
        """
        wanted: dict[Literal["messages", "tools"], bool] = {"messages": messages, "tools": tools}
        include = tuple(what for what, is_wanted in wanted.items() if is_wanted)
        params = eca.ChatRollbackParams(chat_id=chat_id, content_id=content_id, include=include)
        with self._replays.of(chat_id) as replay:
            await self._server.ask(params)
        prompts = (it.event for it in replay.events if isinstance(it.event, TextReceived))
        if any(it.content_id == content_id for it in prompts):
            raise AgentRefused("the server did not roll back, it does not know this message")
        self._mentions.shortened(chat_id)

    async def begin_again(self, chat_id: str) -> None:
        """Let a chat go on in a new one of the server, which its next prompt begins."""

    async def branch(self, chat_id: str, before: str | None) -> str:
        """Let a chat go on in a copy (chat/fork, chat/rollback), or in a new chat of the server."""
        if before is None:
            return self._server.ids.set_aside(chat_id)
        with self._replays.of(chat_id):  # the server says there that it was copied
            copy_id, _ = await self.fork(chat_id, before)
        try:
            await self.rollback(copy_id, before, messages=True, tools=False)
        except AgentRefused:
            with suppress(AgentRefused):
                await self._delete(copy_id)
            raise
        self._exchanged(chat_id, copy_id)
        return copy_id

    async def exchange(self, chat_id: str, other_id: str) -> None:
        """Let two chats have each other's chat of the server, if it still has the other one."""
        with suppress(AgentLacks):
            await self.open_chat(other_id, 1)
        self._exchanged(chat_id, other_id)

    def _exchanged(self, chat_id: str, other_id: str) -> None:
        self._server.ids.exchange(chat_id, other_id)
        self._mentions.shortened(chat_id)

    async def fork(self, chat_id: str, content_id: str | None) -> tuple[str, OpenedChat]:
        """Copy a chat up to and including some content (chat/fork)."""
        if content_id is None:
            raise AgentRefused("a chat can be forked only at a prompt or a tool call")
        params = eca.ChatForkParams(chat_id=chat_id, content_id=content_id)
        with self._replays.of(None, self._server.ids.known()) as replay:
            await self._server.ask(params)
        if replay.chat_id is None:
            raise AgentRefused("the server did not fork, it no longer knows this place")
        self._note_opened(replay.chat_id)
        self._options.copy(chat_id, replay.chat_id)
        titles = [it.event.title for it in replay.events if isinstance(it.event, ChatOpened)]
        return replay.chat_id, OpenedChat(_page(replay, None), titles[0])

    async def add_flag(self, chat_id: str, content_id: str, text: str) -> str:
        """Add a bookmark after some content (chat/addFlag); only the replay has its id."""
        params = eca.ChatAddFlagParams(chat_id=chat_id, content_id=content_id, text=text)
        with self._replays.of(chat_id) as replay:
            await self._server.ask(params)
        found = _flag_after(replay, content_id, text)
        if found is None:
            raise AgentRefused("the server set no flag, it no longer knows this place")
        return found

    async def remove_flag(self, chat_id: str, flag_id: str) -> None:
        """Remove a bookmark (chat/removeFlag)."""
        await self._server.ask(eca.ChatRemoveFlagParams(chat_id=chat_id, content_id=flag_id))

    def _note_opened(self, chat_id: str) -> None:
        """Note that the server has a chat, which is past its first prompt."""
        self._server.ids.opened(chat_id)
        self._mentions.resumed(chat_id)

    def _summary(self, chat: eca.ChatSummary) -> ChatSummary:
        is_known = chat.status is not ChatStatus.UNKNOWN
        return ChatSummary(
            id=self._server.ids.ours(chat.id),
            title=chat.title,
            model=chat.model,
            messages=chat.message_count,
            created_ms=chat.created_at,
            updated_ms=chat.updated_at,
            running=chat.status is not ChatStatus.IDLE if is_known else None,
        )


def _raise(method: str, failure: Failure | None) -> None:
    """Raise the failure that a successful response contains, if any."""
    if failure is not None:
        raise refusal(method, failure.code, failure.message)


def _page(replay: Replay, meta: eca.HistoryMeta | None) -> Page:
    found = meta or eca.HistoryMeta()
    events = list(map(original_event, replay.events))
    return Page(events, found.before_cursor or None, found.total, found.returned)


def _flag_after(replay: Replay, content_id: str, text: str) -> str | None:
    """Return the id of the new bookmark: the first with this text after the content."""
    after = dropwhile(lambda it: content_id not in _ids(it.event), replay.events)
    flags = (it.event for it in after if isinstance(it.event, FlagReceived))
    return next((flag.content_id for flag in flags if flag.text == text), None)


def _ids(event: ChatEvent) -> tuple[str | None, ...]:
    """Return the ids by which the server addresses a piece of a chat."""
    match event:
        case TextReceived(content_id=found) | ReasoningStarted(id=found):
            return (found,)
        case ToolRequested(call=call) | ToolPreparing(call=call):
            return (call.id,)
        case _:
            return ()
