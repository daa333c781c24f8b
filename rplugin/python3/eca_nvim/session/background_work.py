"""The agent's work outside its chats: tasks, such as its start-up, and background jobs."""

from __future__ import annotations

from eca_nvim.chat.text.safe_text import one_line, truncate
from eca_nvim.chat.vocabulary.agent_events import JobsChanged, WorkChanged
from eca_nvim.chat.vocabulary.ops import SetWork

JOB_CELLS = 40


class BackgroundWork:
    """The running tasks and jobs; they end with their agent."""

    def __init__(self, server: str) -> None:
        self._server = server
        self._titles: dict[str, str] = {}  # by id, oldest first
        self._jobs: tuple[str, ...] = ()

    @property
    def is_running(self) -> bool:
        """Whether there is any."""
        return bool(self._titles or self._jobs)

    def update_task(self, event: WorkChanged) -> SetWork:
        """Add or remove a task."""
        if event.done:
            self._titles.pop(event.id, None)
        else:
            self._titles[event.id] = one_line(event.title)
        return self._shown()

    def update_jobs(self, event: JobsChanged) -> SetWork:
        """Replace the jobs with those running now."""
        self._jobs = tuple(f"job: {truncate(one_line(it), JOB_CELLS)}" for it in event.running)
        return self._shown()

    def clear(self) -> SetWork:
        """Remove all tasks and jobs: their agent has ended."""
        self._titles.clear()
        self._jobs = ()
        return self._shown()

    def _shown(self) -> SetWork:
        return SetWork((*self._titles.values(), *self._jobs), self._server)
