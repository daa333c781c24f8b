"""Whether figures grow: a line through the last half of them, against how they scatter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import linear_regression

LEAST = 0.02
"""The part of the level that is no growth, as pages are not given back one by one."""


@dataclass(frozen=True)
class Course:
    """How a figure went on from rest to rest. `growth` and `noise` are of the last half."""

    first: int
    last: int
    most: int
    growth: float
    noise: float

    @property
    def grows(self) -> bool:
        """Whether it grew by more than twice what it scatters, and by more than `LEAST`."""
        return self.growth > 2 * self.noise and self.growth > self.last * LEAST


def course(values: Sequence[int]) -> Course:
    """Fit a line to the last half of the values, one for each rest."""
    half = values[len(values) // 2 :]
    growth = noise = 0.0
    if len(half) > 2:  # a line fits any two
        slope, start = linear_regression(range(len(half)), half)
        rests = [value - (start + slope * place) for place, value in enumerate(half)]
        growth = slope * (len(half) - 1)
        noise = (sum(rest * rest for rest in rests) / (len(half) - 2)) ** 0.5
    return Course(values[0], values[-1], max(values), growth, noise)
