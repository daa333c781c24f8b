"""Named files: finds out which paths that were named are files.

Rules kept here:
- A path is data: only its kind is looked up, in a thread, because a disk may be slow or hang.
- One look at a time, at all that waits: its thread costs more than a look. If too many wait, the
  next ones are not counted: they are only for a list.
"""

from __future__ import annotations

import logging
import os
import stat
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Final

import anyio

from eca_nvim.chat.model.call_uses import named_in
from eca_nvim.chat.vocabulary.effects import FindFiles
from eca_nvim.chat.vocabulary.file_uses import FileUsed
from eca_nvim.threads import run_in_thread

MOST_WAITING: Final = 1000
"""Requests that wait, at most."""
GATHERING_S: Final = 0.1
"""Seconds in which requests are gathered: an agent is at work, and its text comes first."""
MOST_TOGETHER: Final = 100
"""Requests that one thread looks at, at most: what it finds is counted at once."""

log = logging.getLogger(__name__)


class NamedFiles:
    """Looks for files; `found` is called with the id of a chat and its files."""

    def __init__(self, found: Callable[[str, Sequence[FileUsed]], None]) -> None:
        self._found = found
        self._requests_in, self._requests = anyio.create_memory_object_stream[FindFiles](
            MOST_WAITING
        )

    def request(self, effect: FindFiles) -> None:
        """Look for files soon."""
        try:
            self._requests_in.send_nowait(effect)
        except anyio.WouldBlock:
            log.warning("too many files to look for: those of chat %s are not counted", effect.chat)

    async def run(self) -> None:
        """Look for files until cancelled."""
        async with self._requests_in, self._requests:
            async for first in self._requests:
                await anyio.sleep(GATHERING_S)
                waiting = self._requests.statistics().current_buffer_used
                more = range(min(waiting, MOST_TOGETHER - 1))
                together = [first, *(self._requests.receive_nowait() for _ in more)]
                for chat, files in (await run_in_thread(partial(_files, together))).items():
                    self._found(chat, files)


def _files(requests: Iterable[FindFiles]) -> Mapping[str, Sequence[FileUsed]]:
    """Return the named paths that are files, by chat."""
    found: dict[str, list[FileUsed]] = {}
    for request in requests:
        files = [FileUsed(it.path, it.use) for it in named_in(request) if _is_file(it.path)]
        if files:
            found.setdefault(request.chat, []).extend(files)
    return found


def _is_file(path: str) -> bool:
    try:
        return stat.S_ISREG(os.stat(path).st_mode)  # noqa: PTH116 - a path may have any name
    except (OSError, ValueError):
        return False
