"""Chat content: turns ECA's contents into chat events; `tool_calls.py` does tool calls."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from eca_nvim.agents.eca.content.tool_calls import plain_text
from eca_nvim.chat.vocabulary import events, turn_events
from eca_nvim.chat.vocabulary.events import ChatEvent, Role
from eca_nvim.protocol.eca import content as eca

_ROLES: Final[Mapping[eca.Role, Role]] = {
    eca.Role.USER: Role.USER,
    eca.Role.ASSISTANT: Role.ASSISTANT,
    eca.Role.SYSTEM: Role.SYSTEM,
    eca.Role.UNKNOWN: Role.SYSTEM,
}
_NO_MEDIA_TYPE: Final = "application/octet-stream"
_INSTEAD: Final = "Tell ECA what to do differently for the rejected tool(s)"
_RETRY: Final = re.compile(r"\(attempt \d+/\d+\)")
"""How the server's progress text says that it retries a failed model request."""


def content_event(received: eca.ContentReceived) -> ChatEvent:
    """Turn one piece of content, no tool call, into an event: hot path.

    Nothing unknown is dropped: content of an unknown kind becomes plain text under its name.
    """
    content, role = received.content, _ROLES[received.role]
    if type(content) is eca.TextContent:
        if role is Role.SYSTEM and content.text.strip() == _INSTEAD:
            return events.InsteadWanted(content.text)
        return events.TextReceived(role, content.text, content.content_id)
    return _CONVERTERS[type(content)](content)


def _hook_finished(content: eca.HookFinished) -> ChatEvent:
    return turn_events.HookFinished(
        id=content.id,
        name=content.name or "",
        status=content.status,
        output=content.output,
        error=content.error,
    )


def _progress(content: eca.ProgressContent) -> ChatEvent:
    text = content.text or ""
    return events.ProgressChanged(text, is_retry=bool(_RETRY.search(text)))


def _usage(content: eca.UsageContent) -> ChatEvent:
    limit, breakdown = content.limit, content.context_breakdown or eca.ContextBreakdown()
    return turn_events.UsageReported(
        session_tokens=content.session_tokens,
        context_limit=limit.context if limit else breakdown.context_limit,
        output_limit=limit.output if limit else None,
        last_message_cost=content.last_message_cost,
        session_cost=content.session_cost,
        auto_compact_percentage=content.auto_compact_percentage,
        categories=tuple(
            turn_events.UsageCategory(category.name, category.tokens, category.color)
            for category in breakdown.categories
        ),
        free_tokens=breakdown.free_tokens,
        free_color=breakdown.free_color,
    )


_CONVERTERS: Final[Mapping[type, Callable[[Any], ChatEvent]]] = {
    eca.UrlContent: lambda it: turn_events.LinkReceived(it.title or it.url, it.url),
    eca.ImageContent: lambda it: turn_events.ImageReceived(
        it.media_type or _NO_MEDIA_TYPE, it.base64
    ),
    eca.ProgressContent: _progress,
    eca.UsageContent: _usage,
    eca.ReasonStarted: lambda it: events.ReasoningStarted(it.id),
    eca.ReasonText: lambda it: events.ReasoningText(it.id, it.text),
    eca.ReasonFinished: lambda it: events.ReasoningFinished(it.id, it.total_time_ms),
    eca.HookStarted: lambda it: turn_events.HookStarted(it.id, it.name or ""),
    eca.HookFinished: _hook_finished,
    eca.MetadataContent: lambda it: events.TitleChanged(it.title or ""),
    eca.FlagContent: lambda it: events.FlagReceived(it.text, it.content_id),
    eca.UnknownContent: lambda it: events.UnknownReceived(it.kind, plain_text(it.fields)),
}
