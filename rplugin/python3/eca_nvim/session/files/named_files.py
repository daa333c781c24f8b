"""Named files: finds out which paths that were named are files.

Rules kept here:
- A path is data: only its kind is looked up, in a thread, because a disk may be slow or hang.
- One look at a time. If too many wait, the next ones are not counted: they are only for a list.
"""

from __future__ import annotations

import logging
import os
import stat
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Final

import anyio

from eca_nvim.chat.vocabulary.effects import FindFiles
from eca_nvim.chat.vocabulary.file_uses import FileNamed, FileUsed
from eca_nvim.session.files.surveys import run_in_thread

MOST_WAITING: Final = 1000
"""Requests that wait, at most."""

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
            log.warning("too many files to look for: %d are not counted", len(effect.named))

    async def run(self) -> None:
        """Look for files until cancelled."""
        async with self._requests_in, self._requests:
            async for request in self._requests:
                files = await run_in_thread(partial(_files, request.named))
                if files:
                    self._found(request.chat, files)


def _files(named: Iterable[FileNamed]) -> Sequence[FileUsed]:
    return [FileUsed(it.path, it.use) for it in named if _is_file(it.path)]


def _is_file(path: str) -> bool:
    try:
        return stat.S_ISREG(os.stat(path).st_mode)  # noqa: PTH116 - a path may have any name
    except (OSError, ValueError):
        return False
