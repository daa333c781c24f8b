"""Inbox: turns a server's notifications into agent events.

Every one becomes events, or a line in the debug log if this client does not use it. Updates are
partial: None in an event means unchanged.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, TypeVar

from msgspec.structs import replace

from eca_nvim.agents import recap
from eca_nvim.agents.eca.chat_options import ChatOptions
from eca_nvim.agents.eca.contents import ToolCallReader, content_event, plain_text
from eca_nvim.agents.eca.introduction import Readiness
from eca_nvim.agents.eca.known_tools import Peeks
from eca_nvim.agents.eca.login import ProviderLogins
from eca_nvim.agents.eca.prompts import Mentions, user_text
from eca_nvim.agents.eca.replay import Replays
from eca_nvim.agents.eca.tool_servers import EcaToolServers
from eca_nvim.agents.eca.turns import Turns
from eca_nvim.chat.vocabulary import agent_events, events, turn_events
from eca_nvim.chat.vocabulary.agent_events import AgentEvent
from eca_nvim.chat.vocabulary.events import Addressed, ChatEvent
from eca_nvim.chat.vocabulary.previews import ASIDE, AnswerReplaced
from eca_nvim.chat.vocabulary.states import TurnEnd
from eca_nvim.protocol.eca import (
    Unknown,
    chat,
    code,
    content,
    lifecycle,
    memory,
    providers,
    tools,
)
from eca_nvim.protocol.eca.tool_call import ToolCall
from eca_nvim.redaction import without_keys

_T = TypeVar("_T")

_JOB_STATES: Final = frozenset(turn_events.JobState) - {turn_events.JobState.ENDED}

_LEVELS: Final = {lifecycle.NoticeLevel.ERROR: "error", lifecycle.NoticeLevel.WARNING: "warn"}

_FINISHED: Final = content.ProgressState.FINISHED
_COMPACTED: Final = ("Compacted chat", "Auto-compacted chat")
"""What a server says after it has replaced a chat's messages by a summary."""

_CONFIG: Final = "/config"
"""The command to which a server says its configuration, with the keys of providers in clear."""

logger = logging.getLogger(__name__)


