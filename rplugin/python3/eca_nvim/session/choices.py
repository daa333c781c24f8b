"""What the user may choose from, and what is chosen where nobody chose.

Rules kept here:
- What the user chose for a chat stays, whatever defaults the agent announces later.
- What the agent says of one chat holds for that chat.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from eca_nvim.agents.base import Selection
from eca_nvim.chat.events import ChoicesChanged, SelectionChanged
from eca_nvim.chat.model import Chat
from eca_nvim.chat.ops import SetChoices

SELECTABLE = ("model", "agent", "variant", "trust")


def selection(chat: Chat) -> Selection:
    """Tell what answers the prompts of a chat."""
    selected = chat.selected
    return Selection(selected.model, selected.agent, selected.variant, selected.trust)


class Choices:
    """The agent's offers, its defaults, and which chats have their own will."""

    def __init__(self) -> None:
        self._offers: dict[str, Sequence[str]] = {}
        self._defaults = SelectionChanged()
        self._chosen: dict[str, set[str]] = {}
        self.welcome: str | None = None

    def take(self, event: ChoicesChanged) -> SetChoices:
        """Take what the agent announces; gives the offers as a whole."""
        offers = {"models": event.models, "agents": event.agents, "variants": event.variants}
        self._offers |= {key: value for key, value in offers.items() if value is not None}
        if event.chat_id is None:
            told = {key: getattr(event, key) for key in SELECTABLE}
            known = {key: value for key, value in told.items() if value is not None}
            self._defaults = replace(self._defaults, **known)
        self.welcome = event.welcome or self.welcome
        return SetChoices(dict(self._offers))

    def choose(self, chat: str, what: str, value: object) -> SelectionChanged | None:
        """Take a user's choice; None when there is no such thing to choose."""
        choice = _choice(what, value)
        if choice is not None:
            self._chosen.setdefault(chat, set()).add(what)
        return choice

    def keep(self, chat: str, selection: SelectionChanged) -> None:
        """Take what a chat goes on with: it is its own choice from now on."""
        told = {what for what in SELECTABLE if getattr(selection, what) is not None}
        self._chosen.setdefault(chat, set()).update(told)

    def forget(self, chat: str) -> None:
        """Forget what was chosen for a chat that is gone."""
        self._chosen.pop(chat, None)

    def defaults(self, chat: str) -> SelectionChanged:
        """Give the defaults where a chat has no choice of its own."""
        own = self._chosen.get(chat, ())
        return replace(self._defaults, **dict.fromkeys(own))


def announced(event: ChoicesChanged) -> SelectionChanged:
    """Give the selection in an announcement."""
    return SelectionChanged(event.model, event.agent, event.variant, event.trust)


def _choice(what: str, value: object) -> SelectionChanged | None:
    match what, value:
        case "model", str():
            return SelectionChanged(model=value)
        case "agent", str():
            return SelectionChanged(agent=value)
        case "variant", str():
            return SelectionChanged(variant=value)
        case "trust", bool():
            return SelectionChanged(trust=value)
        case _:
            return None
