"""Call ids: ours for the calls of a session, because agents use theirs again."""

from __future__ import annotations

from itertools import count
from typing import Final

_NAMELESS: Final = "call"


class CallIds:
    """Makes ids that are unique in a session."""

    def __init__(self) -> None:
        self._used: set[str] = set()

    def fresh(self, remote: str) -> str:
        """Return an unused id, which is the agent's own if that is unused."""
        wanted = remote or _NAMELESS
        if wanted in self._used:
            wanted = next(name for n in count(2) if (name := f"{remote}#{n}") not in self._used)
        self._used.add(wanted)
        return wanted
