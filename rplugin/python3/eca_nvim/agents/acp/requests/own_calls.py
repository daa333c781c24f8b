"""Own calls: calls of ours, for what we do for an agent outside of its own calls.

Rules kept here:
- They are read like calls of the agent, so that they are shown, reviewed and undone like these.
- No agent can guess the id of one.
"""

from __future__ import annotations

from collections.abc import Sequence
from uuid import uuid4

from eca_nvim.agents.acp.requests.acts import Act
from eca_nvim.agents.acp.session import Session
from eca_nvim.chat.vocabulary.agent_events import AgentEvent
from eca_nvim.protocol.acp.content import TextBlock
from eca_nvim.protocol.acp.tool_call import CallContent, CallStatus
from eca_nvim.protocol.acp.updates import ToolCallBegun, ToolCallChanged


def new_call_id() -> str:
    """Return an id for a call of ours."""
    return f"client {uuid4()}"


def begin(session: Session, act: Act, call_id: str) -> Sequence[AgentEvent]:
    """Let a call of ours run, whether the user was asked about it or not."""
    shown = act.shown
    begun = ToolCallBegun(
        tool_call_id=call_id,
        title=shown.title,
        kind=shown.kind,
        status=CallStatus.IN_PROGRESS,
        content=shown.content,
        locations=shown.locations,
        raw_input=shown.raw_input,
    )
    return session.inbox.receive(begun)


def end(session: Session, call_id: str, fault: str | None = None) -> Sequence[AgentEvent]:
    """End a call of ours; `fault`: why nothing was done, in one line."""
    if fault is None:
        ended = ToolCallChanged(tool_call_id=call_id, status=CallStatus.COMPLETED)
    else:
        why = (CallContent(TextBlock(fault)),)
        ended = ToolCallChanged(tool_call_id=call_id, status=CallStatus.FAILED, content=why)
    return session.inbox.receive(ended)


def end_printed(session: Session, call_id: str, *, failed: bool) -> Sequence[AgentEvent]:
    """End a call of ours that shows a command: what that has printed stays."""
    status = CallStatus.FAILED if failed else CallStatus.COMPLETED
    return session.inbox.receive(ToolCallChanged(tool_call_id=call_id, status=status))
