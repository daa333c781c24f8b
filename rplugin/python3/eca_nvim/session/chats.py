"""The chats of a session: every change of one is shown, told and timed here.

Rules kept here:
- All that happens to a chat comes back as Changes; ops go to the view, effects to the agent, and
  what waits for the user is shown anew for all chats together.
- Time passes for a chat only while its turn runs: there is no clock when nothing happens.
- A chat that only the agent knows is made when it is first spoken of; no window opens for it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import anyio
from msgspec.structs import replace

from eca_nvim.chat.handlers import reducer
from eca_nvim.chat.model.blocks import ToolBlock
from eca_nvim.chat.model.changes import Changes
from eca_nvim.chat.model.chat import Chat
from eca_nvim.chat.model.display_settings import RenderSettings
from eca_nvim.chat.user_actions.approvals import PendingList, pending_item
from eca_nvim.chat.vocabulary.effects import Effect
from eca_nvim.chat.vocabulary.events import ChatEvent
from eca_nvim.chat.vocabulary.ops import Emit, ForgetChat, SetPending
from eca_nvim.chat.vocabulary.states import Turn
from eca_nvim.session.files.call_warnings import on_disk
from eca_nvim.session.files.whole_writes import FileBefore, told_whole
from eca_nvim.session.view import View, isolated

TICK = 1.0
"""Seconds between two updates of the times that are shown."""


def now() -> int:
    """Tell the time in ms, by a clock that only grows."""
    return time.monotonic_ns() // 1_000_000


class Chats:
    """All chats, by id."""

    def __init__(
        self,
        view: View,
        settings: RenderSettings,
        tell: Callable[[Effect], None],
        witness: Callable[[Chat, ChatEvent, ToolBlock | None], None],
        file_before: FileBefore,
    ) -> None:
        self._view = view
        self._file_before = file_before
        self._witness = witness
        self._settings = settings
        self._workspace = settings.folders
        self._tell = tell
        self._server = "stopped"
        self._running = anyio.Event()
        self._shown = PendingList()
        self._more = False
        self.table: dict[str, Chat] = {}

    def __iter__(self) -> Iterator[Chat]:
        return iter(tuple(self.table.values()))

    def get(self, chat_id: str) -> Chat:
        """Give a chat, made when it is new."""
        chat = self.table.get(chat_id)
        if chat is None:
            chat = Chat(chat_id, self._settings)
            self.table[chat_id] = chat
            self._view.push([Emit("EcaChatOpened", {"chat": chat_id})])
            self.show(reducer.server_changed(chat, self._server, now()))
        return chat

    def forget(self, chat_id: str, *, told: bool = False) -> None:
        """Take a chat out for good, with all that is shown of it; `told`: its end was already."""
        if self.table.pop(chat_id, None) is not None:
            self._view.push([self._pending(), ForgetChat(chat_id)])
            if not told:
                self._view.push([Emit("EcaChatClosed", {"chat": chat_id})])

    def apply(self, chat: Chat, events: Sequence[ChatEvent], child: str | None = None) -> None:
        """Have events happen to a chat, or to a subagent's chat in it."""
        for told in events:
            event = told_whole(chat, told, self._file_before, child)
            changes = reducer.apply(chat, event, now(), child, more_follow=self._more)
            self._witness(chat, event, changes.call)
            self.show(changes)

    @contextmanager
    def together(self) -> Iterator[None]:
        """Take events that came together: headers are drawn when all of them are taken."""
        self._more = True
        try:
            yield
        finally:
            self._more = False
            for chat in self:
                if chat.stale:
                    self.show(reducer.settled(chat, now()))

    def show(self, changes: Changes) -> None:
        """Show what came of something, and tell the agent what it must know."""
        if changes.pending_changed:
            self._view.push(changes.ops_with(self._pending()))
        elif changes.ops:
            self._view.push(changes.ops)
        if changes.runs:
            self._running.set()
        for effect in changes.effects:
            self._tell(effect)

    def look_again(self, chat: Chat, block_id: int) -> None:
        """Show what waits in a block again if the disk tells something else of it by now."""
        request = chat.pending.get(block_id)
        if request is not None:
            shown = request.digest
            pending_item(chat, block_id, on_disk)
            if request.digest != shown:
                self._view.push([self._pending()])

    def tell_pending_whole(self) -> None:
        """Tell all that waits with the next change of it, whatever was told before."""
        self._shown = PendingList()

    def _pending(self) -> SetPending:
        return self._shown.update(self, on_disk)

    def follow(self, *, wanted: bool) -> None:
        """Take whether the view shows the lines that calls change."""
        self._set(replace(self._settings, follow=wanted))

    def server_changed(self, state: str, folder: str | None = None) -> None:
        """Take the state of the agent's process; `folder`: its own one, which counts as inside."""
        self._server = state
        own = () if folder is None else (folder,)
        settings = replace(self._settings, folders=(*self._workspace, *own))
        if settings != self._settings:
            self._set(settings)
            for chat in self:
                for request in chat.pending.values():
                    request.changed()
        for chat in self:
            self.show(reducer.server_changed(chat, state, now()))

    def _set(self, settings: RenderSettings) -> None:
        self._settings = settings
        for chat in self:
            chat.settings = settings

    async def keep_time(self) -> None:
        """Show how the time goes by while turns run; sleeps when none does."""
        while True:
            await self._running.wait()
            await anyio.sleep(TICK)
            for chat in self:
                if chat.turn.state is not Turn.IDLE:
                    with isolated(self._view, "show the time", chat.id):
                        self.show(reducer.tick(chat, now()))
            if not self._any_runs():
                self._running = anyio.Event()

    def _any_runs(self) -> bool:
        return any(chat.turn.state is not Turn.IDLE for chat in self.table.values())
