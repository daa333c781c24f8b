"""Quirks: what single agents send that no protocol has.

Rules kept here:
- A row names the agent and the last version that was seen to do it, and where that is recorded.
- A row works for every agent: what it matches means nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from re import Pattern
from typing import Final

from msgspec import Struct

from eca_nvim.patterns import late_pattern


class ModeInText(Struct, frozen=True):
    """A change of mode sent as text of an answer; `pattern` finds the id in a whole piece."""

    agent: str
    last_version: str
    source: str
    pattern: Pattern[str]


MODES_IN_TEXT: Final[Sequence[ModeInText]] = (
    ModeInText(
        agent="gemini",
        last_version="0.61",
        source="seen live; no recording: the piece was [MODE_UPDATE] yolo",
        pattern=late_pattern(r"\s*\[MODE_UPDATE\] ([\w-]+)\s*"),
    ),
)


def mode_in_text(text: str) -> str | None:
    """Return the id of the mode that a piece of an answer stands for; None for ordinary text."""
    if "[" not in text[:2]:
        return None
    found = (row.pattern.fullmatch(text) for row in MODES_IN_TEXT)
    return next((match[1] for match in found if match), None)
