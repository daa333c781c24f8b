"""Abilities: what one agent process can do beyond a conversation, announced when it changes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from eca_nvim.agents.base import Emit
from eca_nvim.chat.vocabulary.abilities import AbilitiesChanged, Ability
from eca_nvim.protocol.acp.lifecycle import AgentCapabilities


class Abilities:
    """The abilities of one agent process; none until they are announced."""

    def __init__(self, emit: Emit) -> None:
        self._emit = emit
        self._offered: frozenset[Ability] = frozenset()

    def has(self, ability: Ability) -> bool:
        """Return whether the agent can do something."""
        return ability in self._offered

    def announce(self, abilities: Iterable[Ability]) -> None:
        """Announce all that the agent can do."""
        self._offered = frozenset(abilities)
        self._emit([AbilitiesChanged(self._offered)])

    def lost(self, ability: Ability) -> None:
        """Announce that the agent cannot do something after all."""
        self.announce(self._offered - {ability})


def of_sessions(can: AgentCapabilities) -> Iterator[Ability]:
    """Yield what an agent can do with its sessions.

    One that loads sessions and does not list them has a list: of those that this client remembers.
    """
    of_agent = can.session_capabilities
    offered = {
        Ability.LIST: of_agent.list is not None or can.load_session,
        Ability.DELETE: of_agent.delete is not None,
        Ability.RENAME: of_agent.title is not None,
        Ability.FORK: of_agent.fork is not None,
    }
    yield from (ability for ability, is_offered in offered.items() if is_offered)
