"""Notices about the whole connection: start-up tasks, messages to the user, cancelling."""

from typing import ClassVar

from eca_nvim.protocol.base.types import Int, Notification, OpenEnum


class ProgressKind(OpenEnum):
    """Whether a task has begun or ended."""

    START = "start"
    FINISH = "finish"
    UNKNOWN = "unknown"


class TaskProgress(Notification, frozen=True, kw_only=True):
    """A task of the server's start-up began or ended."""

    method: ClassVar[str] = "$/progress"

    type: ProgressKind = ProgressKind.UNKNOWN
    task_id: str
    title: str | None = None


class NoticeLevel(OpenEnum):
    """Severity of a message."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"
    UNKNOWN = "unknown"


class ShowMessage(Notification, frozen=True, kw_only=True):
    """A message for the user."""

    method: ClassVar[str] = "$/showMessage"

    type: NoticeLevel = NoticeLevel.UNKNOWN
    message: str = ""


class CancelRequest(Notification, frozen=True, kw_only=True):
    """Cancel a request by its JSON-RPC id; the server answers it with error -32800."""

    method: ClassVar[str] = "$/cancelRequest"

    id: Int | str
