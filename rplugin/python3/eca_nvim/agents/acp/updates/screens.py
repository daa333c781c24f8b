"""Screens: what terminals of ours print, and which call of a session shows each of them.

Rules kept here:
- An agent may embed a terminal in a call before it prints, while it does, or when it has been
  released: its output so far is shown then.
- A terminal is shown by one call, the last one that has embedded it. A call of ours that shows it
  becomes the agent's, if that embeds it in a new call.
- Memory is bounded: of many terminals the oldest can no longer be embedded.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, Protocol

from eca_nvim.agents.acp.updates.known_call import KnownCall
from eca_nvim.protocol.acp.tool_call import AnyCallContent, CallTerminal

MOST_SCREENS: Final = 64
"""Terminals of a turn that can be embedded, at most."""


class Screen(Protocol):
    """A terminal of ours."""

    @property
    def command(self) -> str:
        """What it runs, as a shell line."""

    def text(self) -> str:
        """Return the end of what it has printed."""

    def leave_to_agent(self) -> str | None:
        """Let the agent end the call of ours that shows it; returns its id, None if none does."""


class Screens:
    """The terminals of a session, by their ids."""

    def __init__(self) -> None:
        self._screens: dict[str, Screen] = {}
        self._calls: dict[str, KnownCall] = {}  # that show them

    def add(self, terminal_id: str, screen: Screen) -> None:
        """Add a terminal that calls may embed from now on."""
        self._screens[terminal_id] = screen
        while len(self._screens) > MOST_SCREENS:
            oldest = next(iter(self._screens))
            del self._screens[oldest]
            self._calls.pop(oldest, None)

    def clear(self) -> None:
        """Forget all terminals: their turn has ended."""
        self._screens.clear()
        self._calls.clear()

    def call_of(self, terminal_id: str) -> KnownCall | None:
        """Return the call that shows a terminal."""
        return self._calls.get(terminal_id)

    def shows(self, call: KnownCall) -> bool:
        """Return whether a call shows a terminal."""
        return call in self._calls.values()

    def take_own_call(self, content: Iterable[AnyCallContent]) -> str | None:
        """Return the id of a call of ours that shows a terminal in some content, at most once."""
        for part in content:
            screen = self._screens.get(part.terminal_id) if isinstance(part, CallTerminal) else None
            if screen is not None and (own := screen.leave_to_agent()) is not None:
                return own
        return None

    def embed(self, call: KnownCall, content: Iterable[AnyCallContent]) -> Iterator[Screen]:
        """Show the terminals in the content of a call; yields those that it has not shown."""
        for part in content:
            if isinstance(part, CallTerminal):
                yield from self.show(part.terminal_id, call)

    def show(self, terminal_id: str, call: KnownCall) -> Iterator[Screen]:
        """Show a terminal in a call; yields it if the call has not shown it."""
        screen, before = self._screens.get(terminal_id), self._calls.get(terminal_id)
        if screen is None or before is call:
            return
        if before is not None:
            before.hide(terminal_id)
        self._calls[terminal_id] = call
        call.show(terminal_id, screen.command, screen.text)
        yield screen
