"""The workloads: what streams, which probe runs, and how often."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto

from bench import calls, texts
from bench.plan import WARM_UP, Plan, Turn, measured, spoken
from bench.run import Probe

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


class Least(Enum):
    """What the plugin is compared with.

    FLOOR: plain Lua that appends. ONE_BUFFER: ours, with one loaded buffer, not LOADED. NO_PANEL:
    ours, without an open panel.
    """

    NOTHING = auto()
    FLOOR = auto()
    ONE_BUFFER = auto()
    NO_PANEL = auto()


@dataclass(frozen=True)
class Workload:
    """One kind of run. `runs` is how many of the default three it takes, at least one."""

    name: str
    plan: Callable[[], Plan]
    probe: Probe = Probe.STALL
    runs: int = 3
    least: Least = Least.FLOOR
    protocol: str = "eca"


def _burst(count: int) -> Plan:
    return measured(spoken(texts.chunks(count)))


def _paced(seconds: int) -> Plan:
    return measured(spoken(texts.chunks(int(PACE * seconds)), PACE))


def _edits() -> Plan:
    files = calls.files(EDITS, DIFF_LINES)
    return Plan((WARM_UP, Turn(calls.edits(EDITS, DIFF_LINES))), files)


def _replay() -> Plan:
    return measured(Turn(texts.conversation(REPLAYED), is_replay=True))


def _in_history() -> Plan:
    return measured(spoken(texts.chunks(2_000)), Turn(texts.history(HISTORY_LINES)))


BURST = Workload("2k", lambda: _burst(2_000), runs=5)
LONG_BURST = Workload("20k", lambda: _burst(20_000))
ACP_BURST = Workload("acp", lambda: _burst(20_000), protocol="acp")
HISTORY = Workload("history", _in_history)
FENCES = Workload("fences", lambda: measured(spoken(texts.fences())))
PACED = Workload("paced", lambda: _paced(PACED_SECONDS), Probe.CPU, runs=1)
SMOOTH = Workload("smooth", lambda: _paced(STALL_SECONDS), least=Least.NOTHING)
CALLS = Workload(
    "calls",
    lambda: measured(Turn(calls.commands(COMMANDS, OUTPUT_LINES))),
    runs=5,
)
DIFFS = Workload("diffs", _edits)
REPLAY = Workload("replay", _replay, runs=7)
MESSAGE = Workload("5MB", lambda: measured(spoken([texts.large(LARGE)])), runs=7)
BUFFERS = Workload("buffers", lambda: _paced(PACED_SECONDS), Probe.CPU, least=Least.ONE_BUFFER)
PANEL = Workload("panel", lambda: _burst(2_000), runs=11, least=Least.NO_PANEL)
WORKLOADS = (
    *(BURST, LONG_BURST, ACP_BURST, HISTORY, FENCES, PACED, SMOOTH),
    *(CALLS, DIFFS, REPLAY, MESSAGE, BUFFERS, PANEL),
)
