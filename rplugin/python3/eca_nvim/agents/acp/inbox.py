"""Inbox: turns what one session sends into events of its chat.

Rules kept here:
- An update may come before the answer that makes its session, and after the end of a turn.
- Of an unknown variant the first update is one line in the chat, the others are in the debug log.
- This is the hot path: one look-up by class for each update.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from eca_nvim.agents.acp.options import SessionOptions
from eca_nvim.agents.acp.prompt import typed_title
from eca_nvim.agents.acp.updates.call_ids import CallIds
from eca_nvim.agents.acp.updates.messages import Compactions, Messages, unknown_line
from eca_nvim.agents.acp.updates.quirks import mode_in_text
from eca_nvim.agents.acp.updates.screens import Screens
from eca_nvim.agents.acp.updates.tool_calls import ToolCalls
from eca_nvim.chat.vocabulary.agent_events import AgentEvent
from eca_nvim.chat.vocabulary.call_details import Task, TaskList, TaskStatus, ToolCall
from eca_nvim.chat.vocabulary.completion import Command, CommandsChanged
from eca_nvim.chat.vocabulary.events import (
    Addressed,
    ChatEvent,
    NoticeReceived,
    PlanChanged,
    TitleChanged,
    UnknownReceived,
)
from eca_nvim.chat.vocabulary.requests import Choice, ChoiceKind
from eca_nvim.chat.vocabulary.turn_events import UsageReported
from eca_nvim.protocol.acp import updates
from eca_nvim.protocol.acp.content import EntryStatus, PlanEntry, TextBlock
from eca_nvim.protocol.acp.sessions import NewSessionResult, OpenedSession, StopReason
from eca_nvim.protocol.acp.tool_call import OptionKind, PermissionOption, RequestPermission

logger = logging.getLogger(__name__)


class Inbox:
    """Reads what a session sends.

    chat_id: ours. folder: absolute; relative paths of the agent begin there. life: as in CallIds.
    whole_prompts: the agent sends each prompt whole.
    """

    def __init__(
        self, chat_id: str, folder: str, life: str, *, whole_prompts: bool = False
    ) -> None:
        self._chat_id = chat_id
        ids = CallIds(life)
        self._messages = Messages(ids, whole_prompts=whole_prompts)
        self.read: dict[str, str] = {}
        """Digests of what the agent has read through the editor, by real path; the oldest first."""
        self._calls = ToolCalls(ids, folder, self.read)
        self._compactions = Compactions(ids)
        self._unknown: set[str] = set()
        self._cost = updates.Cost(0)
        self.options = SessionOptions()
        self.title: str | None = None
        """As the agent gave it in this session; None: it has not."""
        self._readers: Mapping[type, Callable[[Any], Iterable[ChatEvent]]] = {
            updates.UserMessageChunk: self._messages.heard,
            updates.AgentMessageChunk: self._answered,
            updates.AgentThoughtChunk: self._messages.thought,
            updates.ToolCallBegun: lambda it: self._call(it, announces=True),
            updates.ToolCallChanged: lambda it: self._call(it, announces=False),
            updates.Plan: self._plan,
            updates.AvailableCommands: _commands,
            updates.CurrentMode: lambda it: (self.options.mode_changed(it.current_mode_id),),
            updates.ConfigOptions: lambda it: (self.options.listed(it.config_options),),
            updates.SessionInfo: self._titled,
            updates.Usage: self._usage,
            updates.Notice: _notice,
            updates.Compaction: self._compactions.updated,
            updates.CompactionChunk: self._compactions.summarized,
            updates.UnknownUpdate: self._show_unknown,
        }

    def opened(self, made: NewSessionResult | OpenedSession) -> Sequence[AgentEvent]:
        """Read the answer that opened the session."""
        return self._events((self.options.opened(made.config_options, made.modes, made.models),))

    def listed_options(self) -> Sequence[AgentEvent]:
        """List the options again, for a view that does not have them."""
        return self._events((self.options.listed_last(),))

    def receive(self, update: updates.SessionUpdate) -> Sequence[AgentEvent]:
        """Read an update; it may come before a turn, and after it."""
        return self._events(self._readers[type(update)](update))

    def requested(self, request_id: str, params: RequestPermission) -> Sequence[AgentEvent]:
        """Read a request for permission. The last event is its ToolRequested.

        request_id: ours, unique in the life of the agent.
        """
        choices = tuple(_choices(params.options))
        asked = self._calls.requested(request_id, params.tool_call, choices)
        return self._events([*self._messages.interrupted(), *asked])

    def decided(self, request_id: str, choice: Choice | None) -> Sequence[AgentEvent]:
        """Note the answer to a request, None if it was answered `cancelled`."""
        return self._events(self._calls.decided(request_id, choice))

    def withdrawn(self, request_id: str) -> Sequence[AgentEvent]:
        """Note that the agent no longer asks."""
        return self._events(self._calls.withdrawn(request_id))

    def open_calls(self) -> Iterator[tuple[str, ToolCall]]:
        """Yield calls that have not ended, by the agent's ids, the newest first (`ToolCalls`)."""
        return self._calls.open_calls()

    def runs(self, call_id: str) -> bool:
        """Return whether a call has begun and not ended, by our id."""
        return self._calls.runs(call_id)

    def wrote(
        self, call_id: str, path: str, old: str | None, new: str
    ) -> Sequence[AgentEvent] | None:
        """Show a write of ours in a call (the agent's id); None: it has ended meanwhile."""
        events = self._calls.wrote(call_id, path, old, new)
        return None if events is None else self._events(events)

    @property
    def screens(self) -> Screens:
        """The terminals of ours that calls may embed."""
        return self._calls.screens

    def show(self, terminal_id: str, call_id: str) -> Sequence[AgentEvent]:
        """Show a terminal of ours in a call; `call_id`: the agent's."""
        return self._events(self._calls.show(terminal_id, call_id))

    def printed(
        self, terminal_id: str, text: str, *, awaits_input: bool = False
    ) -> Sequence[AgentEvent]:
        """Add to what a terminal of ours has printed; no events if no call shows it."""
        return self._events(self._calls.printed(terminal_id, text, awaits_input=awaits_input))

    def turn_began(self) -> Sequence[AgentEvent]:
        """Note that a prompt was sent."""
        self._calls.turn_began()
        return self._events(self._messages.turn_began())

    def turn_ended(self, _reason: StopReason | None) -> Sequence[AgentEvent]:
        """Note the end of a turn, None if it failed: what is left open has ended, too."""
        return self._events([*self._messages.interrupted(), *self._calls.turn_ended()])

    def _events(self, events: Iterable[ChatEvent]) -> Sequence[AgentEvent]:
        return [Addressed(self._chat_id, event) for event in events]

    def _answered(self, chunk: updates.AgentMessageChunk) -> Iterable[ChatEvent]:
        mode = mode_in_text(chunk.content.text) if isinstance(chunk.content, TextBlock) else None
        if mode is None or not self.options.text_may_set(mode):
            return self._messages.said(chunk)
        return (self.options.mode_changed(mode),)

    def _call(
        self, update: updates.ToolCallBegun | updates.ToolCallChanged, *, announces: bool
    ) -> Iterable[ChatEvent]:
        events = self._calls.updated(update, announces=announces)
        return (*self._messages.interrupted(), *events) if announces else events

    def _plan(self, plan: updates.Plan) -> Iterable[ChatEvent]:
        tasks = tuple(_task(number, entry) for number, entry in enumerate(plan.entries, 1))
        return (*self._messages.interrupted(), PlanChanged(TaskList(tasks)))

    def _titled(self, info: updates.SessionInfo) -> Iterable[ChatEvent]:
        if not info.title:
            return ()
        self.title = typed_title(info.title)
        return (TitleChanged(self.title),)

    def _usage(self, usage: updates.Usage) -> Iterable[ChatEvent]:
        """Report tokens, and the cost that was named last: it only grows."""
        self._cost = usage.cost or self._cost
        amount = _amount(self._cost.amount) if self._cost.amount else None
        reported = UsageReported(session_tokens=usage.used, context_limit=usage.size)
        return (replace(reported, session_cost=amount, currency=self._cost.currency),)

    def _show_unknown(self, update: updates.UnknownUpdate) -> Iterable[ChatEvent]:
        if update.kind in self._unknown:
            logger.debug("unknown update %s: %r", update.kind, update.fields)
            return ()
        self._unknown.add(update.kind)
        line = unknown_line(update.fields, "sessionUpdate")
        return (UnknownReceived(update.kind or "update", line),)


