"""History edits: rollback, fork and flags; prompts wait while the agent does it.

The agent changes the history first, then the view. All functions raise AgentRefused.
"""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any
from weakref import WeakValueDictionary

import anyio

from eca_nvim.agents.abilities import AgentLacks, AgentRefused, Archive
from eca_nvim.chat.model.blocks import Changes, FlagBlock, TextBlock
from eca_nvim.chat.model.chat import Chat
from eca_nvim.chat.render.whole_chat import recap as recap_before
from eca_nvim.chat.user_actions import history_edits
from eca_nvim.chat.user_actions.earlier_messages import show_history
from eca_nvim.chat.user_actions.history_edits import begin_change, end_change
from eca_nvim.chat.vocabulary import events, ops, options, states
from eca_nvim.chat.vocabulary import query_intents as intents
from eca_nvim.session.chats import Chats, now
from eca_nvim.session.server import ServerState
from eca_nvim.session.servers import Servers


class ChangingHistories:
    """Which histories are being changed."""

    def __init__(self, chats: Chats, servers: Servers) -> None:
        self._chats = chats
        self._servers = servers
        self._changing = WeakValueDictionary[str, anyio.Lock]()

    @asynccontextmanager
    async def change(self, chat_id: str) -> AsyncIterator[None]:
        """Let the prompts of a chat wait; inside, make the request and show what it changed."""
        async with self._changing.setdefault(chat_id, anyio.Lock(fast_acquire=True)):
            chat = self._chats.table.get(chat_id)
            # Nothing is awaited before: a prompt that is sent right after the request waits, too.
            if chat is not None:
                begin_change(chat)
            try:
                yield
            except Exception:
                await self._end(chat)
                raise
            await self._end(chat)

    async def _end(self, chat: Chat | None) -> None:
        """Send what waited."""
        if chat is None:
            return
        process = self._servers.of(chat).process
        await process.end_reported()  # what waited starts the agent again, below that report
        sends = process.state is not ServerState.STOPPED
        self._chats.show(end_change(chat, now(), sends=sends))


class HistoryEdits:
    """Handles the user's requests to change what was said."""

    def __init__(self, chats: Chats, servers: Servers, histories: ChangingHistories) -> None:
        self._chats = chats
        self._servers = servers
        self._histories = histories
        self.table: Mapping[type[intents.Intent], Callable[[Any], object]] = {
            intents.Rollback: self._roll_back,
            intents.ForkChat: self._fork,
            intents.AddFlag: self._add_flag,
            intents.RemoveFlag: self._remove_flag,
        }

    async def _archive(self, chat: Chat) -> Archive:
        return (await self._servers.of(chat).process.ready()).archive

    async def _roll_back(self, intent: intents.Rollback) -> bool:
        """Remove a user's message and all after it, undo what tools did to files since, or both."""
        chat = known(self._chats, intent.chat)
        async with self._histories.change(chat.id):
            archive = await self._archive(chat)
            require_idle(chat)
            prompt, recap = prompt_at(chat, intent.block), None
            messages, tools = intent.messages, intent.tools
            if can_roll_back(chat, prompt) and (content_id := prompt.content_id) is not None:
                await archive.rollback(chat.id, content_id, messages=messages, tools=tools)
            elif tools:
                raise AgentLacks("this agent cannot restore files from before this prompt")
            else:
                recap = await self._begin_again(chat, prompt, archive)
            if messages:
                shown = (chat, prompt, now())
                back = history_edits.roll_back(*shown, give_back=intent.give_back, recap=recap)
                self._chats.show(back)
            if tools:
                self._chats.show(history_edits.files_restored(chat, now()))
        return True

    async def _begin_again(self, chat: Chat, prompt: TextBlock, archive: Archive) -> str:
        """Have the agent open a new session for a chat; return the recap for it."""
        options = self._servers.of(chat).options
        said = recap_before(chat, prompt, now())
        options.session_ended(chat)
        try:
            await archive.begin_again(chat.id)
        except AgentRefused:
            options.open_chat(chat)
            raise
        return said

    async def _fork(self, intent: intents.ForkChat) -> None:
        """Copy a chat up to a block, and show the copy.

        A prompt at the end of the copy is removed from it; the prompt under the cursor goes into
        the copy's input. Agents that cannot copy a part copy all of it.
        """
        chat = known(self._chats, intent.chat)
        archive, point = await self._archive(chat), None
        if chat.recap is not None:
            raise AgentRefused("the agent's new session knows nothing yet: send a prompt first")
        if options.Ability.FORK_HERE not in chat.abilities:
            require_idle(chat)
        elif (point := history_edits.fork_point(chat, intent.block)) is None:
            raise AgentRefused("a chat can be forked only at a prompt or a tool call")
        copy_id, opened = await archive.fork(chat.id, point.content_id if point else None)
        copy = self._chats.get(copy_id, chat.server_name)
        self._chats.show(show_history(copy, opened.page, now()))
        self._chats.apply(copy, [events.TitleChanged(opened.title or "")])
        try:
            if point is not None and point.is_prompt:
                async with self._histories.change(copy_id):
                    prompt = prompt_at(copy, 0)
                    if prompt.content_id is None:
                        raise AgentRefused("the server has no id for this prompt")
                    await archive.rollback(copy_id, prompt.content_id, messages=True, tools=False)
                    rewrite = point.rewrite
                    shown = history_edits.roll_back(copy, prompt, now(), give_back=rewrite)
                    self._chats.show(shown)
        finally:
            if not copy.forgotten:
                self._chats.show(Changes([ops.ShowChat(copy_id)]))
        if not copy.forgotten:
            self._servers.of(chat).options.copied(chat, copy)

    async def _add_flag(self, intent: intents.AddFlag) -> None:
        chat = known(self._chats, intent.chat)
        async with self._histories.change(chat.id):
            archive = await self._archive(chat)
            found = history_edits.anchor_of(chat, intent.block)
            if found is None:
                raise AgentRefused("no flag can be set here: the server has no id for this block")
            anchor, content_id = found
            flag = await archive.add_flag(chat.id, content_id, intent.text)
            self._chats.show(history_edits.add_flag(chat, anchor, flag, intent.text, now()))

    async def _remove_flag(self, intent: intents.RemoveFlag) -> None:
        chat = known(self._chats, intent.chat)
        archive, flag = await self._archive(chat), chat.blocks.get(intent.block)
        if not isinstance(flag, FlagBlock):
            raise AgentRefused("no flag here")
        await archive.remove_flag(chat.id, flag.content_id)
        self._chats.show(history_edits.remove_flag(chat, flag, now()))


def known(chats: Chats, chat_id: str) -> Chat:
    """Return a chat that there is."""
    chat = chats.table.get(chat_id)
    if chat is None:
        raise AgentRefused("there is no such chat")
    return chat


def require_idle(chat: Chat) -> None:
    """Raise AgentRefused while a turn runs."""
    if chat.turn.state is not states.Turn.IDLE:
        raise AgentRefused("a turn is running: stop it first with :Eca stop")


def prompt_at(chat: Chat, block: int) -> TextBlock:
    """Return the user's message that a block is or belongs to."""
    prompt = history_edits.prompt_of(chat, block)
    if prompt is None:
        raise AgentRefused("no prompt here")
    return prompt


def can_roll_back(chat: Chat, prompt: TextBlock) -> bool:
    """Return whether the agent itself can go back to before a prompt; else it begins again."""
    is_able = options.Ability.ROLLBACK in chat.abilities
    return is_able and prompt.content_id is not None and chat.recap is None
