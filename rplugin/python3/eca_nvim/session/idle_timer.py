"""The idle timer of an agent: it sends the agent to sleep when nobody has used it for a while.

Rules kept here:
- Every use starts the time again. The timer wakes up once in that time at most, not at each use.
- An agent that is busy when the time is over gets the whole time again.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import anyio


class IdleTimer:
    """Counts the time since the last use of one run of an agent; `limit` is in seconds."""

    def __init__(
        self,
        limit: float,
        is_at_rest: Callable[[], bool],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._limit = limit
        self._is_at_rest = is_at_rest
        self._clock = clock
        self._used_at = clock()

    def used(self) -> None:
        """Start the time again."""
        self._used_at = self._clock()

    @property
    def left(self) -> float:
        """The seconds that are left."""
        return self._used_at + self._limit - self._clock()

    async def run(self, ended: anyio.Event) -> bool:
        """Wait until the agent may sleep; returns False if it has ended before."""
        while (left := self.left) > 0:
            with anyio.move_on_after(left):
                await ended.wait()
                return False
            if self.left <= 0 and not self._is_at_rest():
                self.used()
        return True
