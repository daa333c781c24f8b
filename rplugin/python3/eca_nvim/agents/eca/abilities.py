"""Abilities: announces what a server can do, once it is ready and when that changes.

Rule kept here: nothing is announced before the server is ready, because each of its first messages
may prove a later generation.
"""

from __future__ import annotations

from eca_nvim.agents.base import Emit
from eca_nvim.agents.eca.dialect import Dialect, Generation
from eca_nvim.chat.vocabulary.abilities import ALL_ABILITIES, AbilitiesChanged, Ability


class Abilities:
    """What one server process can do."""

    def __init__(self, dialect: Dialect, emit: Emit) -> None:
        self._dialect = dialect
        self._emit = emit
        self._refused: set[Ability] = set()
        self._announced: frozenset[Ability] | None = None

    def ready(self) -> None:
        """Note that the server is ready: everything is offered until an event says otherwise."""
        self._announced = ALL_ABILITIES
        self.update()

    def refused(self, ability: Ability) -> None:
        """Note that a server of today does not know the method for something."""
        if self._dialect.generation is Generation.AGENTS:
            self._refused.add(ability)
            self.update()

    def update(self) -> None:
        """Announce what the server can do if that has changed."""
        able = self._dialect.abilities - self._refused
        if self._announced not in (None, able):
            self._announced = able
            self._emit([AbilitiesChanged(able)])
