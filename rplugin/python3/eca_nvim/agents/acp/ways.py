"""Ways: how a session is opened, and which ways one agent has.

Rules kept here:
- To go on, an agent resumes; if it cannot, it loads, and what it replays is shown already. Else the
  chat gets a new session. To show what was said, an agent loads.
- An agent that announces a method and does not know it counts as one that does not announce it.
"""

from __future__ import annotations

from enum import Enum, auto

from eca_nvim.protocol.acp.lifecycle import AgentCapabilities


class Way(Enum):
    """A request that opens a session."""

    NEW = auto()
    RESUME = auto()
    LOAD = auto()


class Ways:
    """The ways of one agent process."""

    def __init__(self) -> None:
        self._offered = {Way.NEW}

    def announced(self, can: AgentCapabilities) -> None:
        """Note what the agent says it can do."""
        if can.load_session:
            self._offered.add(Way.LOAD)
        if can.session_capabilities.resume is not None:
            self._offered.add(Way.RESUME)

    def absent(self, way: Way) -> None:
        """Note that the agent does not know the method."""
        self._offered.discard(way)

    def to_begin(self) -> list[Way]:
        """Return the way to a session that does not exist."""
        return [Way.NEW]

    def to_go_on(self) -> list[Way]:
        """Return the ways to a session whose text is shown, the best first."""
        return self._of(Way.RESUME, Way.LOAD, Way.NEW)

    def to_show(self) -> list[Way]:
        """Return the ways to a session whose text is wanted, the best first."""
        return self._of(Way.LOAD, Way.RESUME)

    def _of(self, *wanted: Way) -> list[Way]:
        return [way for way in wanted if way in self._offered]
