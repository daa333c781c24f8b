"""What a figure is: a measurement of the plugin beside that of its floor, and its goal."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from statistics import median
from typing import TypeAlias

Samples: TypeAlias = Mapping["Row", tuple[Sequence[float], Sequence[float]]]
"""By row, what was measured of the plugin and of its floor, in turn."""


class Goal(Enum):
    """What a goal limits: the ratio to the floor, the figure itself, or the difference."""

    RATIO = auto()
    ITSELF = auto()
    MORE = auto()


def percentile(percent: float) -> Callable[[Sequence[float]], float]:
    """Return what finds the smallest value that `percent` % of all do not exceed."""

    def find(values: Sequence[float]) -> float:
        rank = math.ceil(len(values) * percent / 100)
        return sorted(values)[max(rank, 1) - 1]

    return find


@dataclass(frozen=True, eq=False)
class Row:
    """What is measured.

    `most`: the goal, by Neovim's version where they differ; in `unit` unless it is a ratio. `says`:
    what is compared with what, and why it matters. `of`: what stands for all samples.
    """

    name: str
    most: float | Mapping[str, float]
    says: str
    goal: Goal = Goal.RATIO
    unit: str = "s"
    of: Callable[[Sequence[float]], float] = median

    def limit(self, neovim: str | None) -> float:
        """Return the goal with a version."""
        if isinstance(self.most, Mapping):
            assert neovim is not None
            return self.most[neovim]
        return self.most

    def show(self, value: float) -> str:
        """Return a value of this row, for people."""
        if self.unit == "MiB":
            return f"{value:.0f} MiB"
        if value >= 1:
            return f"{value:.2f} s" if value < 100 else f"{value:.0f} s"
        digits = 2 if value < 0.01 else 1 if value < 0.1 else 0  # else a goal that is missed is met
        return f"{value * 1000:.{digits}f} ms"


@dataclass(frozen=True)
class Figure:
    """A row as it was measured, in its unit. `neovim`: the version, None if it needs none."""

    row: Row
    neovim: str | None
    ours: float
    floor: float

    @property
    def value(self) -> float:
        """Return what the goal limits."""
        match self.row.goal:
            case Goal.RATIO:
                return self.ours / self.floor
            case Goal.MORE:
                return self.ours - self.floor
            case Goal.ITSELF:
                return self.ours

    @property
    def is_met(self) -> bool:
        """Compare with the goal."""
        return self.value <= self.row.limit(self.neovim)


def summed_up(row: Row, neovim: str | None, samples: Samples) -> Figure:
    """Return the figure of all samples of a row.

    A difference is that of neighbours: both were slow if the machine was, for a moment.
    """
    ours, floor = samples[row]
    if row.goal is Goal.MORE:
        least = row.of(floor)
        more = [mine - its for mine, its in zip(ours, floor, strict=True)]
        return Figure(row, neovim, least + row.of(more), least)
    return Figure(row, neovim, row.of(ours), row.of(floor))
