"""Inbox: turns what one session sends into events of its chat."""

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from eca_nvim.agents import recap
from eca_nvim.agents.acp.options import SessionOptions
from eca_nvim.agents.acp.prompt import typed_title
from eca_nvim.agents.acp.updates.messages import CallIds, Compactions, Messages, unknown_line
from eca_nvim.agents.acp.updates.quirks import mode_in_text
from eca_nvim.agents.acp.updates.tool_calls import ToolCalls
from eca_nvim.chat.vocabulary import call_details, completion, events, requests, turn_events
from eca_nvim.chat.vocabulary.events import ChatEvent
from eca_nvim.protocol.acp import content, tool_call, updates

_TASKS: Final = {
    content.EntryStatus.IN_PROGRESS: call_details.TaskStatus.IN_PROGRESS,
    content.EntryStatus.COMPLETED: call_details.TaskStatus.DONE,
}

logger = logging.getLogger(__name__)


class Inbox:
    """Reads what a session sends.

    folder: absolute; relative paths of the agent begin there. life: as in CallIds. whole_prompts:
    the agent sends each prompt whole.
    """

    def __init__(self, folder: str, life: str, *, whole_prompts: bool = False) -> None:
        ids = CallIds(life)
        self._messages = Messages(ids, whole_prompts=whole_prompts)
        self.read: dict[str, str] = {}
        """Digests of what the agent has read through the editor, by real path; the oldest first."""
        self.calls = ToolCalls(ids, folder, self.read)
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

    def receive(self, update: updates.SessionUpdate) -> Sequence[ChatEvent]:
        """Read an update; it may come before a turn, and after it: hot path."""
        return (*self._readers[type(update)](update),)

    def requested(
        self, request_id: str, params: tool_call.RequestPermission
    ) -> tuple[Sequence[ChatEvent], events.ToolRequested]:
        """Read a request for permission; returns what comes before its event, and that.

        request_id: ours, unique in the life of the agent.
        """
        choices = tuple(_choices(params.options))
        asked = self.calls.requested(request_id, params.tool_call, choices)
        return self._messages.interrupted(), asked

    def turn_began(self) -> Sequence[ChatEvent]:
        """Note that a prompt was sent."""
        self.calls.turn_began()
        return self._messages.turn_began()

    def turn_ended(self) -> Sequence[ChatEvent]:
        """Note the end of a turn: what is left open has ended, too."""
        return (*self._messages.interrupted(), *self.calls.turn_ended())

    def _answered(self, chunk: updates.AgentMessageChunk) -> Iterable[ChatEvent]:
        block = chunk.content
        mode = mode_in_text(block.text) if isinstance(block, content.TextBlock) else None
        if mode is None or not self.options.text_may_set(mode):
            return self._messages.said(chunk)
        return (self.options.mode_changed(mode),)

    def _call(
        self, update: updates.ToolCallBegun | updates.ToolCallChanged, *, announces: bool
    ) -> Iterable[ChatEvent]:
        told = self.calls.updated(update, announces=announces)
        return (*self._messages.interrupted(), *told) if announces else told

    def _plan(self, plan: updates.Plan) -> Iterable[ChatEvent]:
        tasks = tuple(
            call_details.Task(
                str(number),
                it.content,
                _TASKS.get(it.status, call_details.TaskStatus.PENDING),
                priority=it.priority,
            )
            for number, it in enumerate(plan.entries, 1)
        )
        return (*self._messages.interrupted(), events.PlanChanged(call_details.TaskList(tasks)))

    def _titled(self, info: updates.SessionInfo) -> Iterable[ChatEvent]:
        if not info.title or recap.is_title(info.title):
            return ()
        self.title = typed_title(info.title)
        return (events.TitleChanged(self.title),)

    def _usage(self, usage: updates.Usage) -> Iterable[ChatEvent]:
        """Report tokens, and the cost that was named last: it only grows."""
        self._cost = usage.cost or self._cost
        amount = f"{self._cost.amount:.6f}".rstrip("0").rstrip(".")  # without an exponent
        reported = turn_events.UsageReported(
            session_tokens=usage.used,
            context_limit=usage.size,
            session_cost=amount if self._cost.amount else None,
            currency=self._cost.currency,
        )
        return (reported,)

    def _show_unknown(self, update: updates.UnknownUpdate) -> Iterable[ChatEvent]:
        if update.kind in self._unknown:
            logger.debug("unknown update %s: %r", update.kind, update.fields)
            return ()
        self._unknown.add(update.kind)
        line = unknown_line(update.fields, "sessionUpdate")
        return (events.UnknownReceived(update.kind or "update", line),)


def _commands(update: updates.AvailableCommands) -> Iterable[ChatEvent]:
    commands = (
        completion.Command(it.name, it.description or "", it.input.hint if it.input else None)
        for it in update.available_commands
    )
    return (completion.CommandsChanged(tuple(commands)),)


def _notice(notice: updates.Notice) -> Iterable[ChatEvent]:
    text = "\n".join(filter(None, (notice.title, notice.description)))
    return (events.NoticeReceived(text, is_error=notice.severity == "error"),)


def _choices(options: Iterable[tool_call.PermissionOption]) -> Iterator[requests.Choice]:
    """Yield the answers for the user, each id once: the agent learns no more than the id.

    Nobody knows whether an answer of an unknown kind allows.
    """
    offered: set[str] = set()
    for option in options:
        if option.kind is tool_call.OptionKind.UNKNOWN or option.option_id in offered:
            logger.warning("an answer of an unknown kind or a used id is not offered: %r", option)
        else:
            offered.add(option.option_id)
            kind = requests.ChoiceKind(option.kind.value)
            yield requests.Choice(option.option_id, option.name, kind)
