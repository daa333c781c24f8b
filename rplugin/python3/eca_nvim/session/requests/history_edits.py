"""History edits: rollback, fork and flags; prompts wait while the agent does it.

The agent changes the history first, then the view. All functions raise AgentRefused.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from weakref import WeakValueDictionary

import anyio

from eca_nvim.agents.abilities import AgentRefused, Archive, OpenedChat
from eca_nvim.chat.model.blocks import Changes, FlagBlock, TextBlock
from eca_nvim.chat.model.chat import Chat
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


async def roll_back(chats: Chats, archive: Archive, chat: Chat, intent: intents.Rollback) -> None:
    """Remove a user's message and all after it, undo what tools did to files since, or both."""
    require_idle(chat)
    prompt, content_id = named_prompt(chat, intent.block)
    await archive.rollback(chat.id, content_id, messages=intent.messages, tools=intent.tools)
    if intent.messages:
        chats.show(history_edits.roll_back(chat, prompt, now()))
    if intent.tools:
        chats.show(history_edits.files_restored(chat, now()))


async def fork(
    chats: Chats, histories: ChangingHistories, archive: Archive, chat: Chat, block: int
) -> Chat:
    """Copy a chat up to a block, show the copy and return it.

    A prompt at the end of the copy is removed from it; the prompt under the cursor goes into the
    copy's input. Agents that cannot copy a part copy all of it.
    """
    if options.Ability.FORK_HERE not in chat.abilities:
        require_idle(chat)
        copy_id, opened = await archive.fork(chat.id, None)
        copy = _show_copy(chats, chat, copy_id, opened)
        chats.show(Changes([ops.ShowChat(copy_id)]))
        return copy
    fork_point = history_edits.fork_point(chat, block)
    if fork_point is None:
        raise AgentRefused("a chat can be forked only at a prompt or a tool call")
    copy_id, opened = await archive.fork(chat.id, fork_point.content_id)
    copy = _show_copy(chats, chat, copy_id, opened)
    try:
        if fork_point.is_prompt:
            rewrite = fork_point.rewrite
            async with histories.change(copy_id):
                prompt, content_id = named_prompt(copy, 0)
                await archive.rollback(copy_id, content_id, messages=True, tools=False)
                chats.show(history_edits.roll_back(copy, prompt, now(), give_back=rewrite))
    finally:
        if not copy.forgotten:
            chats.show(Changes([ops.ShowChat(copy_id)]))
    return copy


def _show_copy(chats: Chats, chat: Chat, copy_id: str, opened: OpenedChat) -> Chat:
    copy = chats.get(copy_id, chat.server_name)
    chats.show(show_history(copy, opened.page, now()))
    chats.apply(copy, [events.TitleChanged(opened.title or "")])
    return copy


async def add_flag(chats: Chats, archive: Archive, chat: Chat, block: int, text: str) -> None:
    """Add a flag after a block."""
    anchor, content_id = _anchor(chat, block)
    flag = await archive.add_flag(chat.id, content_id, text)
    chats.show(history_edits.add_flag(chat, anchor, flag, text, now()))


async def remove_flag(chats: Chats, archive: Archive, chat: Chat, block: int) -> None:
    """Remove a flag."""
    flag = chat.blocks.get(block)
    if not isinstance(flag, FlagBlock):
        raise AgentRefused("no flag here")
    await archive.remove_flag(chat.id, flag.content_id)
    chats.show(history_edits.remove_flag(chat, flag, now()))


def require_idle(chat: Chat) -> None:
    """Raise AgentRefused while a turn runs."""
    if chat.turn.state is not states.Turn.IDLE:
        raise AgentRefused("a turn is running: stop it first with :Eca stop")


def _anchor(chat: Chat, block: int) -> history_edits.Anchor:
    found = history_edits.anchor_of(chat, block)
    if found is None:
        raise AgentRefused("no flag can be set here: the server has no id for this block")
    return found


def named_prompt(chat: Chat, block: int) -> tuple[TextBlock, str]:
    """Return the user's message that a block is or belongs to, and the agent's id of it."""
    prompt = history_edits.prompt_of(chat, block)
    if prompt is None:
        raise AgentRefused("no prompt here")
    if prompt.content_id is None:
        raise AgentRefused("the server has no id for this prompt: choose another one")
    return prompt, prompt.content_id
