"""What goes on in the background: work of the agent, as while it starts, and commands it began."""

from __future__ import annotations

from eca_nvim.chat.text.safe_text import one_line, truncate
from eca_nvim.chat.vocabulary.events import JobsChanged, WorkChanged
from eca_nvim.chat.vocabulary.ops import SetWork

JOB_CELLS = 40


class Work:
    """What runs; it ends with its agent, finished or not."""

    def __init__(self) -> None:
        self._titles: dict[str, str] = {}  # by id, oldest first
        self._jobs: tuple[str, ...] = ()

    def take(self, event: WorkChanged) -> SetWork:
        """Take the beginning or the end of a task."""
        if event.done:
            self._titles.pop(event.id, None)
        else:
            self._titles[event.id] = one_line(event.title)
        return self._shown()

    def take_jobs(self, event: JobsChanged) -> SetWork:
        """Take which commands run in the background now."""
        self._jobs = tuple(f"job: {truncate(one_line(it), JOB_CELLS)}" for it in event.running)
        return self._shown()

    def end(self) -> SetWork:
        """End all there is: nobody is left to do it."""
        self._titles.clear()
        self._jobs = ()
        return self._shown()

    def _shown(self) -> SetWork:
        return SetWork((*self._titles.values(), *self._jobs))
