"""All runs of one Neovim version, and their figures."""

from __future__ import annotations

import tempfile
from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bench import (
    completion,
    figures,
    flood,
    inline,
    opening,
    prompting,
    rewriting,
    startup,
    workloads,
)
from bench.completion import Completed
from bench.editor import Unmeasurable
from bench.figures import Figure, median, percentile, ratio
from bench.flood import Flooded
from bench.opening import Opening
from bench.plan import Plan
from bench.prompting import Prompted
from bench.run import Sample, run
from bench.sides import Floor, Ours, Side, WindowSize
from bench.workloads import WORKLOADS, Least, Workload

STALL_TARGET_MS = {"0.10.4": 20.0, "0.12.4": 8.0}
OPENINGS = 15
COMPLETIONS = 3
INLINE = 5
FLOODS = 3
PROMPTINGS = 3

REPLAYED = "a replay of 2,000 messages, not paged"
RATIOS = (
    (workloads.BURST, "2,000 chunks at full speed, time to last text / floor", 2.0),
    (workloads.LONG_BURST, "20,000 chunks / floor", 2.0),
    (workloads.ACP_BURST, "20,000 updates of an ACP agent / floor", 3.0),
    (workloads.HISTORY, "2,000 chunks into a chat of 50,000 lines / floor", 4.0),
    (workloads.FENCES, "Markdown with 2,000-line fences / floor", 2.0),
    (workloads.CALLS, "500 tool calls with 40-line outputs / floor", 6.0),
    (workloads.DIFFS, "200 calls with 300-line diffs / floor", 3.0),
    (workloads.REPLAY, f"{REPLAYED}: its end / floor", 3.0),
    (workloads.MESSAGE, "one message of 5 MB / floor", 2.3),
)
FRAME_MS = 16.0
"""No key is late by more than a frame."""
SAME = 1.1
"""The largest ratio of two figures that counts as no difference."""
STORE_MIB = 20.0
"""What more the host takes with a store of files."""

Say = Callable[[str], None]