_TASKS = {
    EntryStatus.IN_PROGRESS: TaskStatus.IN_PROGRESS,
    EntryStatus.COMPLETED: TaskStatus.DONE,
}


def _task(number: int, entry: PlanEntry) -> Task:
    status = _TASKS.get(entry.status, TaskStatus.PENDING)
    return Task(str(number), entry.content, status, priority=entry.priority)


def _commands(update: updates.AvailableCommands) -> Iterable[ChatEvent]:
    commands = (
        Command(it.name, it.description or "", it.input.hint if it.input else None)
        for it in update.available_commands
    )
    return (CommandsChanged(tuple(commands)),)


def _amount(amount: float) -> str:
    """Return an amount as text, without an exponent."""
    return f"{amount:.6f}".rstrip("0").rstrip(".")


def _notice(notice: updates.Notice) -> Iterable[ChatEvent]:
    text = "\n".join(filter(None, (notice.title, notice.description)))
    return (NoticeReceived(text, is_error=notice.severity == "error"),)


_KINDS = {
    OptionKind.ALLOW_ONCE: ChoiceKind.ALLOW_ONCE,
    OptionKind.ALLOW_ALWAYS: ChoiceKind.ALLOW_ALWAYS,
    OptionKind.REJECT_ONCE: ChoiceKind.REJECT_ONCE,
    OptionKind.REJECT_ALWAYS: ChoiceKind.REJECT_ALWAYS,
}


def _choices(options: Iterable[PermissionOption]) -> Iterator[Choice]:
    """Yield the answers for the user, each id once: the agent learns no more than the id.

    Nobody knows whether an answer of an unknown kind allows.
    """
    offered: set[str] = set()
    for option in options:
        kind = _KINDS.get(option.kind)
        if kind is None or option.option_id in offered:
            logger.warning("an answer of an unknown kind or a used id is not offered: %r", option)
        else:
            offered.add(option.option_id)
            yield Choice(option.option_id, option.name, kind)
