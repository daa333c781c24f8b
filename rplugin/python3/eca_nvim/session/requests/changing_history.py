"""Changing histories: prompts wait while the agent changes or loads the history of their chat.

Rules kept here:
- Prompts wait from the first moment on: nothing is awaited before, so a prompt that is sent right
  after the request waits, too.
- The first prompt that waited is sent whatever the response was, and below what it has changed. If
  the agent has ended, that is reported first; the prompt starts it again, unless the user ended it.
- The history of a chat is changed by one request at a time.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from weakref import WeakValueDictionary

import anyio

from eca_nvim.chat.model.chat import Chat
from eca_nvim.chat.user_actions.changing_history import begin_change, end_change
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
        await process.end_reported()
        sends = process.state is not ServerState.STOPPED
        self._chats.show(end_change(chat, now(), sends=sends))
