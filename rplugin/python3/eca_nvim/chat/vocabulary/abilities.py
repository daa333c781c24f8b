"""Abilities: what an agent can do beyond a conversation."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from msgspec import Struct


class Ability(StrEnum):
    """Something that not every agent can do; Lua has the sentences for what is missing.

    FORK: copy a chat. FORK_HERE: up to a place in it.
    """

    STEER = "steer"
    ROLLBACK = "rollback"
    FORK = "fork"
    FORK_HERE = "fork_here"
    FLAGS = "flags"
    CLEAR = "clear"
    RENAME = "rename"
    DELETE = "delete"
    LIST = "list"
    LOGIN = "login"
    LOGOUT = "logout"


ALL_ABILITIES: Final = frozenset(Ability)
"""What is offered before an agent has said what it can do."""


class AbilitiesChanged(Struct, frozen=True):
    """An event: all that the agent can do, in every chat."""

    abilities: frozenset[Ability]
