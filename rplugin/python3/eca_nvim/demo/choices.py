"""Choices: the model, agent and variant of a chat.

Rules kept here: a variant that the model does not have is dropped. The model of a prompt is used
whether it is known or not, as by the real server.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

MODELS = ("demo/scripted", "demo/echo")
AGENTS = ("code", "plan")
VARIANTS: Mapping[str, tuple[str, ...]] = {MODELS[0]: ("low", "high"), MODELS[1]: ("low",)}

OFFER: Mapping[str, object] = {
    "models": MODELS,
    "agents": AGENTS,
    "variants": VARIANTS[MODELS[0]],
    "selectModel": MODELS[0],
    "selectAgent": AGENTS[0],
}
"""The content of the first config/updated."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The model, agent and variant of a chat."""

    model: str = MODELS[0]
    agent: str = AGENTS[0]
    variant: str | None = None

    @property
    def variants(self) -> tuple[str, ...]:
        """The variants of the model."""
        return VARIANTS.get(self.model, ())

    def changed(self, params: Mapping[str, object]) -> Choice:
        """Return the choice after a message; without a variant in it, there is no variant."""
        model = str(params.get("model") or self.model)
        variant = params.get("variant")
        known = isinstance(variant, str) and variant in VARIANTS.get(model, ())
        agent = str(params.get("agent") or self.agent)
        return Choice(model, agent, str(variant) if known else None)

    def config_fields(self) -> Mapping[str, object]:
        """Return the fields of config/updated that depend on the model."""
        return {"variants": self.variants, "selectVariant": self.variant}
