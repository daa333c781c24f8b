"""Plan: the agent's list of tasks."""

from eca_nvim.protocol.base.types import OpenEnum, Wire


class EntryStatus(OpenEnum):
    """How far a task is."""

    PENDING = "pending"
    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"
    UNKNOWN = "unknown"


class PlanEntry(Wire, frozen=True):
    """A task; `priority` is high, medium or low."""

    content: str
    status: EntryStatus = EntryStatus.UNKNOWN
    priority: str = "medium"
