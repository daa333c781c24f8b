"""Chats: the chats of a session: applies events and intents to them, passes on what changed."""

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple

import anyio
from msgspec.structs import replace

from eca_nvim.chat.handlers import reducer
from eca_nvim.chat.model.blocks import Changes, TextBlock, ToolBlock, open_question
from eca_nvim.chat.model.chat import Chat
from eca_nvim.chat.model.display_settings import RenderSettings
from eca_nvim.chat.update import Update
from eca_nvim.chat.user_actions.approvals import PendingList
from eca_nvim.chat.vocabulary import call_details, effects, ops, options
from eca_nvim.chat.vocabulary.events import ChatEvent
from eca_nvim.review.ledger import RECORDED, Ledger
from eca_nvim.session.proposals.call_warnings import disk_warnings
from eca_nvim.session.proposals.whole_writes import CallEvent, with_actual_diff
from eca_nvim.session.view import SHOW, ChatGone, View, report_fault

REFRESH_INTERVAL = 1.0
"""Seconds between two updates of the times that are shown."""
DELETED = 100
"""Deleted chats that are remembered."""


def now() -> int:
    """Return the monotonic time in ms."""
    return time.monotonic_ns() // 1_000_000


def _settle(update: Update, event: ChatEvent) -> ChatEvent:
    from eca_nvim.session.proposals.partial_writes import settle  # noqa: PLC0415 - few calls need it

    return settle(update, event)


def _differs(chosen: call_details.HunkChoice) -> bool:
    from eca_nvim.session.proposals.partial_writes import differs  # noqa: PLC0415 - as in `_settle`

    return differs(chosen)


class _ServerState(NamedTuple):
    state: str = "stopped"
    folder: str | None = None
    abilities: frozenset[options.Ability] = options.ALL_ABILITIES


