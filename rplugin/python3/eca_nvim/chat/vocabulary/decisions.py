"""Decisions: the answers an agent offers for a call that needs approval.

Rules kept here: as in `events.py`; an id is the agent's own and means nothing here.
"""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct


class ChoiceKind(StrEnum):
    """What an answer means, as far as the kind tells (ACP: PermissionOptionKind)."""

    ALLOW_ONCE = "allow_once"
    ALLOW_ALWAYS = "allow_always"
    REJECT_ONCE = "reject_once"
    REJECT_ALWAYS = "reject_always"

    @property
    def allows(self) -> bool:
        """Whether the call runs."""
        return self in (ChoiceKind.ALLOW_ONCE, ChoiceKind.ALLOW_ALWAYS)


class Choice(Struct, frozen=True):
    """One answer; `name` is the agent's, and says how far the answer goes.

    remembers: what the agent remembers with it, one item each, if the name does not say it.
    """

    id: str
    name: str
    kind: ChoiceKind
    remembers: tuple[str, ...] = ()


ALLOW = Choice("allow", "allow", ChoiceKind.ALLOW_ONCE)
REJECT = Choice("reject", "reject", ChoiceKind.REJECT_ONCE)

_PLAIN_NAMES = {
    ChoiceKind.ALLOW_ONCE: {"accept", "allow", "allow once", "approve", "proceed", "yes"},
    ChoiceKind.ALLOW_ALWAYS: {"allow always", "always", "always allow"},
    ChoiceKind.REJECT_ONCE: {"cancel", "deny", "no", "reject", "reject once"},
    ChoiceKind.REJECT_ALWAYS: {"always reject", "never", "reject always"},
}
"""Names that say no more than their kind."""


def needs_list(choices: tuple[Choice, ...]) -> bool:
    """Return whether the user must see all names: two are of one kind, or a name says more."""
    kinds = [choice.kind for choice in choices]
    if len(set(kinds)) < len(kinds) or ChoiceKind.REJECT_ALWAYS in kinds:
        return True
    return any(not _is_plain(choice) for choice in choices)


def _is_plain(choice: Choice) -> bool:
    name = choice.name.casefold().strip(" .!").replace(", ", " ")
    return name in _PLAIN_NAMES[choice.kind]
