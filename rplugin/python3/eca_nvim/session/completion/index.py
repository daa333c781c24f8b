"""Index: the names in one folder, listed in the background when they are asked for.

Rules kept here:
- Nothing is listed before the first query. A query is answered from the last listing; one that is
  older than `fresh_for` seconds is made again meanwhile.
- A query that continues the last one searches what that one found, if it found all there is.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import Final

from eca_nvim.session.completion.listing import list_files, with_folders
from eca_nvim.session.completion.names import Check, Found, Names
from eca_nvim.session.files.surveys import run_in_thread

_LEAST_FRESH: Final = 2.0
_LISTING_SHARE: Final = 20
"""A listing is made again after this many times the time that it took, at the earliest."""


class FolderIndex:
    """The names in a folder. `names` is replaced as a whole, from a thread."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.names = Names()
        self._last: tuple[Names, str, Found] | None = None
        self._listing: asyncio.Task[None] | None = None
        self._checksum: int | None = None
        self._listed_at = float("-inf")
        self._fresh_for = _LEAST_FRESH

    @property
    def is_fresh(self) -> bool:
        """Whether the last listing is recent enough."""
        return time.monotonic() < self._listed_at + self._fresh_for

    async def ensure_fresh(self) -> None:
        """List the names if the last listing is old; that goes on if the wait is cancelled."""
        if self.is_fresh:
            return
        if self._listing is None or self._listing.done():
            self._listing = asyncio.ensure_future(run_in_thread(self._list))
        await asyncio.shield(self._listing)

    def find(self, query: str, check: Check) -> Sequence[str]:
        """Return names that match a query in some way; runs in a thread."""
        names, last = self.names, self._last
        if last is not None and last[0] is names and query.startswith(last[1]) and last[2].all:
            return last[2].names
        found = names.find(query, check)
        self._last = names, query, found
        return found.names

    def _list(self) -> None:
        """List the files; they rarely differ from those of the last listing."""
        began = time.monotonic()
        files = list_files(self.folder)
        if (checksum := hash(files)) != self._checksum:
            self.names, self._checksum = Names(with_folders(files)), checksum
        self._listed_at = time.monotonic()
        self._fresh_for = max(_LEAST_FRESH, (self._listed_at - began) * _LISTING_SHARE)
