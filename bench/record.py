"""Figures in a file, one a line as JSON, each with the day, the versions and the kind of machine.

A figure replaces that of the same row and Neovim: what is not measured again stays as it is.
"""

from __future__ import annotations

import json
import os
import platform
import re
import time
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from tests.support.launch import REPOSITORY

from bench.figures import Figure
from bench.rows import SECTIONS

FIGURES = REPOSITORY / "bench" / "figures.jsonl"
GIB = 1 << 30
LOAD = os.getloadavg()[0]
"""The load of the machine before the first measurement."""


@dataclass(frozen=True)
class Conditions:
    """When and with what something was measured.

    `machine`: its kind, not which one it is. `load`: processes that ran or waited as it began.
    """

    date: str
    plugin: str
    python: str
    machine: str
    load: int


@dataclass(frozen=True)
class Recorded:
    """A figure of the file."""

    figure: Figure
    conditions: Conditions


def add(path: Path, figures: Iterable[Figure]) -> None:
    """Put new figures into a file, in the order of the rows."""
    kept = {_key(it.figure): it for it in read(path)} if path.exists() else {}
    conditions = _conditions()
    kept |= {_key(it): Recorded(it, conditions) for it in figures}
    path.write_text("".join(map(_line, sorted(kept.values(), key=_place))), encoding="utf-8")


def read(path: Path) -> Sequence[Recorded]:
    """Return what a file has of the rows that there are."""
    rows = {row.name: row for section in SECTIONS.values() for row in section}
    found = []
    for line in path.read_text(encoding="utf-8").splitlines():
        known = json.loads(line)
        if row := rows.get(known.pop("row")):
            figure = Figure(row, *(known.pop(it) for it in ("neovim", "ours", "floor")))
            found.append(Recorded(figure, Conditions(**known)))
    return found


def _key(figure: Figure) -> tuple[str, str | None]:
    return figure.row.name, figure.neovim


def _place(recorded: Recorded) -> tuple[int, str]:
    rows = [row for section in SECTIONS.values() for row in section]
    return rows.index(recorded.figure.row), recorded.figure.neovim or ""


def _line(recorded: Recorded) -> str:
    figure = recorded.figure
    values = {"ours": float(f"{figure.ours:.4g}"), "floor": float(f"{figure.floor:.4g}")}
    known = {"row": figure.row.name, "neovim": figure.neovim, **values}
    return json.dumps(known | asdict(recorded.conditions), ensure_ascii=False) + "\n"


def _conditions() -> Conditions:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
    return Conditions(
        date=time.strftime("%Y-%m-%d"),
        plugin=project["project"]["version"],
        python=platform.python_version(),
        machine=_machine(),
        load=round(LOAD),
    )


def _machine() -> str:
    """Return the cores, the memory and the kind of CPU."""
    model = re.search(r"(?m)^model name\s*: (.+)$", Path("/proc/cpuinfo").read_text())
    kind = re.sub(r"\((?:R|TM)\)| Processor", "", model[1] if model else platform.machine())
    cores = len(os.sched_getaffinity(0))
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / GIB
    return f"{cores} cores, {memory:.0f} GiB, {kind.strip()}"
