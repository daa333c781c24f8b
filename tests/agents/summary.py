"""Events as lines of golden files: one per event, pieces of a stream joined."""

import re
from collections.abc import Iterable, Sequence
from enum import Enum
from typing import Any, Final, cast

from msgspec import NODEFAULT
from msgspec.structs import replace

from eca_nvim.chat.vocabulary.agent_events import AgentEvent, Tool, ToolServerChanged
from eca_nvim.chat.vocabulary.call_details import FileChange, ToolCall
from eca_nvim.chat.vocabulary.events import (
    Addressed,
    ReasoningText,
    Role,
    TextReceived,
    ToolPreparing,
)
from eca_nvim.chat.vocabulary.options import ChatOption, OptionsChanged

SENT: Final = ("id", "name", "server", "origin", "summary", "details", "arguments")
RECORDED_FOLDER: Final = re.compile(r"/\w+[/_]eca-ws\b")
"""The server's own folder, where the recording has it in pieces and nobody can replace it."""


def summary(events: Sequence[AgentEvent]) -> str:
    """Put events into lines."""
    lines = map(_line, _joined(_with_last_options(events)))
    return "".join(f"{RECORDED_FOLDER.sub('<workspace>', line)}\n" for line in lines)


def _with_last_options(events: Iterable[AgentEvent]) -> Iterable[AgentEvent]:
    """Put the last options of each chat at the end: when they are listed depends on the reads."""
    last: dict[str | None, AgentEvent] = {}
    for event in events:
        if isinstance(event, Addressed) and isinstance(event.event, OptionsChanged):
            last[event.chat_id] = event
        else:
            yield event
    yield from last.values()


def _joined(events: Iterable[AgentEvent]) -> Iterable[AgentEvent]:
    last: AgentEvent | None = None
    for event in events:
        both = _join(last, event)
        if both is None and last is not None:
            yield last
        last = both or event
    if last is not None:
        yield last


def _join(first: AgentEvent | None, second: AgentEvent) -> AgentEvent | None:
    if not isinstance(first, Addressed) or not isinstance(second, Addressed):
        return None
    if (first.chat_id, first.parent_id) != (second.chat_id, second.parent_id):
        return None
    match first.event, second.event:
        case TextReceived(Role.ASSISTANT, one), TextReceived(Role.ASSISTANT, two):
            return replace(first, event=replace(first.event, text=one + two))
        case ReasoningText(one_id, one), ReasoningText(two_id, two) if one_id == two_id:
            return replace(first, event=ReasoningText(one_id, one + two))
        case ToolPreparing(call, one), ToolPreparing(same, two) if call == same:
            return replace(first, event=ToolPreparing(call, one + two))
    return None


def _as_sent(call: ToolCall, pairs: Sequence[tuple[str, object]]) -> list[tuple[str, object]]:
    """Give of a call what the server said; what that means has tests of its own."""
    sent = dict(pairs[: len(SENT)])
    if call.name is None:  # that ECA has no such tool is not sent
        sent["origin"] = None
    for change in call.changes or ():
        sent["details"] = FileChange(change.path, change.diff, change.added, change.removed)
    return list(sent.items())


def _line(event: AgentEvent) -> str:
    if not isinstance(event, Addressed):
        return _words(event)
    parent = f" in {event.parent_id}" if event.parent_id else ""
    return f"[{event.chat_id}{parent}] {_words(event.event)}"


def _words(value: object) -> str:
    """Show a value; fields at their default are left out."""
    match value:
        case ChatOption():
            offers = [offer.value for offer in value.offers]
            return f"{value.id}={value.value!r}" + (f" of {offers}" if offers else "")
        case OptionsChanged():
            return f"OptionsChanged({', '.join(map(_words, value.options))})"
        case Tool():  # what it does has tests of its own
            return repr(value.name)
        case ToolServerChanged() if value.since:  # which differs each time
            return _words(replace(value, since=0.0))
        case Enum():
            return str(value.value)
        case tuple():
            return f"({', '.join(map(_words, value))})"
        case str() | int() | float() | dict() | None:
            return repr(value)
        case _:
            known = cast(Any, value)
            names, defaults = known.__struct_fields__, known.__struct_defaults__
            usual = (*[NODEFAULT] * (len(names) - len(defaults)), *defaults)
            pairs = [(name, getattr(known, name)) for name in names]
            pairs = _as_sent(value, pairs) if isinstance(value, ToolCall) else pairs
            told = [pair for pair, default in zip(pairs, usual, strict=False) if pair[1] != default]
            shown = [f"{name}={_words(item)}" for name, item in told]
            return f"{type(value).__name__}({', '.join(shown)})"