class Inbox:
    """Reads the notifications of one server process, decoded and in today's words."""

    def __init__(
        self,
        turns: Turns,
        options: ChatOptions,
        mentions: Mentions,
        replays: Replays,
        readiness: Readiness,
        logins: ProviderLogins,
        tool_servers: EcaToolServers,
    ) -> None:
        self._turns = turns
        self._options = options
        self._mentions = mentions
        self._replays = replays
        self._readiness = readiness
        self._logins = logins
        self._calls = ToolCallReader()
        self._peeks = Peeks()
        self.jobs: tuple[tools.Job, ...] = ()
        """The commands in the background, as the server last listed them."""
        self._show_keys: set[str | None] = set()  # chats whose last prompt was /config
        self._readers: Mapping[type, Callable[[Any], Sequence[AgentEvent]]] = {
            content.ContentReceived: self._content,
            chat.StatusChanged: self._status,
            chat.ChatOpened: lambda it: (Addressed(it.chat_id, events.ChatOpened(it.title)),),
            chat.ChatCleared: lambda it: _about(it, events.ChatCleared(it.messages is not False)),
            chat.ChatDeleted: self._deleted,
            chat.ConfigUpdated: self._config,
            lifecycle.TaskProgress: self._progress,
            lifecycle.ShowMessage: lambda it: (
                agent_events.MessageShown(_LEVELS.get(it.type, "info"), it.message),
            ),
            tools.JobsUpdated: self._jobs,
            memory.MemoryIndexLoaded: _memory_loaded,
            tools.ToolServerUpdated: tool_servers.updated,
            tools.ToolServerRemoved: lambda it: tool_servers.removed(it.name),
            providers.ProvidersUpdated: self._provider,
            code.RewriteContentReceived: _rewrite,
            Unknown: _unknown,
        }

    def read(self, message: object) -> Sequence[AgentEvent]:
        """Turn one message into events, in order; replayed ones are kept apart: hot path."""
        reader = self._readers.get(type(message))
        if reader is None:
            logger.debug("no use yet for %r", message)
            return ()
        said = reader(message)
        return self._replays.sort(said) if self._replays.awaited else said

    def _content(self, received: content.ContentReceived) -> Sequence[Addressed]:
        chat_id, piece = received.chat_id, received.content
        event: ChatEvent | None
        before: ChatEvent | None = None
        if isinstance(piece, ToolCall):
            event = self._peeks.peek(chat_id or "", self._calls.event(piece))
        elif type(piece) is content.ProgressContent and piece.state is _FINISHED:
            event = self._turn(chat_id, self._turns.finished(chat_id))
        else:
            event = content_event(received)
            if type(event) is events.TextReceived and event.role is not events.Role.ASSISTANT:
                if self._replays.awaited:
                    before = self._recap(chat_id, event)
                event = self._read_message(chat_id, event)
        if chat_id in self._mentions.underway and received.role is content.Role.ASSISTANT:
            self._mentions.answered(chat_id)
        # A broken config is reported in a content without a chat.
        if event is None:
            return ()
        said = (Addressed(chat_id, event, received.parent_chat_id),)
        return said if before is None else (Addressed(chat_id, before), *said)

    def _recap(self, chat_id: str | None, message: events.TextReceived) -> ChatEvent | None:
        """Return what a prompt that is replayed told a new session; at first the chat showed it."""
        is_replayed = chat_id is not None and self._replays.has(chat_id)
        said, _ = recap.unwrap(message.text) if is_replayed else ("", "")
        return events.NoticeReceived(said, title=recap.HEADING) if said else None

    def _read_message(self, chat_id: str | None, message: events.TextReceived) -> ChatEvent:
        """Read a whole message: of the user without contexts, of the server without its keys."""
        if message.text.strip() in _COMPACTED and chat_id is not None:
            self._mentions.shortened(chat_id)
        if message.role is events.Role.SYSTEM:
            shows_keys = chat_id in self._show_keys
            return replace(message, text=without_keys(message.text)) if shows_keys else message
        text = self._mentions.read(user_text(message.text))
        if text.split()[:1] == [_CONFIG]:
            self._show_keys.add(chat_id)
        else:
            self._show_keys.discard(chat_id)
        return replace(message, text=text)

    # --- turns and chats -------------------------------------------------------------------------

    def _turn(self, chat_id: str | None, event: ChatEvent | None) -> ChatEvent | None:
        """Forget what was half written when a turn begins or ends: its calls may lack an end."""
        return None if event is None else self._peeks.peek(chat_id or "", event)

    def _status(self, message: chat.StatusChanged) -> Sequence[AgentEvent]:
        event = self._turn(message.chat_id, self._turns.status(message.chat_id, message.status))
        return () if event is None else (Addressed(message.chat_id, event),)

    def _deleted(self, message: chat.ChatDeleted) -> Sequence[AgentEvent]:
        self._turns.deleted(message.chat_id)
        return _about(message, events.ChatDeleted())

    # --- the server as a whole -------------------------------------------------------------------

    def _config(self, message: chat.ConfigUpdated) -> Sequence[AgentEvent]:
        self._readiness.models_known(message.chat.models if message.chat else None)
        return self._options.announce(message)

    def _progress(self, message: lifecycle.TaskProgress) -> Sequence[AgentEvent]:
        self._readiness.progressed(message)
        done = message.type is lifecycle.ProgressKind.FINISH
        title = message.title or message.task_id
        return (agent_events.WorkChanged(message.task_id, title, done),)

    def _jobs(self, message: tools.JobsUpdated) -> Sequence[AgentEvent]:
        self.jobs = message.jobs
        jobs = (
            turn_events.Job(
                title=job.label or job.summary or job.id,
                state=turn_events.JobState(job.status),
                exit_code=job.exit_code,
                chat_id=job.chat_id,
                call_id=job.tool_call_id,
                id=job.id,
                started=_seconds(job.started_at),
            )
            for job in message.jobs
            if job.status in _JOB_STATES
        )
        return (agent_events.JobsChanged(tuple(jobs)),)

    def _provider(self, message: providers.ProvidersUpdated) -> Sequence[AgentEvent]:
        return self._logins.updated(message)


def _memory_loaded(loaded: memory.MemoryIndexLoaded) -> Sequence[AgentEvent]:
    if loaded.chat_id is None:
        return ()
    return (agent_events.MemoryLoaded(loaded.chat_id, loaded.count, loaded.total_count),)


def _rewrite(received: code.RewriteContentReceived) -> Sequence[AgentEvent]:
    """Return what a server says about a rewrite; an error is its end, no `finished` follows."""
    event: ChatEvent
    if not received.rewrite_id.startswith(ASIDE):  # not asked for, and maybe the id of a chat
        return ()
    match received.content:
        case code.RewriteText(text=text):
            event = events.TextReceived(events.Role.ASSISTANT, text)
        case code.RewriteReplace(text=text):
            event = AnswerReplaced(text)
        case code.RewriteFinished():
            event = turn_events.TurnEnded()
        case code.RewriteError(message=message):
            event = turn_events.TurnEnded(TurnEnd.FAILED, message or "the server has not said why")
        case _:
            return ()
    return (Addressed(received.rewrite_id, event),)


def _seconds(time: str | None) -> float | None:
    """Return the seconds since 1970 of an ISO 8601 time; None if it is none."""
    try:
        return None if time is None else datetime.fromisoformat(time).timestamp()
    except ValueError:
        return None


def _about(
    message: chat.ChatOpened | chat.ChatCleared | chat.ChatDeleted, event: ChatEvent
) -> Sequence[AgentEvent]:
    """Address an event to its chat; the server may name none."""
    return () if message.chat_id is None else (Addressed(message.chat_id, event),)


def _unknown(message: Unknown) -> Sequence[AgentEvent]:
    """Show an unknown message if it names a chat."""
    params = message.params
    if isinstance(params, dict) and isinstance(params.get("chatId"), str):
        shown = events.UnknownReceived(message.method, plain_text(params))
        return (Addressed(params["chatId"], shown),)
    logger.debug("unknown notification %s: %r", message.method, params)
    return ()