class Chats:
    """All chats, by id."""

    outside: Callable[[str], effects.Outside]
    """Returns what makes the calls of the chats of a server, by its name; set by `Servers`."""

    def __init__(
        self,
        view: View,
        settings: RenderSettings,
        ledger: Ledger,
    ) -> None:
        self._view = view
        self._ledger = ledger
        self._settings = settings
        self._servers: dict[str, _ServerState] = {}
        self._running = anyio.Event()
        self._shown = PendingList()  # one list for all chats
        self._batch: dict[str, Chat] | None = None  # the chats that events of one read concern
        self.table: dict[str, Chat] = {}
        self.deleted: deque[str] = deque(maxlen=DELETED)
        """Chats that the user has deleted last: what agents still send of them is nobody's."""
        self.default_server: str = ops.DEFAULT_SERVER
        """The name of the server of a chat that names none."""
        self.on_change: Callable[[], None] | None = None
        """Called when what is known of a chat or a server has changed, while a panel shows it."""

    def __iter__(self) -> Iterator[Chat]:
        return iter(tuple(self.table.values()))

    @property
    def folders(self) -> Sequence[str]:
        """The folders of the workspace, absolute."""
        return self._settings.folders

    def of(self, server: str) -> tuple[Chat, ...]:
        """Return the chats of a server."""
        return tuple(chat for chat in self if chat.server_name == server)

    def get(self, chat_id: str, server: str | None = None, *, again: bool = False) -> Chat:
        """Return a chat; creates it if it is new. `server`: that of a new chat, by its name.

        again: also one that was deleted, as the user opens it or writes to it. Else it raises
        ChatGone: what was on its way as that was deleted does not bring it back.
        """
        chat = self.table.get(chat_id)
        if chat is None:
            if chat_id in self.deleted:
                if not again:
                    raise ChatGone(chat_id)
                self.deleted.remove(chat_id)
            chat = self.table[chat_id] = Chat(chat_id)
            chat.turn.number = self._ledger.last_numbers.get(chat_id, 0)
            self._view.push([ops.Emit("EcaChatOpened", {"chat": chat_id})])
            self.assign(chat, server or self.default_server)
        return chat

    def follow(self, last: Mapping[str, int]) -> None:
        """Let chats that open from now on number their turns after the last ones, by chat."""
        self._ledger.last_numbers = {**self._ledger.last_numbers, **last}

    def assign(self, chat: Chat, server: str) -> None:
        """Make a chat one of a server."""
        chat.server_name = server
        chat.settings = self._settings_of(server)
        self.show(reducer.server_changed(chat, self._of(server).state, now()))
        self.show(reducer.abilities_changed(chat, self._of(server).abilities, now()))

    def forget(self, chat_id: str, *, announced: bool = False) -> None:
        """Remove a chat and its buffers; `announced`: EcaChatClosed was already emitted."""
        chat = self.table.pop(chat_id, None)
        if chat is not None:
            chat.forgotten = True
            self.deleted.append(chat_id)
            self._ledger.forget(chat_id)
            self._view.push(
                [self._shown.update(self.table.values(), disk_warnings), ops.ForgetChat(chat_id)]
            )
            if not announced:
                self._view.push([ops.Emit("EcaChatClosed", {"chat": chat_id})])
            self.changed()

    def apply(self, chat: Chat, events: Iterable[ChatEvent], child: str | None = None) -> None:
        """Apply events to a chat and show what they changed; a fault in one loses only that one.

        child: the subagent's chat in it that they concern.
        """
        is_batch = self._batch is not None
        if self._batch is not None:
            self._batch[chat.id] = chat
        update = Update(chat, chat.lane(child), now(), more_follow=is_batch)
        for received in events:
            event = received
            try:
                if isinstance(received, CallEvent):
                    event = with_actual_diff(chat, received, self._ledger.seen_before, child)
                if chat.partial:
                    event = _settle(update, event)
                reducer.change(update, event)
                if update.about is not None or isinstance(event, RECORDED):
                    self._ledger.record(chat, event, update.about)
            except Exception as fault:  # noqa: BLE001 - a bug of ours; go on with the next event
                report_fault(self._view, SHOW, received, fault)
            if update.effects or update.events:  # these do not wait for further events
                self.show(update.finish())
                update = Update(chat, chat.lane(child), now(), more_follow=is_batch)
        self.show(update.finish())

    @contextmanager
    def batch(self) -> Iterator[None]:
        """Draw the headers and the status once for all events applied inside."""
        if self._batch is not None:  # an effect was answered at once
            yield
            return
        batch = self._batch = dict[str, Chat]()
        try:
            yield
        finally:
            self._batch = None
            for chat in batch.values():
                used = chat.used
                looks_for = used.named or used.ended
                if chat.stale or chat.status_is_stale or used.is_stale or looks_for:
                    self.show(Update(chat, chat.root, now()).finish())

    def show(self, changes: Changes) -> None:
        """Push the ops of changes to the view, then make the calls of their effects."""
        shown = changes.ops
        if changes.pending_changed:  # before the autocommands, whose listeners ask for the list
            first = next((i for i, op in enumerate(shown) if isinstance(op, ops.Emit)), len(shown))
            shown = [
                *shown[:first],
                self._shown.update(self.table.values(), disk_warnings),
                *shown[first:],
            ]
        if shown:
            self._view.push(shown)
            # A lone chunk has no status: nothing that a panel shows has changed.
            if self.on_change and any(type(op) is ops.SetStatus for op in shown):
                self.on_change()
        if changes.runs:
            self._running.set()
        for effect in changes.effects:
            effect(self.outside(changes.server))

    def number_after(self, last: Mapping[str, int]) -> None:
        """Let the turns of chats follow those of earlier Neovims; `last`: their number by chat."""
        for chat in self:
            more = last.get(chat.id, 0)
            chat.turn.number += more
            for block in chat.root.blocks:
                if isinstance(block, TextBlock) and block.turn:
                    block.turn += more

    def changed(self) -> None:
        """Have panels drawn again: something that they show beside the chats has changed."""
        if self.on_change:
            self.on_change()

    def recheck_request(self, chat: Chat, block_id: int) -> None:
        """Show a pending request again if its warnings about files on disk have changed."""
        # All else that a request shows tells the request when it changes; a disk does not.
        block = chat.blocks.get(block_id)
        if not isinstance(block, ToolBlock) or block.request is None or open_question(block):
            return
        chosen = block.request.chosen
        is_stale = chosen is not None and _differs(chosen)
        if is_stale or disk_warnings(chat, block.call) != block.request.on_disk:
            block.request.changed()
            self._view.push([self._shown.update(self.table.values(), disk_warnings)])

    def resend_pending(self) -> None:
        """Send all pending requests whole with the next change, not only what is new."""
        self._shown = PendingList()

    def render_with(self, *, follow: bool, diff_lines: int) -> None:
        """Set what the user may change while the host runs, see RenderSettings."""
        self._settings = replace(self._settings, follow=follow, diff_lines=diff_lines)
        for chat in self:
            chat.settings = self._settings_of(chat.server_name)

    def server_changed(self, server: str, state: str, folder: str | None = None) -> None:
        """Show the state of a server's process in its chats.

        folder: the server's own working folder, which counts as part of the workspace.
        """
        self._servers[server] = self._of(server)._replace(state=state, folder=folder)
        settings = self._settings_of(server)
        for chat in self.of(server):
            if chat.settings != settings:
                self.show(reducer.settings_changed(chat, settings, now()))
        for chat in self.of(server):
            self.show(reducer.server_changed(chat, state, now()))

    def folders_changed(self) -> None:
        """Show what waits for the user again: it may be in other folders of the workspace now."""
        for chat in self:
            self.show(reducer.settings_changed(chat, self._settings_of(chat.server_name), now()))

    def abilities_changed(self, server: str, abilities: frozenset[options.Ability]) -> None:
        """Note what a server can do."""
        self._servers[server] = self._of(server)._replace(abilities=abilities)
        for chat in self.of(server):
            self.show(reducer.abilities_changed(chat, abilities, now()))

    def _of(self, server: str) -> _ServerState:
        return self._servers.get(server, _ServerState())

    def _settings_of(self, server: str) -> RenderSettings:
        folder = self._of(server).folder
        if folder is None:
            return self._settings
        return replace(self._settings, folders=(*self._settings.folders, folder))

    async def update_times(self) -> None:
        """Update the times shown while turns run; sleeps while none does."""
        while True:
            await self._running.wait()
            await anyio.sleep(REFRESH_INTERVAL)
            self._running = anyio.Event()  # set again by a change that a time goes on with
            for chat in tuple(self.table.values()):
                if chat.shows_time:
                    try:
                        self.show(reducer.tick(chat, now()))
                    except Exception as fault:  # noqa: BLE001 - as in `apply`
                        report_fault(self._view, "show the time", chat.id, fault)
