"""What the agent says, and whom it concerns.

Rules kept here:
- An event without a chat is for the chat the user last used.
- A chat nobody knows is made when it has something to show; that one is gone is no news.
- A fault in one event is our own: logged with its traceback, told in one line, and the next event
  is heard.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence

from eca_nvim.chat.model.chat import Chat
from eca_nvim.chat.model.routing import route
from eca_nvim.chat.text.joined_text import join_text
from eca_nvim.chat.text.safe_text import one_line
from eca_nvim.chat.vocabulary.events import (
    Addressed,
    AgentEvent,
    ChatCleared,
    ChatDeleted,
    ChoicesChanged,
    JobsChanged,
    MessageShown,
    NoticeReceived,
    ProgressChanged,
    PromptAnswered,
    ToolServerChanged,
    TurnChanged,
    UsageReported,
    WorkChanged,
)
from eca_nvim.chat.vocabulary.ops import Emit, Notify
from eca_nvim.session.background_work import Work
from eca_nvim.session.chats import Chats
from eca_nvim.session.choices import Choices, announced
from eca_nvim.session.tool_servers import ToolServers
from eca_nvim.session.trust import Trust
from eca_nvim.session.view import View, isolated

_NO_NEWS = (ChatCleared, ChatDeleted, TurnChanged, UsageReported, ProgressChanged)
"""What makes no chat of one that nobody knows."""

NO_MODEL = "no model: type /login, or see :Eca log"

log = logging.getLogger(__name__)


class Hearing:
    """Takes the agent's events to the chats."""

    def __init__(self, chats: Chats, choices: Choices, trust: Trust, view: View) -> None:
        self._chats = chats
        self._choices = choices
        self._trust = trust
        self._view = view
        self._work = Work()
        self._tool_servers = ToolServers()
        self._ready = False
        self.attending: str | None = None
        """The chat the user last used."""

    def hear(self, events: Sequence[AgentEvent]) -> None:
        """Take events in order; nothing in them can stop the agent's connection."""
        with self._chats.together():
            for event in join_text(events):
                with isolated(self._view, "show what the agent said", event):
                    self._take(event)

    def agent_gone(self) -> None:
        """Take that nobody works any more."""
        self._choices.agent_gone()
        self._ready = False
        self._tool_servers.end()
        self._view.push([self._work.end()])

    def agent_ready(self) -> None:
        """Take that prompts can be sent; say in every chat when no model will answer them."""
        self._ready = True
        for chat in self._chats:
            self._check_models(chat)

    def _check_models(self, chat: Chat) -> None:
        if self._ready and self._choices.lack_models:
            self._chats.apply(chat, [NoticeReceived(NO_MODEL, is_error=True)])

    def _take(self, event: AgentEvent) -> None:
        match event:
            case Addressed():
                self._take_addressed(event)
            case ChoicesChanged():
                self._take_choices(event)
            case MessageShown(level, text):
                self._view.push([Notify(level, one_line(text))])
            case WorkChanged():
                self._view.push([self._work.take(event)])
            case JobsChanged():
                self._view.push([self._work.take_jobs(event)])
            case ToolServerChanged():
                self._view.push(self._tool_servers.take(event))

    def _take_addressed(self, addressed: Addressed) -> None:
        chat_id, child = route(self._chats.table, addressed)
        chat_id = self.attending if chat_id is None else chat_id
        event = addressed.event
        if chat_id is None:
            log.warning("for no chat: %r", event)
            return
        if chat_id not in self._chats.table:
            if isinstance(event, _NO_NEWS):
                return
            self._chats.apply(self._chats.get(chat_id), [self._choices.defaults(chat_id)])
        if isinstance(event, PromptAnswered) and child is None:
            event = self._choices.answered(chat_id, event)
        self._chats.apply(self._chats.get(chat_id), [event], child)
        if isinstance(event, ChatDeleted) and child is None:
            self._view.push([Emit("EcaChatClosed", {"chat": chat_id})])

    def _take_choices(self, event: ChoicesChanged) -> None:
        subject = self._chats.table.get(event.chat_id or "")
        self._view.push([self._choices.take(event, subject)])
        if event.chat_id is not None:
            if event.chat_id in self._chats.table:
                self._chats.apply(self._chats.get(event.chat_id), [announced(event)])
            return
        for chat, choice in self._choices.force(event, list(self._chats)):
            self._chats.apply(chat, [choice])
        for chat in self._chats:
            self._chats.apply(chat, [self._choices.defaults(chat.id)])
            if event.welcome:
                self._greet(chat, event.welcome)
        if event.wants_trust is not None:
            self._trust.wanted(self.attending, wanted=event.wants_trust)

    def _greet(self, chat: Chat, welcome: str) -> None:
        if not chat.blocks:
            self._chats.apply(chat, [NoticeReceived(welcome.strip())])

    def introduce(self, chat: Chat) -> None:
        """Let a new chat know what the agent said before there was one."""
        self._chats.apply(chat, [self._choices.defaults(chat.id)])
        if self._choices.welcome:
            self._greet(chat, self._choices.welcome)
        self._check_models(chat)
        self._trust.introduce(chat)
