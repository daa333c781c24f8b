"""The parts of the bench, and all runs of some of them with one Neovim."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple

from bench import completion, flood, inline, opening, prompting, rewriting, startup
from bench.editor import Unmeasurable
from bench.figures import Figure, Row, Samples, summed_up
from bench.rows import SECTIONS
from bench.workloads import WORKLOADS


class Part(NamedTuple):
    """What is measured in a run with a version (or raises Unmeasurable), and how many it takes."""

    measure: Callable[[str], Samples]
    runs: int


PARTS: Mapping[str, Part] = {
    **{it.name: Part(it.measure, it.runs) for it in WORKLOADS},
    "open": Part(opening.measure, 15),
    "completion": Part(completion.measure, 1),
    "inline": Part(inline.measure, 5),
    "rewriting": Part(rewriting.measure, 5),
    "prompting": Part(prompting.measure, 3),
    "flood": Part(flood.measure, 3),
    "startup": Part(startup.measure, 1),
}


def measure(
    neovim: str, names: Collection[str], runs: int | None, say: Callable[[str], None]
) -> tuple[Sequence[Figure], Sequence[str]]:
    """Return the figures of some parts, in the order of their rows, and what was unmeasurable.

    say: shows what is being measured.
    """
    found: dict[Row, tuple[list[float], list[float]]] = defaultdict(lambda: ([], []))
    faults = []
    for name in names:
        count = runs or PARTS[name].runs
        for number in range(count):
            say(f"{neovim} {name} {number + 1}/{count}")
            try:
                samples = PARTS[name].measure(neovim)
            except Unmeasurable as fault:
                faults.append(f"Neovim {neovim}, {name}: {fault}")
                break
            for row, (ours, floor) in samples.items():
                found[row][0].extend(ours)
                found[row][1].extend(floor)
    ordered = [row for rows in SECTIONS.values() for row in rows if row in found]
    return [summed_up(row, neovim, found) for row in ordered], faults
