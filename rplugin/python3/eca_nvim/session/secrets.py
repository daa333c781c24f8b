"""Secrets: kept out of the log, and out of what a chat shows."""

from collections.abc import Sequence

from msgspec.structs import replace

from eca_nvim.agents.base import AgentExit
from eca_nvim.chat.text.joined_text import join_text
from eca_nvim.chat.vocabulary.agent_events import AgentEvent, MessageShown
from eca_nvim.chat.vocabulary.events import (
    Addressed,
    NoticeReceived,
    ReasoningText,
    TextReceived,
    ToolFinished,
    ToolOutput,
)
from eca_nvim.redaction import Redactor


def without_typed(events: Sequence[AgentEvent], redactor: Redactor) -> Sequence[AgentEvent]:
    """Return events of an agent with the secrets hidden that the user has typed.

    Only texts that are read are changed: what is asked about stays as it is.
    """
    return [_without_typed(event, redactor) for event in join_text(events)]


def _without_typed(event: AgentEvent, redactor: Redactor) -> AgentEvent:
    match event:
        case Addressed(event=ToolFinished() as call):
            shown = tuple(map(redactor.without_typed, call.outputs))
            return replace(event, event=replace(call, outputs=shown))
        case Addressed(
            event=TextReceived() | ReasoningText() | NoticeReceived() | ToolOutput() as told
        ):
            return replace(event, event=replace(told, text=redactor.without_typed(told.text)))
        case MessageShown(text=text):
            return replace(event, text=redactor.without_typed(text))
        case _:
            return event


def without_secrets(ending: AgentExit, redactor: Redactor) -> AgentExit:
    """Return the ending with everything that looks like a key hidden."""
    tail = tuple(map(redactor.redact, ending.stderr_tail))
    return replace(ending, reason=redactor.redact(ending.reason), stderr_tail=tail)
