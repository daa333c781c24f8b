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
from eca_nvim.chat.vocabulary import agent_events, call_details, completion, requests, turn_events
from eca_nvim.chat.vocabulary.events import (
    Addressed,
    ChatEvent,
    NoticeReceived,
    PlanChanged,
    TitleChanged,
    UnknownReceived,
)
from eca_nvim.protocol.acp import content, sessions, tool_call, updates

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

    def opened(
        self, made: sessions.NewSessionResult | sessions.OpenedSession
    ) -> Sequence[agent_events.AgentEvent]:
        """Read the answer that opened the session."""
        return self._events((self.options.opened(made.config_options, made.modes, made.models),))

    def listed_options(self) -> Sequence[agent_events.AgentEvent]:
        """List the options again, for a view that does not have them."""
        return self._events((self.options.listed_last(),))

    def receive(self, update: updates.SessionUpdate) -> Sequence[agent_events.AgentEvent]:
        """Read an update; it may come before a turn, and after it."""
        return self._events(self._readers[type(update)](update))

    def requested(
        self, request_id: str, params: tool_call.RequestPermission
    ) -> Sequence[agent_events.AgentEvent]:
        """Read a request for permission. The last event is its ToolRequested.

        request_id: ours, unique in the life of the agent.
        """
        choices = tuple(_choices(params.options))
        asked = self._calls.requested(request_id, params.tool_call, choices)
        return self._events([*self._messages.interrupted(), *asked])

    def decided(
        self, request_id: str, choice: requests.Choice | None
    ) -> Sequence[agent_events.AgentEvent]:
        """Note the answer to a request, None if it was answered `cancelled`."""
        return self._events(self._calls.decided(request_id, choice))

    def withdrawn(self, request_id: str) -> Sequence[agent_events.AgentEvent]:
        """Note that the agent no longer asks."""
        return self._events(self._calls.withdrawn(request_id))

    def open_calls(self) -> Iterator[tuple[str, call_details.ToolCall]]:
        """Yield calls that have not ended, by the agent's ids, the newest first (`ToolCalls`)."""
        return self._calls.open_calls()

    def runs(self, call_id: str) -> bool:
        """Return whether a call has begun and not ended, by our id."""
        return self._calls.runs(call_id)

    def wrote(
        self, call_id: str, path: str, old: str | None, new: str
    ) -> Sequence[agent_events.AgentEvent] | None:
        """Show a write of ours in a call (the agent's id); None: it has ended meanwhile."""
        events = self._calls.wrote(call_id, path, old, new)
        return None if events is None else self._events(events)

    @property
    def screens(self) -> Screens:
        """The terminals of ours that calls may embed."""
        return self._calls.screens

    def show(self, terminal_id: str, call_id: str) -> Sequence[agent_events.AgentEvent]:
        """Show a terminal of ours in a call; `call_id`: the agent's."""
        return self._events(self._calls.show(terminal_id, call_id))

    def printed(
        self, terminal_id: str, text: str, *, awaits_input: bool = False
    ) -> Sequence[agent_events.AgentEvent]:
        """Add to what a terminal of ours has printed; no events if no call shows it."""
        return self._events(self._calls.printed(terminal_id, text, awaits_input=awaits_input))

    def turn_began(self) -> Sequence[agent_events.AgentEvent]:
        """Note that a prompt was sent."""
        self._calls.turn_began()
        return self._events(self._messages.turn_began())

    def turn_ended(self, _reason: sessions.StopReason | None) -> Sequence[agent_events.AgentEvent]:
        """Note the end of a turn, None if it failed: what is left open has ended, too."""
        return self._events([*self._messages.interrupted(), *self._calls.turn_ended()])

    def _events(self, events: Iterable[ChatEvent]) -> Sequence[agent_events.AgentEvent]:
        return [Addressed(self._chat_id, event) for event in events]

    def _answered(self, chunk: updates.AgentMessageChunk) -> Iterable[ChatEvent]:
        mode = (
            mode_in_text(chunk.content.text)
            if isinstance(chunk.content, content.TextBlock)
            else None
        )
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
        return (*self._messages.interrupted(), PlanChanged(call_details.TaskList(tasks)))

    def _titled(self, info: updates.SessionInfo) -> Iterable[ChatEvent]:
        if not info.title:
            return ()
        self.title = typed_title(info.title)
        return (TitleChanged(self.title),)

    def _usage(self, usage: updates.Usage) -> Iterable[ChatEvent]:
        """Report tokens, and the cost that was named last: it only grows."""
        self._cost = usage.cost or self._cost
        amount = _amount(self._cost.amount) if self._cost.amount else None
        reported = turn_events.UsageReported(session_tokens=usage.used, context_limit=usage.size)
        return (replace(reported, session_cost=amount, currency=self._cost.currency),)

    def _show_unknown(self, update: updates.UnknownUpdate) -> Iterable[ChatEvent]:
        if update.kind in self._unknown:
            logger.debug("unknown update %s: %r", update.kind, update.fields)
            return ()
        self._unknown.add(update.kind)
        line = unknown_line(update.fields, "sessionUpdate")
        return (UnknownReceived(update.kind or "update", line),)


_TASKS = {
    content.EntryStatus.IN_PROGRESS: call_details.TaskStatus.IN_PROGRESS,
    content.EntryStatus.COMPLETED: call_details.TaskStatus.DONE,
}


def _task(number: int, entry: content.PlanEntry) -> call_details.Task:
    status = _TASKS.get(entry.status, call_details.TaskStatus.PENDING)
    return call_details.Task(str(number), entry.content, status, priority=entry.priority)


def _commands(update: updates.AvailableCommands) -> Iterable[ChatEvent]:
    commands = (
        completion.Command(it.name, it.description or "", it.input.hint if it.input else None)
        for it in update.available_commands
    )
    return (completion.CommandsChanged(tuple(commands)),)


def _amount(amount: float) -> str:
    """Return an amount as text, without an exponent."""
    return f"{amount:.6f}".rstrip("0").rstrip(".")


def _notice(notice: updates.Notice) -> Iterable[ChatEvent]:
    text = "\n".join(filter(None, (notice.title, notice.description)))
    return (NoticeReceived(text, is_error=notice.severity == "error"),)


_KINDS = {
    tool_call.OptionKind.ALLOW_ONCE: requests.ChoiceKind.ALLOW_ONCE,
    tool_call.OptionKind.ALLOW_ALWAYS: requests.ChoiceKind.ALLOW_ALWAYS,
    tool_call.OptionKind.REJECT_ONCE: requests.ChoiceKind.REJECT_ONCE,
    tool_call.OptionKind.REJECT_ALWAYS: requests.ChoiceKind.REJECT_ALWAYS,
}


def _choices(options: Iterable[tool_call.PermissionOption]) -> Iterator[requests.Choice]:
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
            yield requests.Choice(option.option_id, option.name, kind)
