"""Background work: tasks, jobs and tool servers (MCP) of the agent, outside its chats."""

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from eca_nvim.chat.text.safe_text import one_line, truncate
from eca_nvim.chat.vocabulary import agent_events, ops, turn_events

NAME_CELLS = 30
_TOLD: Final[Mapping[str | None, str]] = {
    "failed": "failed: :Eca log may say why",
    "requires-auth": "needs a login: :Eca login",
}

log = logging.getLogger(__name__)


JOB_CELLS = 40


class BackgroundWork:
    """The tasks that run, the jobs and the tool servers; they end with their agent."""

    def __init__(self, server: str, home: Callable[[str], str]) -> None:
        """`home` returns the chat that shows another one, a subagent's."""
        self._server = server
        self._home = home
        self._titles: dict[str, str] = {}  # by id, oldest first
        self._jobs: tuple[turn_events.Job, ...] = ()
        self._tool_servers: dict[str, str | None] = {}  # their states, by name

    @property
    def is_running(self) -> bool:
        """Whether there is any."""
        return bool(self._titles or self._jobs)

    def update_task(self, event: agent_events.WorkChanged) -> ops.SetWork:
        """Add or remove a task."""
        if event.done:
            self._titles.pop(event.id, None)
        else:
            self._titles[event.id] = one_line(event.title)
        return self._shown()

    def update_jobs(self, jobs: Sequence[turn_events.Job]) -> ops.SetWork:
        """Replace the jobs with those of them that run."""
        self._jobs = tuple(job for job in jobs if job.state is turn_events.JobState.RUNNING)
        return self._shown()

    def update_tool_server(self, event: agent_events.ToolServerChanged) -> list[ops.Notify]:
        """Record a tool server's state; returns a warning if it has just come to need the user."""
        log.info("%s", event)
        before = self._tool_servers.get(event.name)
        self._tool_servers[event.name] = event.status or before
        told = _TOLD.get(event.status)
        if told is None or before == event.status:
            return []
        name = truncate(one_line(event.name), NAME_CELLS)
        return [ops.Notify("warn", f"the MCP server {name} {told}")]

    def clear(self) -> tuple[Sequence[turn_events.Job], ops.SetWork]:
        """Remove all tasks and jobs, as their agent has ended; return the jobs that ran."""
        killed = [replace(job, state=turn_events.JobState.KILLED) for job in self._jobs]
        self._titles.clear()
        self._tool_servers.clear()
        return killed, self.update_jobs(())

    def _shown(self) -> ops.SetWork:
        names = tuple(
            (self._home(job.chat_id or ""), truncate(one_line(job.title), JOB_CELLS))
            for job in self._jobs
        )
        titles = (*self._titles.values(), *(f"job: {name}" for _, name in names))
        return ops.SetWork(titles, self._server, names)
