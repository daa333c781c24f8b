"""Restarts: when a server that crashed while nobody used it is started again by itself."""

from typing import Final

from msgspec import Struct

WAITS: Final = (1.0, 4.0, 16.0)
"""Seconds before each start by itself of a server that goes on crashing."""
LASTING: Final = 300.0
"""Seconds after which a server that is ready counts as sound again."""


class Restarts(Struct):
    """The starts of a server by itself since the user last asked for one."""

    count: int = 0
    is_due: bool = False

    def after(self, lived: float) -> float | None:
        """Return in how many seconds the next one is due, None if there is none.

        lived: seconds for which the server was ready, 0 if its start failed: then the user sees to
        the first one.
        """
        self.count = 0 if lived >= LASTING else self.count
        self.is_due = self.count < len(WAITS) and (lived > 0 or self.count > 0)
        if not self.is_due:
            return None
        self.count += 1
        return WAITS[self.count - 1]
