"""Index: the names in one folder, listed in the background when they are asked for.

Rules kept here:
- Nothing is listed before the first query. A query is answered from the last listing. One that is
  old, or older than what an agent did last, is made again meanwhile.
- A query that continues the last one searches what that one found, if it found all there is.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import Final

from eca_nvim.session.completion.listing import list_files, with_folders
from eca_nvim.session.completion.names import Check, Found, Names
from eca_nvim.threads import run_in_thread

_LEAST_AGE: Final = 2.0
"""Seconds after which a listing is made again, at the earliest."""
_MOST_AGE: Final = 10.0
"""Seconds after which it is made again, even if no agent did anything."""


class FolderIndex:
    """The names in a folder. `names` is replaced as a whole, from a thread."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.names = Names()
        self._last: tuple[Names, str, Found] | None = None
        self._listing: asyncio.Task[None] | None = None
        self._checksum: int | None = None
        self._listed_at = float("-inf")

    def is_fresh(self, active_at: float) -> bool:
        """Return whether the last listing is recent enough.

        active_at: when an agent did something last, which may have been a new file (monotonic s).
        """
        age = time.monotonic() - self._listed_at
        return age < (_MOST_AGE if active_at < self._listed_at else _LEAST_AGE)

    async def refresh(self) -> None:
        """List the names, or wait for the listing that runs; it goes on if this is cancelled."""
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
        self._listed_at = began
