"""The options of a session of the demo agent: its mode, its model, its thoughts.

Rules kept here: setting one returns all, since one may change what another offers. What is shown is
a name, what is sent a value.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

Offers = Mapping[str, str]

ASK, BYPASS = "ask", "bypassPermissions"
MODES: Final[Offers] = {ASK: "Ask first", BYPASS: "Bypass permissions"}
MODELS: Final[Offers] = {"demo/scripted": "Scripted", "demo/echo": "Echo"}
EFFORTS: Final[Mapping[str, Offers]] = {
    "demo/scripted": {"low": "Low", "high": "High"},
    "demo/echo": {"low": "Low"},
}


class Options:
    """The options, with their values."""

    def __init__(self) -> None:
        self._values: dict[str, str | bool] = {
            "mode": ASK,
            "model": "demo/scripted",
            "effort": "low",
            "thoughts": True,
        }

    @property
    def asks(self) -> bool:
        """Whether tools ask before they run."""
        return self._values["mode"] == ASK

    @property
    def thinks(self) -> bool:
        """Whether thoughts are sent."""
        return self._values["thoughts"] is True

    def _offers(self) -> Mapping[str, Offers]:
        return {"mode": MODES, "model": MODELS, "effort": EFFORTS[str(self._values["model"])]}

    def set(self, option: str, value: object) -> bool:
        """Change an option; returns whether the value is on offer."""
        match value:
            case bool() if option == "thoughts":
                self._values[option] = value
            case str() if value in self._offers().get(option, {}):
                self._values[option] = value
            case _:
                return False
        if self._values["effort"] not in self._offers()["effort"]:
            self._values["effort"] = "low"
        return True

    def table(self) -> list[Mapping[str, object]]:
        """Return all options as the protocol has them."""
        names = {"mode": ("Mode", "mode"), "model": ("Model", "model")}
        names["effort"] = ("Effort", "thought_level")
        selects: list[Mapping[str, object]] = [
            {
                "id": option,
                "name": names[option][0],
                "category": names[option][1],
                "type": "select",
                "currentValue": self._values[option],
                "options": [{"value": value, "name": name} for value, name in offers.items()],
            }
            for option, offers in self._offers().items()
        ]
        thoughts = {"id": "thoughts", "name": "Thoughts", "type": "boolean"}
        return [*selects, thoughts | {"currentValue": self._values["thoughts"]}]
