"""Choices: the available and selected models, agents and variants.

Rule: an update is partial: UNSET means unchanged, None means removed.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

from msgspec import UNSET, UnsetType

from eca_nvim.protocol.base.types import Notification, Wire


class SelectedModelChanged(Notification, frozen=True, kw_only=True):
    """The user selected a model; the server sends its variants with `ConfigUpdated`.

    Lost for a chat that was never prompted; without `chat_id` it applies to every chat.
    """

    method: ClassVar[str] = "chat/selectedModelChanged"

    chat_id: str | None = None
    model: str
    variant: str | None = None


class SelectedAgentChanged(Notification, frozen=True, kw_only=True):
    """The user selected an agent; the server then sends its model, variants and tools.

    Lost for a chat that was never prompted; without `chat_id` it applies to every chat.
    """

    method: ClassVar[str] = "chat/selectedAgentChanged"

    chat_id: str | None = None
    agent: str


class SelectedBehaviorChanged(Notification, frozen=True, kw_only=True):
    """`SelectedAgentChanged` for older servers; today's accept either, so send only one."""

    method: ClassVar[str] = "chat/selectedBehaviorChanged"

    behavior: str


class ChatConfig(Wire, frozen=True, kw_only=True):
    """The available choices and the selection; the client must follow `select_*`.

    An empty `variants` means that the model has none. The `default_*` are deprecated.
    `of_behaviors`, not on the wire: all fields about agents have their older name.
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
        """Note which names are used, before the older ones are renamed."""
        older = not wire.keys().isdisjoint(cls.older_names.values())
        newer = not wire.keys().isdisjoint(cls.older_names)
        return {**super().upgrade(wire), "ofBehaviors": older and not newer}


class ConfigUpdated(Notification, frozen=True, kw_only=True):
    """The config, the models or a selection changed; without `chat_id` for every chat."""

    method: ClassVar[str] = "config/updated"

    chat_id: str | None = None
    chat: ChatConfig | None = None
