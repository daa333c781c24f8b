"""Inbox: turns a server's notifications into agent events.

Rules kept here:
- Updates are partial. None in an event means unchanged; a removed variant is "" (ECA:
  `selectVariant` null), and an empty list means that there is nothing to choose from.
- Every notification becomes events, or a line in the debug log if this client does not use it. A
  malformed one is logged and skipped; an unknown one is shown if it names a chat.
- The session sees only our chat ids. A message whose chat is ambiguous is held until the response
  to a prompt identifies the chat.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeVar

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from eca_nvim.agents.eca.chat_ids import ChatIds
from eca_nvim.agents.eca.chat_options import Announced, ChatOptions
from eca_nvim.agents.eca.content.chat_content import CodeBlocks, content_event
from eca_nvim.agents.eca.content.known_tools import Peeks
from eca_nvim.agents.eca.content.proposals import Proposals
from eca_nvim.agents.eca.content.tool_calls import ToolCallReader, plain_text
from eca_nvim.agents.eca.dialect import Dialect, Generation
from eca_nvim.agents.eca.introduction import Readiness
from eca_nvim.agents.eca.login import ProviderLogins, ToolServerLogins
from eca_nvim.agents.eca.prompt.mentions import Mentions
from eca_nvim.agents.eca.replay import Replays, user_text
from eca_nvim.agents.eca.turns import EndKind, EndReported
from eca_nvim.chat.vocabulary import agent_events, events, turn_events
from eca_nvim.chat.vocabulary.events import Addressed, ChatEvent
from eca_nvim.protocol.eca import (
    DecodeError,
    Unknown,
    chat,
    decode_notification,
    lifecycle,
    providers,
)
from eca_nvim.protocol.eca.content import ContentReceived, FileChangeContent, Role, TextContent
from eca_nvim.protocol.eca.tools import Job as EcaJob
from eca_nvim.protocol.eca.tools import JobsUpdated, ToolServerRemoved, ToolServerUpdated
from eca_nvim.redaction import without_keys

_T = TypeVar("_T")

_JOB_STATES: Final = frozenset(turn_events.JobState)

_LEVELS: Final[Mapping[lifecycle.NoticeLevel, str]] = {
    lifecycle.NoticeLevel.ERROR: "error",
    lifecycle.NoticeLevel.WARNING: "warn",
    lifecycle.NoticeLevel.INFO: "info",
    lifecycle.NoticeLevel.UNKNOWN: "info",
}


def initial_choices(result: lifecycle.InitializeResult) -> Announced:
    """Read the choices that an older server sends in its response to initialize."""
    return Announced(
        models=result.models,
        agents=result.agents,
        model=result.default_model,
        agent=result.default_agent,
        welcome=result.welcome_message,
        bring_models=not result.agents,
    )


def changed_choices(update: chat.ConfigUpdated, chat_id: str | None) -> Announced:
    """Read config/updated; `chat_id` is our id of the chat it applies to, None for all.

    The trust of a single chat is ignored: it only repeats the user's choice.
    """
    config = update.chat or chat.ChatConfig()
    selected = {"model": config.select_model, "agent": config.select_agent}
    forced = () if chat_id else tuple(what for what, name in selected.items() if _given(name))
    return Announced(
        models=_given(config.models),
        agents=_given(config.agents),
        variants=_given(config.variants),
        model=_given(config.select_model, config.default_model),
        agent=_given(config.select_agent, config.default_agent),
        variant="" if config.select_variant is None else _given(config.select_variant),
        wants_trust=_given(config.select_trust) if chat_id is None else None,
        welcome=_given(config.welcome_message),
        chat_id=chat_id,
        forced=forced,
        bring_models=not config.of_behaviors,
    )


def _given(value: _T | UnsetType | None, otherwise: _T | UnsetType | None = UNSET) -> _T | None:
    if value is UNSET:
        return None if otherwise is UNSET else otherwise
    return value


def tool_server(update: ToolServerUpdated) -> agent_events.ToolServerChanged:
    """Read tool/serverUpdated; null means the same as a missing value."""
    tools = _given(update.tools)
    return agent_events.ToolServerChanged(
        name=update.name,
        status=_given(update.status),
        kind=_given(update.type),
        tools=None if tools is None else tuple(tool.name for tool in tools),
    )


def removed_tool_server(removal: ToolServerRemoved) -> agent_events.ToolServerChanged:
    """Read tool/serverRemoved."""
    return agent_events.ToolServerChanged(name=removal.name, removed=True)


def work(progress: lifecycle.TaskProgress) -> agent_events.WorkChanged:
    """Read $/progress."""
    done = progress.type is lifecycle.ProgressKind.FINISH
    return agent_events.WorkChanged(progress.task_id, progress.title or progress.task_id, done)


def jobs(update: JobsUpdated, ours: Callable[[str], str]) -> agent_events.JobsChanged:
    """Read jobs/updated; `ours` returns our id of a chat."""
    return agent_events.JobsChanged(
        tuple(
            turn_events.Job(
                title=job.label or job.summary or job.id,
                state=turn_events.JobState(job.status),
                exit_code=job.exit_code,
                chat_id=None if job.chat_id is None else ours(job.chat_id),
                call_id=job.tool_call_id,
            )
            for job in update.jobs
            if job.status in _JOB_STATES
        )
    )


def message_shown(shown: lifecycle.ShowMessage) -> agent_events.MessageShown:
    """Read $/showMessage."""
    return agent_events.MessageShown(_LEVELS[shown.type], shown.message)


_COMPACTED: Final = ("Compacted chat", "Auto-compacted chat")
"""What a server says after it has replaced a chat's messages by a summary."""

