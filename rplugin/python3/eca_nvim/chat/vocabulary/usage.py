"""Usage: what an agent says about tokens and costs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeAlias

from msgspec import Struct

UsageSegment: TypeAlias = tuple[str, ...]
"""Text and group of a segment, then maybe a colour (`#rrggbb`) for terminals that show it."""

UsageRow: TypeAlias = Sequence[UsageSegment]

DOLLARS: Final = "USD"


class UsageCategory(Struct, frozen=True):
    """One part of the context window."""

    name: str
    tokens: int
    color: str | None = None


class UsageReported(Struct, frozen=True):
    """Tokens and cost so far (ECA: usage); costs are amounts, as text.

    currency: of the costs, as a code of ISO 4217.
    """

    session_tokens: int | None = None
    context_limit: int | None = None
    output_limit: int | None = None
    last_message_cost: str | None = None
    session_cost: str | None = None
    auto_compact_percentage: int | None = None
    categories: tuple[UsageCategory, ...] = ()
    free_tokens: int | None = None
    free_color: str | None = None
    currency: str = DOLLARS
