"""Inbox: turns what one session sends into events of its chat."""

from __future__ import annotations

from collections.abc import Sequence

from eca_nvim.chat.vocabulary.agent_events import AgentEvent
from eca_nvim.chat.vocabulary.call_details import ToolCall
from eca_nvim.chat.vocabulary.decisions import Choice, ChoiceKind
from eca_nvim.chat.vocabulary.events import (
    Addressed,
    ApprovalWithdrawn,
    ChatEvent,
    Role,
    TextReceived,
    ToolRequested,
)
from eca_nvim.protocol.acp.content import TextBlock
from eca_nvim.protocol.acp.permission import OptionKind, PermissionOption, RequestPermission
from eca_nvim.protocol.acp.prompt import StopReason
from eca_nvim.protocol.acp.sessions import NewSessionResult
from eca_nvim.protocol.acp.updates import AgentMessageChunk, SessionUpdate


class Inbox:
    """Reads what a session sends; `chat_id` is ours."""

    def __init__(self, chat_id: str) -> None:
        self._chat_id = chat_id
        self._asked: dict[str, ToolCall] = {}

    def opened(self, _made: NewSessionResult) -> Sequence[AgentEvent]:
        """Read the answer that made the session."""
        return ()

    def receive(self, update: SessionUpdate) -> Sequence[AgentEvent]:
        """Read an update; it may come before a turn, and after it."""
        match update:
            case AgentMessageChunk(TextBlock(text)) if text:
                return self._events(TextReceived(Role.ASSISTANT, text))
            case _:
                return ()

    def requested(self, request_id: str, params: RequestPermission) -> Sequence[AgentEvent]:
        """Read a request for permission. The last event is its ToolRequested.

        request_id: ours, unique in the life of the agent.
        """
        call = ToolCall(params.tool_call.tool_call_id, origin="acp")
        self._asked[request_id] = call
        choices = tuple(map(_choice, params.options))
        return self._events(
            ToolRequested(call, needs_approval=True, choices=choices, request_id=request_id)
        )

    def decided(self, request_id: str, _choice: Choice | None) -> Sequence[AgentEvent]:
        """Note the answer to a request, None if it was answered `cancelled`."""
        self._asked.pop(request_id, None)
        return ()

    def withdrawn(self, request_id: str) -> Sequence[AgentEvent]:
        """Note that the agent no longer asks."""
        call = self._asked.pop(request_id, None)
        return () if call is None else self._events(ApprovalWithdrawn(call))

    def turn_began(self) -> Sequence[AgentEvent]:
        """Note that a prompt was sent."""
        return ()

    def turn_ended(self, _reason: StopReason | None) -> Sequence[AgentEvent]:
        """Note the end of a turn, None if it failed: what is left open has ended, too."""
        return ()

    def _events(self, *events: ChatEvent) -> Sequence[AgentEvent]:
        return [Addressed(self._chat_id, event) for event in events]


_KINDS = {
    OptionKind.ALLOW_ONCE: ChoiceKind.ALLOW_ONCE,
    OptionKind.ALLOW_ALWAYS: ChoiceKind.ALLOW_ALWAYS,
    OptionKind.REJECT_ALWAYS: ChoiceKind.REJECT_ALWAYS,
}


def _choice(option: PermissionOption) -> Choice:
    """Return an option as the user gets it; an unknown kind allows nothing."""
    kind = _KINDS.get(option.kind, ChoiceKind.REJECT_ONCE)
    return Choice(option.option_id, option.name, kind)
