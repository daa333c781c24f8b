"""Shell commands that run in the background."""

from typing import ClassVar

from eca_nvim.protocol.base.types import Int, Notification, Request, Wire


class Job(Wire, frozen=True, kw_only=True):
    """A job; `status` is running, completed, failed or killed.

    `label` is the command; `started_at` an ISO 8601 time; `elapsed` a text ("5m23s");
    `tool_call_id` the call that started it (not documented).
    """

    id: str
    type: str | None = None
    status: str | None = None
    label: str | None = None
    summary: str | None = None
    started_at: str | None = None
    elapsed: str | None = None
    exit_code: Int | None = None
    chat_id: str | None = None
    chat_label: str | None = None
    tool_call_id: str | None = None


class Jobs(Wire, frozen=True, kw_only=True):
    """All jobs; a finished one disappears after some seconds."""

    jobs: tuple[Job, ...] = ()


class JobsUpdated(Jobs, Notification, frozen=True, kw_only=True):
    """The jobs changed."""

    method: ClassVar[str] = "jobs/updated"


class JobsListParams(Request[Jobs], frozen=True):
    """List the jobs of all chats."""

    method: ClassVar[str] = "jobs/list"


class JobKillResult(Wire, frozen=True, kw_only=True):
    """Whether the job existed and was killed."""

    killed: bool = False


class JobKillParams(Request[JobKillResult], frozen=True, kw_only=True):
    """Kill a job."""

    method: ClassVar[str] = "jobs/kill"

    job_id: str


class OutputLine(Wire, frozen=True, kw_only=True):
    """A line of a job's output; `stream` is stdout or stderr."""

    text: str = ""
    stream: str | None = None


class JobOutputResult(Wire, frozen=True, kw_only=True):
    """A job's last lines, at most 2000; `status` is None for an unknown job."""

    lines: tuple[OutputLine, ...] = ()
    status: str | None = None
    exit_code: Int | None = None


class JobOutputParams(Request[JobOutputResult], frozen=True, kw_only=True):
    """Read a job's output; the model can still read the same output."""

    method: ClassVar[str] = "jobs/readOutput"

    job_id: str
