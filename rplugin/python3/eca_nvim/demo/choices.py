"""What a user of the demo can choose for a chat: model, agent, variant.

Rules kept here: a variant that the model does not have is dropped. The model of a prompt is taken
as it is, known or not, as the real server takes it.
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
"""What config/updated tells before anything is chosen."""


@dataclass(frozen=True, slots=True)
class Choice:
    """What answers the prompts of a chat."""

    model: str = MODELS[0]
    agent: str = AGENTS[0]
    variant: str | None = None

    @property
    def variants(self) -> tuple[str, ...]:
        """What the model can be varied by."""
        return VARIANTS.get(self.model, ())

    def changed(self, params: Mapping[str, object]) -> Choice:
        """Give what is chosen after a message: a variant that it does not name is none."""
        model = str(params.get("model") or self.model)
        variant = params.get("variant")
        known = isinstance(variant, str) and variant in VARIANTS.get(model, ())
        agent = str(params.get("agent") or self.agent)
        return Choice(model, agent, str(variant) if known else None)

    def told(self) -> Mapping[str, object]:
        """Give the part of config/updated that follows from the model."""
        return {"variants": self.variants, "selectVariant": self.variant}
