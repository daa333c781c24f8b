"""The workloads: what streams, how it is probed, and how often it runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from bench import texts
from bench.plan import Plan, Turn, measured, spoken
from bench.run import Probe

PACE = 200.0
"""Chunks a second of a fast model."""
PACED_SECONDS = 10
STALL_SECONDS = 4
HISTORY_LINES = 50_000
LARGE = 5_000_000
"""Characters (here also bytes) of the one large message."""


@dataclass(frozen=True)
class Workload:
    """One kind of run. `runs` is how many of the default three it takes, at least one."""

    name: str
    plan: Callable[[], Plan]
    probe: Probe = Probe.STALL
    runs: int = 3
    floor: bool = True


def _burst(count: int) -> Plan:
    return measured(spoken(texts.chunks(count)))


def _paced(seconds: int) -> Plan:
    return measured(spoken(texts.chunks(int(PACE * seconds)), PACE))


def _in_history() -> Plan:
    return measured(spoken(texts.chunks(2_000)), Turn(texts.history(HISTORY_LINES)))


BURST = Workload("2k", lambda: _burst(2_000), runs=5)
LONG_BURST = Workload("20k", lambda: _burst(20_000))
HISTORY = Workload("history", _in_history)
FENCES = Workload("fences", lambda: measured(spoken(texts.fences())))
PACED = Workload("paced", lambda: _paced(PACED_SECONDS), Probe.CPU, runs=1)
SMOOTH = Workload("smooth", lambda: _paced(STALL_SECONDS), floor=False)
MESSAGE = Workload("5MB", lambda: measured(spoken([texts.large(LARGE)])), runs=1, floor=False)
WORKLOADS = (BURST, LONG_BURST, HISTORY, FENCES, PACED, SMOOTH, MESSAGE)
