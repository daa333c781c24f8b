"""What a server announces of its choices, in few words."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import UNSET

from eca_nvim.protocol.eca.chat import ChatConfig, ConfigUpdated


def announced(
    *,
    models: tuple[str, ...] | None = None,
    agents: tuple[str, ...] | None = None,
    variants: tuple[str, ...] | None = None,
    model: str | None = None,
    agent: str | None = None,
    variant: str | None = None,
    wants_trust: bool | None = None,
    welcome: str | None = None,
    chat_id: str | None = None,
    forced: Sequence[str] = (),
) -> ConfigUpdated:
    """Announce choices (config/updated); what is not named stays as it was.

    forced: the selections ("model", "agent") that replace those of every chat.
    """
    selects_model = "model" in forced or chat_id is not None
    selects_agent = "agent" in forced or chat_id is not None
    return ConfigUpdated(
        chat_id=chat_id,
        chat=ChatConfig(
            models=models,
            agents=agents,
            variants=variants,
            select_model=model if selects_model else UNSET,
            select_agent=agent if selects_agent else UNSET,
            default_model=UNSET if selects_model else model,
            default_agent=UNSET if selects_agent else agent,
            select_variant=UNSET if variant is None else variant or None,
            select_trust=UNSET if wants_trust is None else wants_trust,
            welcome_message=welcome,
        ),
    )
