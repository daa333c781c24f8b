"""CPU time and memory of processes, from /proc."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from tests.support.processes import GONE, command_line, descendants

TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


def spent(pids: Iterable[int]) -> float:
    """Return the sum of user and system time in seconds, without processes that have ended."""
    return sum(_ticks(pid) for pid in pids) / TICKS_PER_SECOND


def family(pid: int, without: str) -> set[int]:
    """Find a process and its descendants, except those with a word in their command line."""
    return {pid} | {child for child in descendants(pid) if without not in command_line(child)}


def most_memory(pid: int) -> float:
    """Return the most MiB that a process has taken, 0 if it has ended."""
    with suppress(*GONE):
        status = Path(f"/proc/{pid}/status").read_text()
        return int(status.partition("VmHWM:")[2].split()[0]) / 1024
    return 0.0


def _ticks(pid: int) -> int:
    """Return fields 14 and 15, counted after the `)` of the name, which may have blanks."""
    with suppress(*GONE):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return int(fields[11]) + int(fields[12])
    return 0
