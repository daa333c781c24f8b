"""Which model, agent and variant are there and chosen.

Rule: an update is partial: UNSET is what it says nothing about, None what it takes away.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

from msgspec import UNSET, UnsetType

from eca_nvim.protocol.eca.base import Notification, Wire


class SelectedModelChanged(Notification, frozen=True, kw_only=True):
    """The user chose a model; the server tells its variants with `ConfigUpdated`.

    Lost for a chat that was never prompted; without `chat_id` it is about every chat.
    """

    method: ClassVar[str] = "chat/selectedModelChanged"

    chat_id: str | None = None
    model: str
    variant: str | None = None


class SelectedAgentChanged(Notification, frozen=True, kw_only=True):
    """The user chose an agent; the server follows with model, variants and tools of it.

    Lost for a chat that was never prompted; without `chat_id` it is about every chat.
    """

    method: ClassVar[str] = "chat/selectedAgentChanged"

    chat_id: str | None = None
    agent: str


class SelectedBehaviorChanged(Notification, frozen=True, kw_only=True):
    """What `SelectedAgentChanged` was to older servers; today's take either, so send one."""

    method: ClassVar[str] = "chat/selectedBehaviorChanged"

    behavior: str


class ChatConfig(Wire, frozen=True, kw_only=True):
    """What can be chosen and what to choose; `select_*` must be followed.

    An empty `variants` means that the model has none. The `default_*` are deprecated.
    `of_behaviors`, not on the wire, says that all it tells of agents has its older name.
    """

    older_names: ClassVar[Mapping[str, str]] = {
        "agents": "behaviors",
        "selectAgent": "selectBehavior",
        "defaultAgent": "defaultBehavior",
    }

    models: tuple[str, ...] | UnsetType | None = UNSET
    agents: tuple[str, ...] | UnsetType | None = UNSET
    variants: tuple[str, ...] | UnsetType | None = UNSET
    select_model: str | UnsetType | None = UNSET
    select_agent: str | UnsetType | None = UNSET
    select_variant: str | UnsetType | None = UNSET
    select_trust: bool | UnsetType | None = UNSET
    default_model: str | UnsetType | None = UNSET
    default_agent: str | UnsetType | None = UNSET
    welcome_message: str | UnsetType | None = UNSET
    of_behaviors: bool = False

    @classmethod
    def upgrade(cls, wire: dict[str, Any]) -> dict[str, Any]:
        """Note which names are used, before they all read the same."""
        older = not wire.keys().isdisjoint(cls.older_names.values())
        newer = not wire.keys().isdisjoint(cls.older_names)
        return {**super().upgrade(wire), "ofBehaviors": older and not newer}


class ConfigUpdated(Notification, frozen=True, kw_only=True):
    """The config, the models or a choice changed; without `chat_id` for every chat."""

    method: ClassVar[str] = "config/updated"

    chat_id: str | None = None
    chat: ChatConfig | None = None
