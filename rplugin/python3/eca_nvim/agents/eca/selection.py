"""Selection: who answers the prompts of a chat, in ECA's words, and what the server says of it."""

from __future__ import annotations

from msgspec import Struct


class Selection(Struct, frozen=True):
    """What a chat's prompts are sent with; None or "" leaves the choice to the server."""

    model: str | None = None
    agent: str | None = None
    variant: str | None = None
    trust: bool = False


class Announced(Struct, frozen=True):
    """The choices the user has, and the defaults; None means unchanged (config/updated).

    chat_id: the selection applies to this chat only. forced: the selections ("model", "agent") that
    replace those of every chat. wants_trust: whether the server's configuration lets tools run
    without asking the user. bring_models: whether an agent in `agents` may select its own model.
    """

    models: tuple[str, ...] | None = None
    agents: tuple[str, ...] | None = None
    variants: tuple[str, ...] | None = None
    model: str | None = None
    agent: str | None = None
    variant: str | None = None
    wants_trust: bool | None = None
    welcome: str | None = None
    chat_id: str | None = None
    forced: tuple[str, ...] = ()
    bring_models: bool = True
