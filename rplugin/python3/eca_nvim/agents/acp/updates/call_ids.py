"""Call ids: ours for the calls and thoughts of a session, because agents use theirs again."""

from __future__ import annotations

from collections import Counter
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
        self._times: Counter[str] = Counter()

    def fresh(self, remote: str) -> str:
        """Return an unused id, made of the agent's."""
        first = wanted = f"{self._life}{remote}" or _NAMELESS
        while wanted in self._used:
            self._times[first] += 1
            wanted = f"{first}#{self._times[first] + 1}"
        self._used.add(wanted)
        return wanted
