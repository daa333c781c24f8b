"""Fuzzy: how well a name matches a query, as `matchfuzzy()` of today's Vim counts it.

Rules kept here: the letters of the query are in the name, in order; the case is ignored. Letters in
a row count most, then letters at the beginning of a word; letters between and around them count
against a name. Names that match equally well are ordered by length.
"""

from __future__ import annotations

from collections.abc import Iterable
from heapq import nsmallest
from typing import Final, TypeAlias

_SAME: Final = (1 << 31) - 1
_CONSECUTIVE: Final = 1000
_CAPITAL: Final = 700
_AFTER: Final = {"/": 900, "-": 800, "_": 800, " ": 800, ".": 600}
_MOST_PLACES: Final = 64
"""Places of a letter that are tried: the first ones. A name may repeat a letter for long."""
_OUTSIDE: Final = -5
"""Per letter before the first match or after the last."""
_BETWEEN: Final = -10
"""Per letter between two matches."""

Rank: TypeAlias = tuple[int, int, str]
"""The negative score of a name, its length, and the name: the best is the least."""

_Row: TypeAlias = list[tuple[int, int]]
"""Where a letter of the query may be in the name, and the best score up to there."""


def lowered(text: str) -> str:
    """Return a text in lower case, with as many characters."""
    return text.replace("İ", "i").lower()


def ranked(query: str, names: Iterable[str], most: int) -> list[Rank]:
    """Return the names that match, the best first."""
    wanted = lowered(query)
    scored = ((score(wanted, name, lowered(name)), name) for name in names)
    matching = [(-rating, len(name), name) for rating, name in scored if rating is not None]
    return nsmallest(most, matching)


def matches(query: str, name: str) -> bool:
    """Return whether a name has the letters of a query, which may be empty."""
    letters = iter(lowered(name))
    return all(letter in letters for letter in lowered(query))


def score(query: str, name: str, lower: str) -> int | None:
    """Return how well a name matches; None if it does not. query, lower: in lower case, not empty.

    The score of each letter at each of its places builds on the best places of the letter before.
    """
    if query == lower:
        return _SAME
    row = _first(query[0], name, lower)
    for letter in query[1:]:
        row = _next(letter, name, lower, row) if row else row
    last = len(lower) - 1
    return max((found + _OUTSIDE * (last - at) for at, found in row), default=None)


def _first(letter: str, name: str, lower: str) -> _Row:
    row: _Row = []
    at = lower.find(letter)
    while at >= 0 and len(row) < _MOST_PLACES:
        row.append((at, _OUTSIDE * at + _bonus(name, at)))
        at = lower.find(letter, at + 1)
    return row


def _next(letter: str, name: str, lower: str, before: _Row) -> _Row:
    """Return the row of a letter; `before`: that of the letter before, not empty."""
    row: _Row = []
    passed = 0  # places in `before` that are left of `at`
    best = best_at = 0  # the best score among these, as it is worth at `best_at`
    at = lower.find(letter, before[0][0] + 1)
    while at >= 0 and len(row) < _MOST_PLACES:
        while passed < len(before) and before[passed][0] < at:
            place, found = before[passed]
            best = max(found, best + _BETWEEN * (place - best_at)) if passed else found
            best_at = place
            passed += 1
        rating = best + _BETWEEN * (at - 1 - best_at) + _bonus(name, at)
        if best_at == at - 1:
            rating = max(rating, before[passed - 1][1] + _CONSECUTIVE)
        row.append((at, rating))
        at = lower.find(letter, at + 1)
    return row


def _bonus(name: str, at: int) -> int:
    """Return what a place counts by itself: the beginning of a word counts."""
    letter = name[at]
    if not (letter.isalnum() or letter == "_"):
        return 0
    before = name[at - 1] if at else "/"
    bonus = _AFTER.get(before, 0)
    return _CAPITAL if not bonus and letter.isupper() and before.islower() else bonus
