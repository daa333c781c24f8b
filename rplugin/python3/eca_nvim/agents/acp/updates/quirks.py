"""Quirks: what single agents send that no protocol has.

Rules kept here:
- A row names the agent and the last version that was seen to do it, and where that is recorded.
- A row works for every agent: what it matches means nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec import Struct


class ModeInText(Struct, frozen=True):
    """A change of mode sent as text of an answer: a whole piece is the prefix and an id."""

    agent: str
    last_version: str
    source: str
    prefix: str


MODES_IN_TEXT: Final[Sequence[ModeInText]] = (
    ModeInText("gemini", "0.61", "seen live; there is no recording", "[MODE_UPDATE] "),
)


def mode_in_text(text: str) -> str | None:
    """Return the id of the mode that a piece of an answer stands for; None for ordinary text."""
    for row in MODES_IN_TEXT:
        if text.startswith(row.prefix) and len(words := text[len(row.prefix) :].split()) == 1:
            return words[0]
    return None
