"""Call ids: ours for the calls of a session, because agents use theirs again."""

from __future__ import annotations

from itertools import count
from typing import Final

_NAMELESS: Final = "call"


class CallIds:
    """Makes ids that are unique in a chat.

    life: what the ids begin with; another one for each session that a chat has, one after the
    other, because an agent that was started again begins to count again.
    """

    def __init__(self, life: str) -> None:
        self._life = life
        self._used: set[str] = set()

    def fresh(self, remote: str) -> str:
        """Return an unused id, made of the agent's."""
        first = wanted = f"{self._life}{remote}" or _NAMELESS
        if wanted in self._used:
            wanted = next(name for n in count(2) if (name := f"{first}#{n}") not in self._used)
        self._used.add(wanted)
        return wanted