@dataclass
class Session:
    """Runs workloads with one version and keeps the results by name of the workload."""

    version: str
    say: Say
    ours: dict[str, list[Sample]] = field(default_factory=lambda: defaultdict(list))
    floor: dict[str, list[Sample]] = field(default_factory=lambda: defaultdict(list))
    openings: list[Opening] = field(default_factory=list)
    startup: list[float] = field(default_factory=list)
    completions: list[tuple[Completed, Completed]] = field(default_factory=list)
    inline: list[tuple[list[float], list[float]]] = field(default_factory=list)
    rewriting: list[tuple[list[float], list[float]]] = field(default_factory=list)
    prompting: list[tuple[Prompted, Prompted]] = field(default_factory=list)
    floods: list[tuple[Flooded, Flooded]] = field(default_factory=list)
    """Ours and the floor's, as those before."""

    def measure(self, names: Collection[str], runs: int | None) -> None:
        """Do all runs of some workloads.

        Raises Unmeasurable, also if streamed text is missing at the end.
        """
        for workload in WORKLOADS:
            if workload.name in names:
                self._alternate(workload, runs or workload.runs)
        if "open" in names:
            self.say(f"{self.version} open")
            self.openings = [opening.measure(self.version) for _ in range(runs or OPENINGS)]
        if "completion" in names:
            self._complete(runs or COMPLETIONS)
        if "inline" in names:
            self._complete_code(runs or INLINE)
        if "rewriting" in names:
            self._rewrite(runs or INLINE)
        if "prompting" in names:
            self._prompt(runs or PROMPTINGS)
        if "flood" in names:
            self._flood(runs or FLOODS)
        if "startup" in names:
            self.say(f"{self.version} startup")
            with tempfile.TemporaryDirectory(prefix="eca-bench-") as folder:
                self.startup.append(startup.added(self.version, Path(folder)))

    def _complete(self, runs: int) -> None:
        with completion.workspace() as folder:
            for number in range(runs):
                self.say(f"{self.version} completion {number + 1}/{runs}")
                pair = completion.ours(self.version, folder), completion.floor(self.version, folder)
                self.completions.append(pair)

    def _complete_code(self, runs: int) -> None:
        for number in range(runs):
            self.say(f"{self.version} inline {number + 1}/{runs}")
            on, off = (inline.keys(self.version, on=it) for it in (True, False))
            self.inline.append((on, off))

    def _rewrite(self, runs: int) -> None:
        for number in range(runs):
            self.say(f"{self.version} rewriting {number + 1}/{runs}")
            on, off = (rewriting.keys(self.version, on=it) for it in (True, False))
            self.rewriting.append((on, off))

    def _prompt(self, runs: int) -> None:
        for number in range(runs):
            self.say(f"{self.version} prompting {number + 1}/{runs}")
            self.prompting.append(prompting.measure(self.version))

    def _flood(self, runs: int) -> None:
        for number in range(runs):
            self.say(f"{self.version} flood {number + 1}/{runs}")
            mine = flood.ours(self.version)
            self.floods.append((mine, flood.floor(self.version, mine.size)))

    def _alternate(self, workload: Workload, runs: int) -> None:
        plan = workload.plan()
        loaded = workloads.LOADED if workload is workloads.BUFFERS else 0
        panel = "dashboard" if workload is workloads.PANEL else None
        mine = Ours(loaded, workload.protocol, panel)
        for number in range(runs):
            self.say(f"{self.version} {workload.name} {number + 1}/{runs}")
            self.ours[workload.name].append(self._run(mine, workload, plan))
            least = _least(workload, mine.size)
            if least is not None:
                self.floor[workload.name].append(self._run(least, workload, plan))

    def _run(self, side: Side, workload: Workload, plan: Plan) -> Sample:
        sample = run(side, self.version, plan, workload.probe)
        shown = "\n".join(sample.lines)
        if any(text not in shown for text in plan.turns[-1].texts):
            raise Unmeasurable(f"{workload.name}: the text shown is not the text sent")
        return sample

    def figures(self) -> list[Figure]:
        """Compute the figures, in the order of the targets."""
        found = [
            ratio(name, _times(self.ours[key.name]), _times(self.floor[key.name]), target)
            for key, name, target in RATIOS
            if self.ours[key.name]
        ]
        parts = (
            *(self._replayed, self._cpu, self._buffers, self._panel, self._stalls, self._keys),
            *(self._completion, self._code, self._prompts, self._floods, self._starts),
        )
        for compute in parts:
            found += compute()
        return found

    def _replayed(self) -> list[Figure]:
        """Return how long it took to draw all of a replay, whose end comes first."""
        mine, least = (side[workloads.REPLAY.name] for side in (self.ours, self.floor))
        whole = [sample.whole for sample in mine if sample.whole is not None]
        return [ratio(f"{REPLAYED}: all of it / floor", whole, _times(least), 3.0)] if mine else []

    def _cpu(self) -> list[Figure]:
        mine, least = (_cpu(side[workloads.PACED.name]) for side in (self.ours, self.floor))
        if not mine:
            return []
        name = "200 chunks/s for 10 s: CPU of Neovim and host"
        return [Figure(name, median(mine), "s", 1.0, floor=f"{median(least):.2f} s")]

    def _buffers(self) -> list[Figure]:
        many, one = self.ours[workloads.BUFFERS.name], self.floor[workloads.BUFFERS.name]
        if not many:
            return []
        name = f"{workloads.LOADED} loaded buffers / one, while streaming:"
        return [
            ratio(f"{name} CPU", _cpu(many), _cpu(one), SAME),
            ratio(f"{name} key to screen", _latencies(many), _latencies(one), SAME),
        ]

    def _panel(self) -> list[Figure]:
        shown, without = (side[workloads.PANEL.name] for side in (self.ours, self.floor))
        name = "2,000 chunks with the dashboard open / without"
        return [ratio(name, _times(shown), _times(without), SAME)] if shown else []

    def _stalls(self) -> list[Figure]:
        """Return the median over runs of the longest stall in each."""
        target = STALL_TARGET_MS[self.version]
        kinds = (
            (workloads.SMOOTH, "longest stall while streaming, 200 chunks/s"),
            (workloads.LONG_BURST, "longest stall while streaming, full speed"),
            (workloads.FENCES, "longest stall while streaming, 2,000-line fences"),
        )
        found = [self._stall(name, key, target) for key, name in kinds if self.ours[key.name]]
        if self.ours[workloads.MESSAGE.name]:
            found.append(self._stall("one message of 5 MB, stall", workloads.MESSAGE, 33.0))
        return found

    def _stall(self, name: str, workload: Workload, target: float) -> Figure:
        least = _stalls(self.floor[workload.name])
        floor = figures.show(median(least)) if least else ""
        samples = self.ours[workload.name]
        gap = median([it.gap for it in samples if it.gap is not None])
        worst = median(_stalls(samples)) * 1000
        return Figure(name, worst, "ms", target, f"gap {figures.show(gap)}", floor)

    def _keys(self) -> list[Figure]:
        kinds = [it.name for it in WORKLOADS if it not in (workloads.BUFFERS, workloads.PANEL)]
        mine = [late for kind in kinds for late in _latencies(self.ours[kind])]
        least = [late for kind in kinds for late in _latencies(self.floor[kind])]
        if not mine:
            return []
        floor = figures.show(percentile(least, 99)) if least else ""
        value = percentile(mine, 99) * 1000
        return [Figure("key to screen, p99", value, "ms", 5.0, f"{len(mine)} keys", floor)]

    def _completion(self) -> list[Figure]:
        if not self.completions:
            return []
        mine, least = zip(*self.completions, strict=True)
        keys = [[key for run in side for key in run.keys] for side in (mine, least)]
        name = "completion in 100,000 files:"
        menus = [[run.menu for run in side] for side in (mine, least)]
        files = [[run.files for run in side] for side in (mine, least)]
        return [
            ratio(f"{name} key to screen / a plain list", keys[0], keys[1], 1.0),
            ratio(f"{name} first menu / a plain list", menus[0], menus[1], 4.0),
            ratio(f"{name} first menu with files / git's listing", files[0], files[1], 6.0),
        ]

    def _code(self) -> list[Figure]:
        found = list[Figure]()
        if self.inline:
            on, off = _sides(self.inline)
            found.append(ratio("key to screen with inline completion / without", on, off, SAME))
        if self.rewriting:
            late, least = (percentile(it, 95) for it in _sides(self.rewriting))
            shown = (figures.show(late), figures.show(least))
            name = "95 % of keys while two rewrites stream"
            found.append(Figure(name, 1000 * late, "ms", FRAME_MS, *shown))
        return found

    def _prompts(self) -> list[Figure]:
        if not self.prompting:
            return []
        mine, least = zip(*self.prompting, strict=True)
        on, off = ([it for run in side for it in run.seconds] for side in (mine, least))
        memory = [median([run.memory for run in side]) for side in (mine, least)]
        more = median([its.memory - other.memory for its, other in self.prompting])
        took = [f"{it:.0f} MiB" for it in memory]
        return [
            ratio("prompt to server with a warm store of files / without", on, off, SAME),
            Figure("memory of the host with a store of files, more", more, "MiB", STORE_MIB, *took),
        ]

    def _floods(self) -> list[Figure]:
        if not self.floods:
            return []
        mine, least = zip(*self.floods, strict=True)
        name, own = "a command that prints 50 MB:", "Neovim's :terminal"
        stalls = [[run.stall for run in side] for side in (mine, least)]
        times = [[run.seconds for run in side] for side in (mine, least)]
        keys = [[percentile(run.keys, 99) for run in side] for side in (mine, least)]
        return [
            ratio(f"{name} longest stall / {own}", stalls[0], stalls[1], 1.0),
            ratio(f"{name} key to screen, p99 / {own}", keys[0], keys[1], 1.0),
            ratio(f"{name} time to last line / {own}", times[0], times[1], 1.0),
        ]

    def _starts(self) -> list[Figure]:
        found = []
        if self.startup:
            name = "added to Neovim's start"
            found.append(Figure(name, median(self.startup) * 1000, "ms", 0.5))
        if self.openings:
            window = median([it.window for it in self.openings]) * 1000
            found.append(Figure(":EcaChat to window", window, "ms", 20.0))
            instant = median([it.instant for it in self.openings]) * 1000
            found.append(Figure(":EcaChat to prompt ready, instant server", instant, "ms", 150.0))
            ready = [it.ready for it in self.openings]
            bare = [it.bare for it in self.openings]
            name = ":EcaChat to prompt ready, less the server's time / bare pynvim host"
            found.append(ratio(name, ready, bare, 1.5))
        return found


def _least(workload: Workload, size: WindowSize) -> Side | None:
    """Return what ours is compared with, in a window of the same size."""
    match workload.least:
        case Least.NOTHING:
            return None
        case Least.FLOOR:
            return Floor(size, workload.protocol)
        case Least.ONE_BUFFER:
            return Ours(1)
        case Least.NO_PANEL:
            return Ours()


def _cpu(samples: list[Sample]) -> list[float]:
    return [sample.cpu for sample in samples if sample.cpu is not None]


def _latencies(samples: list[Sample]) -> list[float]:
    return [late for sample in samples for late in sample.latencies]


def _times(samples: list[Sample]) -> list[float]:
    return [sample.seconds for sample in samples]


def _stalls(samples: list[Sample]) -> list[float]:
    return [sample.stall for sample in samples if sample.stall is not None]


def _sides(runs: Sequence[tuple[list[float], list[float]]]) -> Sequence[list[float]]:
    """Return the times of the keys of all runs, on each side."""
    return [[it for run in side for it in run] for side in zip(*runs, strict=True)]
