"""What real agents announce, as the run of the newest agents has kept it, read by the plugin."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from eca_nvim.agents.acp.options import SessionOptions
from eca_nvim.chat.vocabulary.options import ChatOption
from eca_nvim.protocol.acp.options import ConfigOption, Mode, Modes, Offer
from eca_nvim.protocol.acp.sessions import OpenedSession

KEPT: Final[Mapping[str, Mapping[str, Any]]] = json.loads(
    (Path(__file__).parents[2] / "fixtures" / "agent_options.json").read_text()
)
"""By agent its version and options; `make agents` writes it."""


def read_options(announced: Mapping[str, Any]) -> Sequence[ChatOption]:
    """Read the options of an agent, with all values that it has or had."""
    listed = announced["options"]
    return [
        *SessionOptions().listed(_option(it) for it in listed if it["type"] != "modes").options,
        *(it for found in listed if found["type"] == "modes" for it in _modes(found)),
    ]


def _option(announced: Mapping[str, Any]) -> ConfigOption:
    is_toggle = announced["type"] == "boolean"
    return ConfigOption(
        id=announced["id"],
        category=announced["category"],
        type=announced["type"],
        current_value=False if is_toggle else announced.get("value", ""),
        options=tuple(map(Offer, _values(announced))),
    )


def _modes(announced: Mapping[str, Any]) -> Sequence[ChatOption]:
    modes = Modes(announced["value"], tuple(map(Mode, _values(announced))))
    return SessionOptions().opened(OpenedSession(modes=modes)).options


def _values(announced: Mapping[str, Any]) -> Sequence[str]:
    return [*announced.get("values", []), *announced.get("earlier", [])]
