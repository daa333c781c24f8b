"""Medians, percentiles, ratios, and the comparison of figures with their targets."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum


class Verdict(Enum):
    """Whether a figure meets its target."""

    HELD = "✓"
    OVER = "✗"


def median(values: Sequence[float]) -> float:
    """Return the median. Raises StatisticsError without values."""
    return statistics.median(values)


def percentile(values: Sequence[float], percent: float) -> float:
    """Return the smallest value that `percent` % of all do not exceed (nearest rank)."""
    ordered = sorted(values)
    rank = math.ceil(len(ordered) * percent / 100)
    return ordered[max(rank, 1) - 1]


@dataclass(frozen=True)
class Figure:
    """One figure of one Neovim version.

    `value` is compared with the target, in `unit` ("" for a ratio); `ours` and `floor` are the
    values behind it, with units, for people.
    """

    name: str
    value: float
    unit: str
    target: float
    ours: str = ""
    floor: str = ""

    @property
    def verdict(self) -> Verdict:
        """Compare with the target."""
        return Verdict.HELD if self.value <= self.target else Verdict.OVER


def ratio(name: str, ours: Sequence[float], floor: Sequence[float], target: float) -> Figure:
    """Compare medians of seconds with those of the floor in the same run."""
    mine, least = median(ours), median(floor)
    return Figure(name, mine / least, "", target, show(mine), show(least))


def show(seconds: float) -> str:
    """Format a time for people."""
    if seconds >= 1:
        return f"{seconds:.2f} s"
    milliseconds = seconds * 1000
    return f"{milliseconds:.1f} ms" if milliseconds < 100 else f"{milliseconds:.0f} ms"