_CONFIG: Final = "/config"
"""The command to which a server says its configuration, with the keys of providers in clear."""

_TURNS: Final[Mapping[chat.ChatStatus, ChatEvent]] = {
    chat.ChatStatus.IDLE: EndReported(kind=EndKind.IDLE),
    chat.ChatStatus.RUNNING: turn_events.TurnBegan(),
    chat.ChatStatus.STOPPING: turn_events.TurnStopping(),
    chat.ChatStatus.LOGIN: turn_events.LoginBegan(),
}

logger = logging.getLogger(__name__)


class Inbox:
    """Reads the notifications of one server process."""

    def __init__(
        self,
        chats: ChatIds,
        readiness: Readiness,
        mentions: Mentions,
        replays: Replays,
        dialect: Dialect,
        proposals: Proposals,
        options: ChatOptions,
        logins: ProviderLogins,
        tool_servers: ToolServerLogins,
    ) -> None:
        self._chats = chats
        self._dialect = dialect
        self._proposals = proposals
        self._options = options
        self._logins = logins
        self._tool_servers = tool_servers
        self._held: list[ContentReceived | chat.StatusChanged] = []
        self._code_blocks = CodeBlocks()
        self._calls = ToolCallReader()
        self._peeks = Peeks()
        self.jobs: tuple[EcaJob, ...] = ()
        """The commands in the background, as the server last listed them."""
        self._spent: dict[str, int] = {}  # tokens by chat, if the server does not add them up
        self._show_keys: set[str | None] = set()  # chats whose last prompt was /config
        self._mentions = mentions
        self._replays = replays
        self._readiness = readiness
        self._readers: Mapping[type, Callable[[Any], Sequence[agent_events.AgentEvent]]] = {
            chat.StatusChanged: self._status,
            chat.ChatOpened: self._opened,
            chat.ChatCleared: self._cleared,
            chat.ChatDeleted: self._deleted,
            chat.ConfigUpdated: self._config,
            lifecycle.TaskProgress: self._progress,
            Unknown: self._unknown,
            lifecycle.ShowMessage: lambda message: (message_shown(message),),
            JobsUpdated: self._jobs_updated,
            ToolServerUpdated: self._tool_server,
            ToolServerRemoved: self._tool_server_removed,
            providers.ProvidersUpdated: self._provider,
        }

    def read(self, method: str, params: object) -> Sequence[agent_events.AgentEvent]:
        """Turn one notification into events, in order; replayed ones are kept apart."""
        try:
            message = decode_notification(method, params)
        except (DecodeError, RecursionError) as fault:
            logger.warning("skipped a message: %s", fault)
            return ()
        self._dialect.read_notification(message)
        return self._replays.sort(self._dispatch(message, method))

    def read_held(self) -> Sequence[agent_events.AgentEvent]:
        """Return the events of held messages whose chat is known by now."""
        held, self._held = self._held, []
        return [event for it in held for event in self._replays.sort(self._dispatch(it, it.method))]

    def forget(self, chat_id: str) -> None:
        """Forget a chat that the server no longer has, with the tokens it used."""
        self._spent.pop(chat_id, None)
        self._show_keys.discard(chat_id)
        self._code_blocks.complete(chat_id)

    def _dispatch(self, message: object, method: str) -> Sequence[agent_events.AgentEvent]:
        if type(message) is ContentReceived or type(message) is chat.StatusChanged:
            if self._chats.is_left(message.chat_id):
                return ()
            if self._chats.is_doubtful(message.chat_id):
                self._held.append(message)
                return ()
            if type(message) is ContentReceived:
                return self.content(message)
        reader = self._readers.get(type(message))
        if reader is None:
            logger.debug("no use for %s yet: %r", method, message)
            return ()
        return reader(message)

    def _provider(self, message: providers.ProvidersUpdated) -> Sequence[agent_events.AgentEvent]:
        self._logins.updated(message)
        return ()

    def _jobs_updated(self, message: JobsUpdated) -> Sequence[agent_events.AgentEvent]:
        self.jobs = message.jobs
        return (jobs(message, self._chats.ours),)

    def _tool_server(self, message: ToolServerUpdated) -> Sequence[agent_events.AgentEvent]:
        self._tool_servers.updated(message)
        return (tool_server(message),)

    def _tool_server_removed(self, message: ToolServerRemoved) -> Sequence[agent_events.AgentEvent]:
        self._tool_servers.removed(message.name)
        return (removed_tool_server(message),)

    def content(self, received: ContentReceived, *, replayed: bool = False) -> Sequence[Addressed]:
        """Turn content of a chat into events; replayed content changes no files."""
        event, server_id = content_event(received, self._calls), received.chat_id
        event, parent = self._peeks.peek(server_id or "", event), received.parent_chat_id
        chat_id = None if server_id is None else self._chats.ours(server_id, adopt=parent is None)
        if type(event) is events.TextReceived and event.role is not events.Role.ASSISTANT:
            event = self._read_message(chat_id, event)
        if chat_id is None:
            return (Addressed(None, event),)
        parent_id = None if parent is None else self._chats.ours(parent)
        self._note(chat_id, received.role, event)
        addressed = Addressed(chat_id, event, parent_id)
        if self._dialect.generation is not Generation.DRAFT or not _is_drafted(received):
            return (addressed,)
        if replayed or self._replays.claim(addressed):
            return (addressed,)
        return tuple(Addressed(chat_id, it) for it in self._drafted(chat_id, event, received))

    def _read_message(self, chat_id: str | None, message: events.TextReceived) -> ChatEvent:
        """Read a whole message: of the user without contexts, of the server without its keys."""
        if message.role is events.Role.SYSTEM:
            shows_keys = chat_id in self._show_keys
            return replace(message, text=without_keys(message.text)) if shows_keys else message
        text = self._mentions.read(user_text(message.text))
        if text.split()[:1] == [_CONFIG]:
            self._show_keys.add(chat_id)
        else:
            self._show_keys.discard(chat_id)
        return replace(message, text=text)

    def _note(self, chat_id: str, role: Role, event: ChatEvent) -> None:
        """Note which contexts of prompts the model has: hot path."""
        if role is Role.ASSISTANT:
            self._mentions.answered(chat_id)
        elif isinstance(event, events.TextReceived) and event.text.strip() in _COMPACTED:
            self._mentions.shortened(chat_id)

    def _drafted(
        self, chat_id: str, event: ChatEvent, received: ContentReceived
    ) -> Sequence[ChatEvent]:
        """Turn a piece of an answer in the protocol's first draft into events."""
        result, content = [event], received.content
        if isinstance(content, FileChangeContent) and content.file:
            result = [*self._proposals.propose(chat_id, content)]
        elif isinstance(content, TextContent):
            self._code_blocks.add(chat_id, content)
        used = received.metadata.tokens_used if received.metadata else None
        if used is not None:
            result.append(turn_events.UsageReported(self._spent.get(chat_id, 0) + used))
        if received.is_complete:
            self._spent[chat_id] = self._spent.get(chat_id, 0) + (used or 0)
            code = self._code_blocks.complete(chat_id)
            result += [events.TextReceived(events.Role.ASSISTANT, code)] if code else []
            result += self._proposals.complete(chat_id)
        return result

    def _status(self, message: chat.StatusChanged) -> Sequence[agent_events.AgentEvent]:
        turn = _TURNS.get(message.status)
        if turn is None:
            logger.debug("unknown status of chat %s", message.chat_id)
            return ()
        chat_id = self._chats.ours(message.chat_id, adopt=True)
        return (Addressed(chat_id, self._peeks.peek(message.chat_id, turn)),)

    def _opened(self, message: chat.ChatOpened) -> Sequence[agent_events.AgentEvent]:
        return self._about(message.chat_id, events.ChatOpened(message.title))

    def _cleared(self, message: chat.ChatCleared) -> Sequence[agent_events.AgentEvent]:
        return self._about(message.chat_id, events.ChatCleared(message.messages is not False))

    def _deleted(self, message: chat.ChatDeleted) -> Sequence[agent_events.AgentEvent]:
        return self._about(message.chat_id, events.ChatDeleted())

    def _about(self, server_id: str | None, event: ChatEvent) -> Sequence[agent_events.AgentEvent]:
        """Address an event to a chat; without an id it is dropped."""
        if server_id is None:
            logger.debug("no chat is named: %r", event)
            return ()
        return (Addressed(self._chats.ours(server_id), event),)

    def _config(self, message: chat.ConfigUpdated) -> Sequence[agent_events.AgentEvent]:
        chat_id = None if message.chat_id is None else self._chats.ours(message.chat_id)
        changed = changed_choices(message, chat_id)
        self._readiness.models_known(changed.models)
        return self._options.announce(changed)

    def _progress(self, message: lifecycle.TaskProgress) -> Sequence[agent_events.AgentEvent]:
        self._readiness.progressed(message)
        return (work(message),)

    def _unknown(self, message: Unknown) -> Sequence[agent_events.AgentEvent]:
        params = message.params
        if isinstance(params, dict) and isinstance(params.get("chatId"), str):
            shown = events.UnknownReceived(message.method, plain_text(params))
            return (Addressed(self._chats.ours(params["chatId"]), shown),)
        logger.debug("unknown notification %s: %r", message.method, params)
        return ()


def _is_drafted(received: ContentReceived) -> bool:
    """Return whether this may be a piece of an answer in the protocol's first draft."""
    return received.is_complete is not None or type(received.content) is FileChangeContent
