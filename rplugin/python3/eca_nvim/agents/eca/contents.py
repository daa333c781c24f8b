"""Contents: turns ECA's contents of a chat, tool calls among them, into chat events."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from msgspec.msgpack import Encoder
from msgspec.structs import replace

from eca_nvim.agents.eca.known_tools import asks_by_command, described
from eca_nvim.chat.text.output import document
from eca_nvim.chat.text.text_differences import added_lines
from eca_nvim.chat.vocabulary import call_details as ours
from eca_nvim.chat.vocabulary import events, requests, turn_events
from eca_nvim.chat.vocabulary.events import ChatEvent, Dialogue, QuestionAsked, Role
from eca_nvim.protocol.eca import content as eca
from eca_nvim.protocol.eca import tool_call

ALWAYS_ID: Final = "always"


def choices(call: ours.ToolCall) -> tuple[requests.Choice, ...]:
    """Return the answers for a call that needs approval."""
    kept = remembers(call)
    if not kept:
        return (requests.ALLOW, requests.REJECT)
    always = requests.Choice(ALWAYS_ID, "always allow", requests.ChoiceKind.ALLOW_ALWAYS, kept)
    return (requests.ALLOW, always, requests.REJECT)


def remembers(call: ours.ToolCall) -> tuple[str, ...]:
    """Return how far "always" goes: in all chats, until the server ends."""
    if call.server is None:  # a server that does not name it is too old to remember
        return ()
    if isinstance(call.details, ours.ShellCommand):
        keys = [part.remember_key for part in call.details.parts if not part.remembered]
        whose = "" if call.origin == "native" else f" of {call.name or ''}"
        return tuple(dict.fromkeys(f"any {key}{whose}" for key in keys if key))
    if call.name is None or call.origin == "unknown" or asks_by_command(call):
        return ()
    # The bare name is remembered: such a tool then runs on every server, whatever its arguments.
    return (f"any {call.name} on any server",)


_TOOL: Final = "ask_user"
_ANSWERED: Final = "User answered: "
"""How the server words the user's answer for its model."""


def dialogue(content: tool_call.ToolCalled) -> Dialogue | None:
    """Return the dialogue of a call; None if it asks nothing, or is malformed."""
    question = content.arguments.get("question")
    if content.name != _TOOL or not isinstance(question, str):
        return None
    answer = "\n".join(output.text for output in content.outputs)
    if not content.error and not answer.startswith(_ANSWERED):
        return None
    asked = QuestionAsked(
        id=content.id or "",
        question=question,
        options=tuple(_options(content.arguments.get("options"))),
        tool_call_id=content.id,
    )
    return Dialogue(asked, None if content.error else answer.removeprefix(_ANSWERED))


def _options(options: object) -> Iterator[tuple[str, str]]:
    """Yield label and description of options, which a model wrote in any form."""
    for option in options if isinstance(options, list) else ():
        match option:
            case {"label": str(label), "description": str(description)}:
                yield label, description
            case {"label": str(label)} | str(label):
                yield label, ""


_pack: Final = Encoder().encode


class ToolCallReader:
    """Turns messages about tool calls into events.

    The messages about one call come in a row and repeat what is known of it: what they say is
    worked out once, and told as the same value.
    """

    def __init__(self) -> None:
        self._content: bytes | None = None
        self._call = ours.ToolCall("")

    def event(self, content: tool_call.ToolCall) -> ChatEvent:
        """Turn one message into its event.

        A finished call has the id "" if the server only reports that it cleared its task list.
        """
        match content:
            case tool_call.ToolCallPrepare():
                return events.ToolPreparing(self._read(content, content.id), content.arguments_text)
            case tool_call.ToolCallRun():
                call = self._read(content, content.id, content.arguments)
                if not content.manual_approval:  # nothing else says whether it waits
                    return events.ToolRequested(call)
                if not (call.name or call.server or call.origin):  # ECA has no such tool
                    call = replace(call, origin="unknown")
                return events.ToolRequested(call, needs_approval=True, choices=choices(call))
            case tool_call.ToolCallRunning():
                call = self._read(content, content.id, _known(content.arguments))
                return events.ToolRunning(call, is_approved=True)
            case tool_call.ToolCalled():
                return events.ToolFinished(
                    call=self._read(content, content.id or "", _known(content.arguments)),
                    outputs=tuple(output.text for output in content.outputs),
                    failed=bool(content.error),
                    total_ms=content.total_time_ms,
                    dialogue=dialogue(content),
                )
            case tool_call.ToolCallRejected():
                call = self._read(content, content.id, _known(content.arguments))
                return events.ToolRejected(call, content.reason)
            case _:
                raise TypeError(f"{type(content).__name__} is not a message about a tool call")

    def _read(
        self,
        content: tool_call.ToolCall,
        call_id: str,
        arguments: Mapping[str, object] | None = None,
    ) -> ours.ToolCall:
        names = (call_id, content.name, content.server, content.origin, content.summary)
        packed = _packed((*names, content.details, arguments))
        if packed is None or packed != self._content:
            self._content, self._call = packed, _call(content, call_id, arguments)
        return self._call


