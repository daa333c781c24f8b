"""Incoming: the events of a server, each applied to its chat; turns that have gone silent.

Rules kept here:
- One question at a time; without an answer in time the state stays unknown.
- An event without a chat is for the chat the user last used; what closes a question is for the chat
  that shows it. A question gets a new chat if there is none: the agent waits for the answer.
- An event for a chat of another server is dropped.
- An event for an unknown chat creates it, unless the event has nothing to show in a new chat.
- An exception in one event is our own fault: it is logged with its traceback, reported in one
  line, and the next event is handled.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import dropwhile, groupby
from uuid import uuid4

from eca_nvim.chat.handlers.questions import find_question
from eca_nvim.chat.model.chat import Chat, owner, route
from eca_nvim.chat.text.joined_text import join_text
from eca_nvim.chat.text.safe_text import one_line
from eca_nvim.chat.vocabulary import agent_events, login, ops, turn_events
from eca_nvim.chat.vocabulary.events import (
    Addressed,
    ChatCleared,
    ChatDeleted,
    ChatEvent,
    NoticeReceived,
    ProgressChanged,
    QuestionAsked,
    QuestionClosed,
)
from eca_nvim.chat.vocabulary.options import (
    ALL_ABILITIES,
    AbilitiesChanged,
    OptionRefused,
    OptionsChanged,
)
from eca_nvim.session.background_work import BackgroundWork, ToolServers
from eca_nvim.session.chats import Chats
from eca_nvim.session.options import Options
from eca_nvim.session.trust import Trust
from eca_nvim.session.view import SHOW, View, isolated

ANSWER_TIMEOUT = 5.0
"""Seconds that an agent has to list its chats."""

log = logging.getLogger(__name__)


_CREATES_NO_CHAT = (
    ChatCleared,
    ChatDeleted,
    OptionRefused,
    OptionsChanged,
    ProgressChanged,
    QuestionClosed,
    turn_events.TurnEvent,
    turn_events.UsageReported,
)
"""Events that are ignored when their chat is unknown."""

_ALONE = frozenset({ChatDeleted, OptionRefused, OptionsChanged, QuestionAsked, QuestionClosed})
"""Events that also concern the session, or choose their chat; each is handled alone."""


class IncomingEvents:
    """Applies the events of a server to its chats."""

    def __init__(
        self,
        server: str,
        chats: Chats,
        options: Options,
        trust: Trust,
        view: View,
        login_needed: Callable[[login.LoginNeeded], None],
    ) -> None:
        self._server = server
        self._chats = chats
        self._options = options
        self._trust = trust
        self._view = view
        self._login_needed = login_needed
        self._background_work = BackgroundWork(server, lambda it: owner(chats.table, it))
        self._tool_servers = ToolServers()
        self.welcome: str | None = None
        self.last_used_chat: str | None = None
        """The chat the user last used."""

    def receive(self, events: Sequence[agent_events.AgentEvent]) -> None:
        """Handle events in order; a fault in one of them never ends the agent's connection."""
        with self._chats.batch():
            for run in _runs(join_text(events)):
                with isolated(self._view, SHOW, run[0]):
                    self._handle(run)

    @property
    def has_work(self) -> bool:
        """Whether the agent does something beside its chats."""
        return self._background_work.is_running

    def agent_ended(self) -> None:
        """Clear what an agent that has ended was doing."""
        self._options.agent_ended()
        self._chats.abilities_changed(self._server, ALL_ABILITIES)
        self._tool_servers.clear()
        killed, nothing = self._background_work.clear()
        self._view.push([nothing])
        self._show_jobs(killed)

    def _handle(self, run: Sequence[agent_events.AgentEvent]) -> None:
        match event := run[0]:
            case Addressed():
                told = [it.event for it in run if isinstance(it, Addressed)]
                self._apply_to_chat(event, told)
            case AbilitiesChanged(abilities):
                self._chats.abilities_changed(self._server, abilities)
            case agent_events.TrustWanted(wanted):
                self._trust.server_wants(self.last_used_chat, wanted=wanted)
            case login.LoginNeeded():
                self._login_needed(event)
            case agent_events.Welcomed(text):
                self._welcome(text)
            case agent_events.MessageShown(level, text):
                self._view.push([ops.Notify(level, one_line(text))])
            case agent_events.WorkChanged():
                self._view.push([self._background_work.update_task(event)])
            case agent_events.JobsChanged(jobs):
                self._show_jobs(jobs)
                self._view.push([self._background_work.update_jobs(jobs)])
            case agent_events.ToolServerChanged():
                self._view.push(self._tool_servers.update(event))

    def _show_jobs(self, jobs: Sequence[turn_events.Job]) -> None:
        """Show jobs at the calls that have started them."""
        for job in jobs:
            chat_id, child = route(self._chats.table, Addressed(job.chat_id, job))
            if chat_id in self._chats.table:
                self._chats.apply(self._chats.get(chat_id), [job], child)

    def _apply_to_chat(self, addressed: Addressed, events: Sequence[ChatEvent]) -> None:
        """Apply events to their chat; `addressed`: the first of them."""
        chat_id, child = route(self._chats.table, addressed)
        if addressed.chat_id is None:
            chat_id = self._chat_for(addressed.event)
        if chat_id is None:
            log.warning("no chat to show an event in: %r", addressed.event)
            return
        if chat_id not in self._chats.table:
            events = [*dropwhile(lambda event: isinstance(event, _CREATES_NO_CHAT), events)]
            if not events:
                return
            self._options.open_chat(self._chats.get(chat_id, self._server))
        elif self._chats.table[chat_id].server_name != self._server:
            line = "%s sent an event for another server's chat: %r"
            log.warning(line, self._server, addressed.event)
            return
        chat = self._chats.get(chat_id)
        match events:
            case [OptionsChanged() | OptionRefused() as event] if child is None:
                self._options.apply(chat, event)
            case _:
                self._chats.apply(chat, events, child)
        match events:
            case [ChatDeleted()] if child is None:
                self._view.push([ops.Emit("EcaChatClosed", {"chat": chat_id})])

    def _chat_for(self, event: ChatEvent) -> str | None:
        """Return the chat for an event that names none."""
        if isinstance(event, QuestionClosed):
            chats = self._chats.of(self._server)
            return next((it.id for it in chats if find_question(it, event.id) is not None), None)
        used = self._chats.table.get(self.last_used_chat or "")
        is_ours = used is not None and used.server_name == self._server
        if isinstance(event, QuestionAsked) and not is_ours:
            return str(uuid4())
        return self.last_used_chat

    def _welcome(self, text: str) -> None:
        self.welcome = text
        for chat in self._chats.of(self._server):
            self.show_welcome(chat)

    def show_welcome(self, chat: Chat) -> None:
        """Show what the agent says in a chat that has nothing in it."""
        if self.welcome and not chat.blocks:
            self._chats.apply(chat, [NoticeReceived(self.welcome.strip())])

    def chat_created(self, chat: Chat) -> None:
        """Apply to a chat that the user began what the agent announced before."""
        self.show_welcome(chat)
        self._options.begin(chat)
        self._trust.chat_created(chat)


def _runs(events: Iterable[agent_events.AgentEvent]) -> Iterator[Sequence[agent_events.AgentEvent]]:
    """Yield neighbours that are for the same chat together, and all other events alone."""
    for address, run in groupby(events, _address):
        if address is None:
            yield from ([event] for event in run)
        else:
            yield [*run]


def _address(event: agent_events.AgentEvent) -> object:
    """Return a key of the chat that an event is for; None for an event that comes alone."""
    if type(event) is not Addressed or type(event.event) in _ALONE:
        return None
    return (event.chat_id, event.parent_id)
