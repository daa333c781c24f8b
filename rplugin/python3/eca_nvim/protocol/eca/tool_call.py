"""Tool call: prepare, run, running, called or rejected, and details, one class per kind of call."""

from typing import Any, TypeAlias

import msgspec

from eca_nvim.protocol.base.types import Int, OpenEnum, UnknownPart, Wire


class FileChangeDetails(Wire, frozen=True, kw_only=True, tag_field="type", tag="fileChange"):
    """A change of one file.

    `diff` consists of hunks, without a `---`/`+++` header and a final newline; that of a new file
    removes a line that never existed.
    """

    path: str = ""
    diff: str = ""
    lines_added: Int | None = None
    lines_removed: Int | None = None


class OwnChangeDetails(FileChangeDetails, frozen=True, kw_only=True):
    """A change that the client makes, for a server of the first draft; no server sends it."""


class JsonOutputsDetails(Wire, frozen=True, kw_only=True, tag_field="type", tag="jsonOutputs"):
    """Outputs that are JSON, formatted by the server."""

    jsons: tuple[str, ...] = ()


class SubagentDetails(Wire, frozen=True, kw_only=True, tag_field="type", tag="subagent"):
    """A subagent that the call runs; without `max_steps` there is no limit.

    `subagent_chat_id` is known from toolCallRun on.
    """

    subagent_chat_id: str | None = None
    agent_name: str | None = None
    model: str | None = None
    variant: str | None = None
    step: Int | None = None
    max_steps: Int | None = None


class TaskStatus(OpenEnum):
    """State of a task."""

    PENDING = "pending"
    IN_PROGRESS = "in-progress"
    DONE = "done"
    UNKNOWN = "unknown"


class Task(Wire, frozen=True, kw_only=True):
    """A task in the agent's task list; `priority` is high, medium or low."""

    id: Int
    subject: str = ""
    description: str | None = None
    status: TaskStatus = TaskStatus.UNKNOWN
    priority: str | None = None
    is_blocked: bool = False
    blocked_by: tuple[Int, ...] = ()


class TaskSummary(Wire, frozen=True, kw_only=True):
    """The number of tasks by state."""

    done: Int = 0
    in_progress: Int = 0
    pending: Int = 0
    total: Int = 0


class TaskDetails(Wire, frozen=True, kw_only=True, tag_field="type", tag="task"):
    """The agent's whole task list."""

    tasks: tuple[Task, ...] = ()
    in_progress_task_ids: tuple[Int, ...] = ()
    summary: TaskSummary | None = None
    active_summary: str | None = None


class ShellCommand(Wire, frozen=True, kw_only=True):
    """One command of a chain.

    `approval_key` is the key that "approve and remember" would remember ("git checkout"), None
    if this command always needs approval; `remembered`: the key is remembered already.
    """

    command: str = ""
    args: tuple[str, ...] = ()
    approval_key: str | None = None
    remembered: bool = False


class ShellCommandDetails(Wire, frozen=True, kw_only=True, tag_field="type", tag="shellCommand"):
    """A shell line, split into commands; `background`: it becomes a job."""

    commands: tuple[ShellCommand, ...] = ()
    background: bool = False


class UnknownDetails(UnknownPart, frozen=True, tag_field="type", tag=""):
    """A kind of details this client does not know."""


Details: TypeAlias = (
    FileChangeDetails
    | JsonOutputsDetails
    | SubagentDetails
    | TaskDetails
    | ShellCommandDetails
    | UnknownDetails
)


class ToolCall(Wire, frozen=True, kw_only=True):
    """Fields of all these contents. `origin` is mcp, native, server or unknown.

    For a tool the server does not know, and for a replayed call, most are null.
    """

    name: str | None = None
    server: str | None = None
    origin: str | None = None
    summary: str | None = None
    details: Details | None = None


class ToolCallPrepare(ToolCall, frozen=True, kw_only=True, tag_field="type", tag="toolCallPrepare"):
    """The model is writing the call; each `arguments_text` continues the previous one."""

    id: str
    arguments_text: str = ""


class ToolCallRun(ToolCall, frozen=True, kw_only=True, tag_field="type", tag="toolCallRun"):
    """The call is complete; with `manual_approval` it waits for the user."""

    id: str
    arguments: dict[str, Any] = msgspec.field(default_factory=dict)
    manual_approval: bool = False


class ToolCallRunning(ToolCall, frozen=True, kw_only=True, tag_field="type", tag="toolCallRunning"):
    """The call is running; repeated with new details while a subagent works."""

    id: str
    arguments: dict[str, Any] = msgspec.field(default_factory=dict)


class ToolOutput(Wire, frozen=True, kw_only=True):
    """A piece of a call's result; `type` is text."""

    type: str | None = None
    text: str


class ToolCalled(ToolCall, frozen=True, kw_only=True, tag_field="type", tag="toolCalled"):
    """The call ended; `total_time_ms` is in milliseconds.

    Without an id it belongs to no call: it reports that the server cleared a finished task list.
    """

    id: str | None = None
    arguments: dict[str, Any] = msgspec.field(default_factory=dict)
    error: bool | None = None
    outputs: tuple[ToolOutput, ...] = ()
    total_time_ms: Int | None = None


class ToolCallRejected(
    ToolCall, frozen=True, kw_only=True, tag_field="type", tag="toolCallRejected"
):
    """The call will not run; `reason` is nearly always "user", whoever rejected it."""

    id: str
    arguments: dict[str, Any] = msgspec.field(default_factory=dict)
    reason: str | None = None
