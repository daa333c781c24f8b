"""The workloads: what streams, to whom, how often, and which rows are measured with it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

from bench import calls, rows, texts
from bench.editor import Unmeasurable
from bench.figures import Row, Samples
from bench.plan import WARM_UP, Plan, Turn, measured, spoken
from bench.run import Probe, Sample, run
from bench.sides import Floor, Ours, Side, WindowSize

PACE = 200.0
"""Chunks per second of a fast model."""
PACED_SECONDS = 10
STALL_SECONDS = 4
HISTORY_LINES = 50_000
LARGE = 5_000_000
"""Characters (also bytes) of the one large message."""
COMMANDS, OUTPUT_LINES = 500, 40
EDITS, DIFF_LINES = 200, 300
REPLAYED = 2_000
LOADED = 300
"""Loaded files while text streams."""

Takes: TypeAlias = Mapping[Row, Callable[[Sample], Sequence[float]]]
"""By row, what of a run it needs."""


@dataclass(frozen=True)
class Workload:
    """One kind of run. `floor`: what the plugin is compared with, in a window of the same size."""

    name: str
    plan: Callable[[], Plan]
    takes: Takes
    probe: Probe = Probe.STALL
    runs: int = 3
    ours: Callable[[], Ours] = Ours
    floor: Callable[[WindowSize], Side] = Floor

    def measure(self, version: str) -> Samples:
        """Run it with the plugin, then with its floor. Raises Unmeasurable."""
        plan, mine = self.plan(), self.ours()
        ours = self._run(mine, version, plan)
        floor = self._run(self.floor(mine.size), version, plan)
        return {row: (take(ours), take(floor)) for row, take in self.takes.items()}

    def _run(self, side: Side, version: str, plan: Plan) -> Sample:
        sample = run(side, version, plan, self.probe)
        shown = "\n".join(sample.lines)
        if any(text not in shown for text in plan.turns[-1].texts):
            raise Unmeasurable(f"{self.name}: the text shown is not the text sent")
        return sample


def _seconds(sample: Sample) -> Sequence[float]:
    return [sample.seconds]


def _whole(sample: Sample) -> Sequence[float]:
    return [sample.seconds if sample.whole is None else sample.whole]


def _extra(sample: Sample) -> Sequence[float]:
    return [sample.extra]


def _keys(sample: Sample) -> Sequence[float]:
    return sample.latencies


def _burst(count: int) -> Plan:
    return measured(spoken(texts.chunks(count)))


def _paced(seconds: int) -> Plan:
    return measured(spoken(texts.chunks(int(PACE * seconds)), PACE))


def _edits() -> Plan:
    files = calls.files(EDITS, DIFF_LINES)
    return Plan((WARM_UP, Turn(calls.edits(EDITS, DIFF_LINES))), files)


def _commands() -> Plan:
    return measured(Turn(calls.commands(COMMANDS, OUTPUT_LINES)))


def _replay() -> Plan:
    return measured(Turn(texts.conversation(REPLAYED), is_replay=True))


def _in_history() -> Plan:
    return measured(spoken(texts.chunks(2_000)), Turn(texts.history(HISTORY_LINES)))


WORKLOADS = (
    Workload(
        "2k",
        partial(_burst, 2_000),
        {rows.BURST: _seconds, rows.KEYS: _keys},
        runs=5,
    ),
    Workload(
        "20k",
        partial(_burst, 20_000),
        {rows.LONG_BURST: _seconds, rows.LONG_STALL: _extra, rows.KEYS: _keys},
    ),
    Workload(
        "acp",
        partial(_burst, 20_000),
        {rows.ACP_BURST: _seconds, rows.KEYS: _keys},
        ours=partial(Ours, protocol="acp"),
        floor=partial(Floor, protocol="acp"),
    ),
    Workload("history", _in_history, {rows.HISTORY: _seconds, rows.KEYS: _keys}),
    Workload(
        "fences",
        lambda: measured(spoken(texts.fences())),
        {rows.FENCES: _seconds, rows.FENCES_STALL: _extra, rows.KEYS: _keys},
    ),
    Workload(
        "paced", partial(_paced, PACED_SECONDS), {rows.PACED: _extra, rows.KEYS: _keys}, Probe.CPU
    ),
    Workload(
        "smooth", partial(_paced, STALL_SECONDS), {rows.SMOOTH_STALL: _extra, rows.KEYS: _keys}
    ),
    Workload("calls", _commands, {rows.CALLS: _seconds, rows.KEYS: _keys}, runs=5),
    Workload("diffs", _edits, {rows.DIFFS: _seconds, rows.KEYS: _keys}),
    Workload(
        "replay",
        _replay,
        {rows.REPLAY_END: _seconds, rows.REPLAY: _whole, rows.KEYS: _keys},
        runs=7,
    ),
    Workload(
        "5MB",
        lambda: measured(spoken([texts.large(LARGE)])),
        {rows.MESSAGE: _seconds, rows.MESSAGE_STALL: _extra, rows.KEYS: _keys},
        runs=7,
    ),
    Workload(
        "buffers",
        partial(_paced, PACED_SECONDS),
        {rows.BUFFERS_CPU: _extra, rows.BUFFERS_KEYS: _keys},
        Probe.CPU,
        ours=partial(Ours, LOADED),
        floor=lambda _: Ours(1),
    ),
    Workload(
        "panel",
        partial(_burst, 2_000),
        {rows.PANEL: _seconds},
        runs=11,
        ours=partial(Ours, panel="dashboard"),
        floor=lambda _: Ours(),
    ),
)
