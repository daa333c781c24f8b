"""Chat content: turns ECA's contents into chat events; `tool_calls.py` does tool calls.

Rules kept here:
- The draft says that the code occurs in the text. A block that the answer's lines do not show
  is added at its end in a fence, so that no code is lost or shown twice. The cost is linear in the
  bytes received.
- Nothing unknown is dropped: content of an unknown kind becomes plain text under its name.
- This is the hot path: one look-up by class, one event.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from msgspec import Struct, field

from eca_nvim.agents.eca.content.tool_calls import ToolCallReader, plain_text
from eca_nvim.agents.eca.turns import EndKind, EndReported
from eca_nvim.chat.vocabulary import events, turn_events
from eca_nvim.chat.vocabulary.events import ChatEvent, Role
from eca_nvim.protocol.eca import content as eca
from eca_nvim.protocol.eca.content import ContextBreakdown, TextContent, UsageContent
from eca_nvim.protocol.eca.draft import CodeBlock
from eca_nvim.protocol.eca.tool_call import ToolCall

_BACKTICKS: Final = re.compile("`+")
_NO_LANGUAGE: Final = re.compile(r"[^\w+#.-]")
"""Characters that would change the meaning of the line that opens a fence."""


class _Answer(Struct):
    """An unfinished answer: the pieces of its text, and the code it lists, each block once."""

    texts: list[str] = field(default_factory=list)
    blocks: dict[CodeBlock, None] = field(default_factory=dict)


class CodeBlocks:
    """The code of unfinished answers, by chat."""

    def __init__(self) -> None:
        self._answers: dict[str, _Answer] = {}

    def add(self, chat_id: str, content: TextContent) -> None:
        """Add a piece of an answer."""
        answer = self._answers.setdefault(chat_id, _Answer())
        answer.texts.append(content.text)
        answer.blocks.update(dict.fromkeys(content.code_blocks))

    def complete(self, chat_id: str) -> str:
        """End an answer; return the listed code that its text does not show, or ""."""
        answer = self._answers.pop(chat_id, _Answer())
        if not answer.blocks:
            return ""
        shown = {"", *map(str.strip, "".join(answer.texts).splitlines())}
        missing = [it for it in answer.blocks if not shown.issuperset(_lines(it))]
        return "".join(map(_fenced, missing))


def _lines(block: CodeBlock) -> list[str]:
    return [line.strip() for line in block.code.splitlines()]


def _fenced(block: CodeBlock) -> str:
    longest = max(map(len, _BACKTICKS.findall(block.code)), default=0)
    fence = "`" * max(3, longest + 1)
    language = _NO_LANGUAGE.sub("", block.language or "")
    return f"\n\n{fence}{language}\n{block.code.rstrip()}\n{fence}\n"


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


def content_event(received: eca.ContentReceived, calls: ToolCallReader) -> ChatEvent:
    """Turn one piece of content into an event."""
    content = received.content
    if isinstance(content, ToolCall):
        return calls.event(content)
    role = _ROLES[received.role]
    if type(content) is eca.TextContent:
        if role is Role.SYSTEM and content.text.strip() == _INSTEAD:
            return events.InsteadWanted(content.text)
        return events.TextReceived(role, content.text, content.content_id)
    return _CONVERTERS[type(content)](content, role)


def _link(content: eca.UrlContent, _: Role) -> ChatEvent:
    return turn_events.LinkReceived(content.title or content.url, content.url)


def _image(content: eca.ImageContent, _: Role) -> ChatEvent:
    return turn_events.ImageReceived(content.media_type or _NO_MEDIA_TYPE, content.base64)


def _progress(content: eca.ProgressContent, _: Role) -> ChatEvent:
    if content.state is eca.ProgressState.FINISHED:
        return EndReported(kind=EndKind.FINISHED)
    text = content.text or ""
    return events.ProgressChanged(text, is_retry=bool(_RETRY.search(text)))


def _reason_started(content: eca.ReasonStarted, _: Role) -> ChatEvent:
    return events.ReasoningStarted(content.id)


def _reason_text(content: eca.ReasonText, _: Role) -> ChatEvent:
    return events.ReasoningText(content.id, content.text)


def _reason_finished(content: eca.ReasonFinished, _: Role) -> ChatEvent:
    return events.ReasoningFinished(content.id, content.total_time_ms)


def _hook_started(content: eca.HookStarted, _: Role) -> ChatEvent:
    return turn_events.HookStarted(content.id, content.name or "")


def _hook_finished(content: eca.HookFinished, _: Role) -> ChatEvent:
    return turn_events.HookFinished(
        id=content.id,
        name=content.name or "",
        status=content.status,
        output=content.output,
        error=content.error,
    )


def _metadata(content: eca.MetadataContent, _: Role) -> ChatEvent:
    return events.TitleChanged(content.title or "")


def _flag(content: eca.FlagContent, _: Role) -> ChatEvent:
    return events.FlagReceived(content.text, content.content_id)


def _proposed_change(content: eca.FileChangeContent, _: Role) -> ChatEvent:
    """Show a proposed change of the protocol's first draft as text."""
    lines = [content.description, content.file, *(change.content for change in content.changes)]
    return events.UnknownReceived("fileChange", "\n".join(filter(None, lines)))


def _unknown(content: eca.UnknownContent, _: Role) -> ChatEvent:
    return events.UnknownReceived(content.kind, plain_text(content.fields))


def _usage(content: UsageContent, _: Role) -> ChatEvent:
    limit, breakdown = content.limit, content.context_breakdown or ContextBreakdown()
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


_CONVERTERS: Final[Mapping[type, Callable[[Any, Role], ChatEvent]]] = {
    eca.UrlContent: _link,
    eca.ImageContent: _image,
    eca.ProgressContent: _progress,
    UsageContent: _usage,
    eca.ReasonStarted: _reason_started,
    eca.ReasonText: _reason_text,
    eca.ReasonFinished: _reason_finished,
    eca.HookStarted: _hook_started,
    eca.HookFinished: _hook_finished,
    eca.MetadataContent: _metadata,
    eca.FlagContent: _flag,
    eca.FileChangeContent: _proposed_change,
    eca.UnknownContent: _unknown,
}
