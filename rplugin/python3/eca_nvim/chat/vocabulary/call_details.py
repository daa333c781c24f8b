"""Call details: what the agent says about a tool call, and what the call does.

Rules kept here: as in `events.py`; every value is frozen, and a value the agent omits is None.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from msgspec import Struct


class FileChange(Struct, frozen=True):
    """A change a tool makes to one file; `diff` is a unified diff, possibly hunks only."""

    path: str
    diff: str
    added: int
    removed: int


class ShellPart(Struct, frozen=True):
    """One command of a shell line; `remember_key` is the key that "remember" would add."""

    command: str
    arguments: tuple[str, ...] = ()
    remember_key: str | None = None
    remembered: bool = False


class ShellCommand(Struct, frozen=True):
    """A shell line, split into commands by the agent."""

    parts: tuple[ShellPart, ...]
    background: bool = False


class JsonOutputs(Struct, frozen=True):
    """Outputs that are formatted JSON documents."""

    documents: tuple[str, ...]


class Subagent(Struct, frozen=True):
    """A subagent, whose chat runs inside a tool call."""

    agent: str
    chat_id: str | None = None
    model: str | None = None
    variant: str | None = None
    step: int | None = None
    max_steps: int | None = None


class Task(Struct, frozen=True):
    """One entry of the agent's task list."""

    id: int
    subject: str
    status: str
    description: str = ""
    priority: str = ""
    blocked_by: tuple[int, ...] = ()
    blocked: bool = False


class TaskList(Struct, frozen=True):
    """The agent's whole task list; it replaces the previous one."""

    tasks: tuple[Task, ...]
    active_summary: str | None = None

    @property
    def done(self) -> int:
        """The number of tasks that are done."""
        return sum(task.status == "done" for task in self.tasks)

    @property
    def doing(self) -> str:
        """The agent's summary of the current work, else the tasks in progress."""
        running = (task.subject for task in self.tasks if task.status == "in-progress")
        return self.active_summary or ", ".join(running)


class UnknownDetails(Struct, frozen=True):
    """Details of a kind this client does not know; shown as text."""

    kind: str
    text: str


Details: TypeAlias = FileChange | ShellCommand | JsonOutputs | Subagent | TaskList | UnknownDetails


class ToolCall(Struct, frozen=True):
    """A tool call as known so far; later events complete earlier ones."""

    id: str
    name: str | None = None
    server: str | None = None
    origin: str | None = None
    summary: str | None = None
    details: Details | None = None
    arguments: Mapping[str, object] | None = None
