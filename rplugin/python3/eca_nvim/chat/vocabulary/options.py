"""Options: what the user can set in a chat, as its agent offers it.

Rules kept here:
- Ids, values, names and descriptions are the agent's text, exactly; the renderer cleans them.
- Names are shown, values are sent.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from msgspec import Struct

MODEL: Final = "model"
MODE: Final = "mode"
THOUGHT_LEVEL: Final = "thought_level"
TRUST: Final = "trust"
"""Categories that have commands of their own; an agent may have any other one, too."""


class OptionKind(StrEnum):
    """How an option is set: one of its offers is selected, or it is switched on and off."""

    SELECT = "select"
    TOGGLE = "toggle"


class OptionOffer(Struct, frozen=True):
    """A value that an option can have; offers of the same `group` are listed together."""

    value: str
    name: str
    description: str = ""
    group: str = ""


class ChatOption(Struct, frozen=True):
    """An option of a chat, with its value: a string for a select, a boolean for a toggle.

    unasked: the values with which tools run without asking the user, as the agent is known to do.
    """

    id: str
    name: str
    description: str = ""
    category: str = ""
    kind: OptionKind = OptionKind.SELECT
    value: str | bool = ""
    offers: tuple[OptionOffer, ...] = ()
    unasked: frozenset[str | bool] = frozenset()


class OptionsChanged(Struct, frozen=True):
    """An event: all options of a chat, with their values (ACP: config_option_update)."""

    options: tuple[ChatOption, ...]


class OptionRefused(Struct, frozen=True):
    """An event: the agent did not set an option, which keeps its value; `reason` is one line."""

    option_id: str
    reason: str
