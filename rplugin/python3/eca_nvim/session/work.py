"""What the agent does in the background, as while it starts, from beginning to end."""

from __future__ import annotations

from eca_nvim.chat.events import WorkChanged
from eca_nvim.chat.ops import SetWork
from eca_nvim.chat.text import one_line


class Work:
    """The tasks that run; they end with their agent, finished or not."""

    def __init__(self) -> None:
        self._titles: dict[str, str] = {}  # by id, oldest first

    def take(self, event: WorkChanged) -> SetWork:
        """Take the beginning or the end of a task."""
        if event.done:
            self._titles.pop(event.id, None)
        else:
            self._titles[event.id] = one_line(event.title)
        return self._shown()

    def end(self) -> SetWork:
        """End all there is: nobody is left to do it."""
        self._titles.clear()
        return self._shown()

    def _shown(self) -> SetWork:
        return SetWork(tuple(self._titles.values()))
