"""Tool calls: turns ECA's messages about tool calls, and their details, into chat events.

Rules kept here:
- A server remembers the commands of a shell line, else the bare name of the tool: a tool of that
  name on any server then runs without asking, with any arguments. It does so in all chats, until
  it ends: the words say how far an answer goes.
- A server that does not name a tool's server is too old to remember.
- Only `manualApproval` says that a call waits for the user.
- Only the id is reliable: a value that a message omits may be in an earlier one.
- Details of an unknown kind are kept as text.
- Older servers mark their own tools by a prefix of the name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from msgspec.msgpack import Encoder
from msgspec.structs import replace

from eca_nvim.agents.eca.content.known_tools import asks_by_command, described
from eca_nvim.chat.text.output import document
from eca_nvim.chat.text.text_differences import added_lines
from eca_nvim.chat.vocabulary import call_details, events, requests
from eca_nvim.chat.vocabulary import call_details as ours
from eca_nvim.chat.vocabulary.events import ChatEvent, Dialogue, QuestionAsked
from eca_nvim.protocol.eca import tool_call as eca
from eca_nvim.protocol.eca import tool_call as eca_details
from eca_nvim.protocol.eca.tool_call import FileChangeDetails, ToolCalled

ALWAYS_ID: Final = "always"


def choices(call: call_details.ToolCall) -> tuple[requests.Choice, ...]:
    """Return the answers for a call that needs approval."""
    remembers = _remembers(call)
    if not remembers:
        return (requests.ALLOW, requests.REJECT)
    always = requests.Choice(ALWAYS_ID, "always allow", requests.ChoiceKind.ALLOW_ALWAYS, remembers)
    return (requests.ALLOW, always, requests.REJECT)


def _remembers(call: call_details.ToolCall) -> tuple[str, ...]:
    if call.server is None:
        return ()
    if isinstance(call.details, call_details.ShellCommand):
        keys = [part.remember_key for part in call.details.parts if not part.remembered]
        whose = "" if call.origin == "native" else f" of {call.name or ''}"
        return tuple(dict.fromkeys(f"any {key}{whose}" for key in keys if key))
    if call.name is None or call.origin == "unknown" or asks_by_command(call):
        return ()
    return (f"any {call.name} on any server",)


_TOOL: Final = "ask_user"
_ANSWERED: Final = "User answered: "
"""How the server words the user's answer for its model."""


def dialogue(content: ToolCalled) -> Dialogue | None:
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


_OLD_PREFIX: Final = "eca_"
_pack: Final = Encoder().encode


class ToolCallReader:
    """Turns messages about tool calls into events.

    The messages about one call come in a row and repeat what is known of it: what they say is
    worked out once, and told as the same value.
    """

    def __init__(self) -> None:
        self._content: bytes | None = None
        self._call = ours.ToolCall("")

    def event(self, content: eca.ToolCall) -> ChatEvent:
        """Turn one message into its event.

        A finished call has the id "" if the server only reports that it cleared its task list.
        """
        match content:
            case eca.ToolCallPrepare():
                return events.ToolPreparing(self._read(content, content.id), content.arguments_text)
            case eca.ToolCallRun():
                call = self._read(content, content.id, content.arguments)
                if not content.manual_approval:
                    return events.ToolRequested(call)
                call = _marked_missing(call)
                return events.ToolRequested(call, needs_approval=True, choices=choices(call))
            case eca.ToolCallRunning():
                call = self._read(content, content.id, _known(content.arguments))
                return events.ToolRunning(call, is_approved=True)
            case eca.ToolCalled():
                return events.ToolFinished(
                    call=self._read(content, content.id or "", _known(content.arguments)),
                    outputs=tuple(output.text for output in content.outputs),
                    failed=bool(content.error),
                    total_ms=content.total_time_ms,
                    dialogue=dialogue(content),
                )
            case eca.ToolCallRejected():
                call = self._read(content, content.id, _known(content.arguments))
                return events.ToolRejected(call, content.reason)
            case _:
                raise TypeError(f"{type(content).__name__} is not a message about a tool call")

    def _read(
        self, content: eca.ToolCall, call_id: str, arguments: Mapping[str, object] | None = None
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


def _marked_missing(call: ours.ToolCall) -> ours.ToolCall:
    """Mark a call that waits and has neither name nor server: ECA has no such tool."""
    is_named = call.name or call.server or call.origin
    return call if is_named else replace(call, origin="unknown")


def _known(arguments: Mapping[str, object]) -> Mapping[str, object] | None:
    """Return arguments with names; None for a list or nothing: an earlier message had the names."""
    return None if all(map(str.isdigit, arguments)) else arguments


def _call(
    content: eca.ToolCall, call_id: str, arguments: Mapping[str, object] | None
) -> ours.ToolCall:
    details = content.details
    change = _file_change(details) if isinstance(details, FileChangeDetails) else None
    return described(
        ours.ToolCall(
            id=call_id,
            name=_own_name(content),
            server=content.server,
            origin=content.origin,
            summary=content.summary,
            details=_details(details),
            arguments=arguments,
            changes=None if change is None else (change,),
        )
    )


def _own_name(content: eca.ToolCall) -> str | None:
    """Return a tool's name, without the prefix that older servers give their own tools."""
    if content.name is None or content.origin != "native":
        return content.name
    return content.name.removeprefix(_OLD_PREFIX) or content.name


def _details(details: eca_details.Details | None) -> ours.Details | None:
    match details:
        case None | FileChangeDetails():
            return None
        case eca_details.ShellCommandDetails():
            parts = tuple(map(_shell_part, details.commands))
            return ours.ShellCommand(parts, details.background)
        case eca_details.JsonOutputsDetails():
            return ours.JsonOutputs(details.jsons)
        case eca_details.SubagentDetails():
            return _subagent(details)
        case eca_details.TaskDetails():
            return ours.TaskList(tuple(map(_task, details.tasks)), details.active_summary)
        case eca_details.UnknownDetails():
            return ours.UnknownDetails(details.kind, plain_text(details.fields))


def _file_change(details: FileChangeDetails) -> ours.FileChange:
    added, removed = details.lines_added or 0, details.lines_removed or 0
    change = ours.FileChange(details.path, details.diff, added, removed)
    return replace(change, added=added_lines(change))


def _shell_part(command: eca_details.ShellCommand) -> ours.ShellPart:
    return ours.ShellPart(command.command, command.args, command.approval_key, command.remembered)


def _subagent(details: eca_details.SubagentDetails) -> ours.Subagent:
    return ours.Subagent(
        agent=details.agent_name or "",
        chat_id=details.subagent_chat_id,
        model=details.model,
        variant=details.variant,
        step=details.step,
        max_steps=details.max_steps,
    )


_TASK_STATUSES = {
    eca_details.TaskStatus.IN_PROGRESS: ours.TaskStatus.IN_PROGRESS,
    eca_details.TaskStatus.DONE: ours.TaskStatus.DONE,
}


def _task(task: eca_details.Task) -> ours.Task:
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
