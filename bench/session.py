"""All runs of one Neovim version, and the figures they come to."""

from __future__ import annotations

import tempfile
from collections import defaultdict
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from pathlib import Path

from bench import figures, opening, startup, workloads
from bench.editor import Unmeasurable
from bench.figures import Figure, median, percentile, ratio
from bench.opening import Opening
from bench.run import Sample, run
from bench.sides import Floor, Ours
from bench.workloads import WORKLOADS, Workload

STALL_TARGET_MS = {"0.10.4": 20.0, "0.12.4": 8.0}
OPENINGS = 15

RATIOS = (
    (workloads.BURST, "2,000 chunks at full speed, time to last text / floor", 1.6),
    (workloads.LONG_BURST, "20,000 chunks / floor", 2.0),
    (workloads.HISTORY, "2,000 chunks into a chat of 50,000 lines / floor", 1.6),
    (workloads.FENCES, "Markdown with 2,000-line fences / floor", 2.0),
)

Say = Callable[[str], None]


@dataclass
class Session:
    """Runs workloads with one version and keeps what they showed, by the workload's name."""

    version: str
    say: Say
    ours: dict[str, list[Sample]] = field(default_factory=lambda: defaultdict(list))
    floor: dict[str, list[Sample]] = field(default_factory=lambda: defaultdict(list))
    openings: list[Opening] = field(default_factory=list)
    startup: list[float] = field(default_factory=list)

    def measure(self, names: Collection[str], runs: int | None) -> None:
        """Do all runs of the workloads named.

        Raises Unmeasurable, also when a text that was streamed is not there in the end.
        """
        for workload in WORKLOADS:
            if workload.name in names:
                self._alternate(workload, runs or workload.runs)
        if "open" in names:
            self.say(f"{self.version} open")
            self.openings = [opening.measure(self.version) for _ in range(runs or OPENINGS)]
        if "startup" in names:
            self.say(f"{self.version} startup")
            with tempfile.TemporaryDirectory(prefix="eca-bench-") as folder:
                self.startup.append(startup.added(self.version, Path(folder)))

    def _alternate(self, workload: Workload, runs: int) -> None:
        plan, mine = workload.plan(), Ours()
        for number in range(runs):
            self.say(f"{self.version} {workload.name} {number + 1}/{runs}")
            sample = run(mine, self.version, plan, workload.probe)
            if plan.turns[-1].text not in "\n".join(sample.lines):
                raise Unmeasurable(f"{workload.name}: the text shown is not the text sent")
            self.ours[workload.name].append(sample)
            if workload.floor:
                least = run(Floor(mine.size), self.version, plan, workload.probe)
                self.floor[workload.name].append(least)

    def figures(self) -> list[Figure]:
        """Compute what was measured, in the order of the targets."""
        found = [
            ratio(name, _times(self.ours[key.name]), _times(self.floor[key.name]), target)
            for key, name, target in RATIOS
            if self.ours[key.name]
        ]
        for compute in (self._cpu, self._stalls, self._keys, self._message, self._starts):
            found += compute()
        return found

    def _cpu(self) -> list[Figure]:
        mine = [it.cpu for it in self.ours[workloads.PACED.name] if it.cpu is not None]
        least = [it.cpu for it in self.floor[workloads.PACED.name] if it.cpu is not None]
        if not mine:
            return []
        name = "200 chunks/s for 10 s: CPU of Neovim and host"
        return [Figure(name, median(mine), "s", 1.0, floor=f"{median(least):.2f} s")]

    def _stalls(self) -> list[Figure]:
        """Tell the median over runs of each run's longest stall."""
        target = STALL_TARGET_MS[self.version]
        kinds = (
            (workloads.SMOOTH, "longest stall while streaming, 200 chunks/s"),
            (workloads.LONG_BURST, "longest stall while streaming, full speed"),
            (workloads.FENCES, "longest stall while streaming, 2,000-line fences"),
        )
        return [self._stall(name, key, target) for key, name in kinds if self.ours[key.name]]

    def _stall(self, name: str, workload: Workload, target: float) -> Figure:
        least = _stalls(self.floor[workload.name])
        floor = figures.show(median(least)) if least else ""
        samples = self.ours[workload.name]
        gap = median([it.gap for it in samples if it.gap is not None])
        worst = median(_stalls(samples)) * 1000
        return Figure(name, worst, "ms", target, f"gap {figures.show(gap)}", floor)

    def _keys(self) -> list[Figure]:
        mine = [late for runs in self.ours.values() for it in runs for late in it.latencies]
        least = [late for runs in self.floor.values() for it in runs for late in it.latencies]
        if not mine:
            return []
        floor = figures.show(percentile(least, 99)) if least else ""
        value = percentile(mine, 99) * 1000
        return [Figure("key to screen, p99", value, "ms", 5.0, f"{len(mine)} keys", floor)]

    def _message(self) -> list[Figure]:
        samples = self.ours[workloads.MESSAGE.name]
        if not samples:
            return []
        stall = median(_stalls(samples)) * 1000
        return [Figure("one message of 5 MB, stall", stall, "ms", 33.0, "text identical")]

    def _starts(self) -> list[Figure]:
        found = []
        if self.startup:
            name = "added to Neovim's start"
            found.append(Figure(name, median(self.startup) * 1000, "ms", 0.5))
        if self.openings:
            window = median([it.window for it in self.openings]) * 1000
            found.append(Figure(":EcaChat to window", window, "ms", 20.0))
            ready = [it.ready for it in self.openings]
            bare = [it.bare for it in self.openings]
            found.append(ratio(":EcaChat to prompt ready / bare pynvim host", ready, bare, 1.1))
        return found


def _times(samples: list[Sample]) -> list[float]:
    return [sample.seconds for sample in samples]


def _stalls(samples: list[Sample]) -> list[float]:
    return [sample.stall for sample in samples if sample.stall is not None]