def _packed(values: object) -> bytes | None:
    """Return bytes that differ for all values that look different; None if there are none."""
    try:
        return _pack(values)
    except (OverflowError, RecursionError, ValueError):  # as a number over 64 bits
        return None


def _known(arguments: Mapping[str, object]) -> Mapping[str, object] | None:
    """Return arguments with names; None for a list or nothing: an earlier message had the names."""
    return None if all(map(str.isdigit, arguments)) else arguments


def _call(
    content: tool_call.ToolCall, call_id: str, arguments: Mapping[str, object] | None
) -> ours.ToolCall:
    details, changes = content.details, None
    if isinstance(details, tool_call.FileChangeDetails):
        added, removed = details.lines_added or 0, details.lines_removed or 0
        by_us = isinstance(details, tool_call.OwnChangeDetails)
        change = ours.FileChange(details.path, details.diff, added, removed, by_us=by_us)
        changes = (replace(change, added=added_lines(change)),)
    return described(
        ours.ToolCall(
            id=call_id,
            name=content.name,
            server=content.server,
            origin=content.origin,
            summary=content.summary,
            details=_details(details),
            arguments=arguments,
            changes=changes,
        )
    )


def _details(details: tool_call.Details | None) -> ours.Details | None:
    match details:
        case None | tool_call.FileChangeDetails():
            return None
        case tool_call.ShellCommandDetails():
            parts = tuple(
                ours.ShellPart(it.command, it.args, it.approval_key, it.remembered)
                for it in details.commands
            )
            return ours.ShellCommand(parts, details.background)
        case tool_call.JsonOutputsDetails():
            return ours.JsonOutputs(details.jsons)
        case tool_call.SubagentDetails():
            return _subagent(details)
        case tool_call.TaskDetails():
            return ours.TaskList(tuple(map(_task, details.tasks)), details.active_summary)
        case tool_call.UnknownDetails():
            return ours.UnknownDetails(details.kind, plain_text(details.fields))


def _subagent(details: tool_call.SubagentDetails) -> ours.Subagent:
    return ours.Subagent(
        agent=details.agent_name or "",
        chat_id=details.subagent_chat_id,
        model=details.model,
        variant=details.variant,
        step=details.step,
        max_steps=details.max_steps,
    )


_TASK_STATUSES = {
    tool_call.TaskStatus.IN_PROGRESS: ours.TaskStatus.IN_PROGRESS,
    tool_call.TaskStatus.DONE: ours.TaskStatus.DONE,
}


def _task(task: tool_call.Task) -> ours.Task:
    return ours.Task(
        id=str(task.id),
        subject=task.subject,
        status=_TASK_STATUSES.get(task.status, ours.TaskStatus.PENDING),
        description=task.description or "",
        priority=task.priority or "",
        blocked_by=tuple(map(str, task.blocked_by)),
        blocked=task.is_blocked,
    )


def plain_text(fields: Mapping[str, Any]) -> str:
    """Return the text of an unknown object, or all of it as JSON if it has none."""
    text = fields.get("text")
    if isinstance(text, str) and text:
        return text
    shown = {key: value for key, value in fields.items() if key != "type"}
    return document(shown)


# --- texts and all else -------------------------------------------------------------------------

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
