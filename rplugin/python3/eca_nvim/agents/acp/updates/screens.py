"""Screens: what terminals of ours print, and which call of a session shows each of them."""

from abc import ABC, abstractmethod
from uuid import uuid4

from eca_nvim.agents.acp.updates.known_call import KnownCall


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

    def show_in(self, call: KnownCall) -> bool:
        """Show it in a call; returns whether that has not done so yet."""
        before, self.call = self.call, call
        if before is call:
            return False
        if before is not None:
            before.hide(self.id)
        call.show(self.id, self.command, self.text)
        return True
