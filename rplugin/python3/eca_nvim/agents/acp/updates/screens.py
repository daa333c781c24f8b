"""Screens: what terminals of ours print, and which call of a session shows each of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import Final
from uuid import uuid4

from eca_nvim.agents.acp.updates.known_call import KnownCall
from eca_nvim.protocol.acp.tool_call import AnyCallContent, CallTerminal

MOST_SCREENS: Final = 64
"""Terminals of a turn that can be embedded, at most: of more the oldest can no longer be."""


class Screen(ABC):
    """A terminal of ours; `command`: what it runs, as a shell line.

    An agent may embed it in a call before it prints, while it does, or when it has been released.
    """

    def __init__(self, command: str) -> None:
        self.id = f"terminal {uuid4()}"
        self.command = command
        self.call: KnownCall | None = None
        """The call that shows it: the last one that has embedded it."""
        self.own_call: str | None = None
        """The id of that call, if it is ours."""

    @abstractmethod
    def text(self) -> str:
        """Return the end of what it has printed."""


class Screens:
    """The terminals of a session, by their ids."""

    def __init__(self) -> None:
        self._screens: dict[str, Screen] = {}

    def add(self, screen: Screen) -> None:
        """Add a terminal that calls may embed from now on."""
        self._screens[screen.id] = screen
        while len(self._screens) > MOST_SCREENS:
            del self._screens[next(iter(self._screens))]

    def clear(self) -> None:
        """Forget all terminals: their turn has ended."""
        self._screens.clear()

    def shows(self, call: KnownCall) -> bool:
        """Return whether a call shows a terminal."""
        return any(it.call is call for it in self._screens.values())

    def take_own_call(self, content: Iterable[AnyCallContent]) -> str | None:
        """Return the id of a call of ours that shows a terminal in some content, at most once.

        The agent ends it from now on.
        """
        for screen in self._embedded(content):
            if screen.own_call is not None:
                own, screen.own_call = screen.own_call, None
                return own
        return None

    def embed(self, call: KnownCall, content: Iterable[AnyCallContent]) -> Iterator[Screen]:
        """Show the terminals in the content of a call; yields those that it has not shown."""
        return (it for it in self._embedded(content) if show(it, call))

    def _embedded(self, content: Iterable[AnyCallContent]) -> Iterator[Screen]:
        for part in content:
            if isinstance(part, CallTerminal) and part.terminal_id in self._screens:
                yield self._screens[part.terminal_id]


def show(screen: Screen, call: KnownCall) -> bool:
    """Show a terminal in a call; returns whether it has not done so yet."""
    before, screen.call = screen.call, call
    if before is call:
        return False
    if before is not None:
        before.hide(screen.id)
    call.show(screen.id, screen.command, screen.text)
    return True
