"""One run: a fresh Neovim, one of the two sides in it, one turn measured."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from tests.support.launch import REPOSITORY

from bench import cpu, plan
from bench.editor import PATIENCE, Editor
from bench.plan import MARKS, Plan
from bench.sides import SERVER, Side
from bench.typist import Typist

PROBE = REPOSITORY / "bench" / "lua" / "probe.lua"
AFTERMATH = 0.5
"""Seconds after the last text that still belong to the turn: colours may come late."""


class Probe(Enum):
    """What is measured besides the time; one at a time, so that neither disturbs the other."""

    STALL = "stall"
    CPU = "cpu"


@dataclass(frozen=True)
class Sample:
    """What one run has shown, in seconds; `stall` and `cpu` are None where they had no probe.

    `gap` is the stall with the time that Neovim waited for a processor.
    """

    seconds: float
    latencies: tuple[float, ...]
    stall: float | None = None
    gap: float | None = None
    cpu: float | None = None
    lines: tuple[str, ...] = ()


def run(side: Side, version: str, what: Plan, probe: Probe) -> Sample:
    """Measure the last turn of a plan. Raises Unmeasurable."""
    with tempfile.TemporaryDirectory(prefix="eca-bench-") as folder:
        path = Path(folder) / "plan.json"
        what.write(path)
        editor = Editor(version, Path(folder) / "home", side.prepare(path))
        try:
            side.open(editor)
            *before, mark = tuple(MARKS[: len(what.turns)])
            for earlier in before:
                _play(side, editor, earlier, 0.0)
                side.settle(editor)
            return _measure(side, editor, mark, path, what.turns[-1].seconds, probe)
        finally:
            editor.close()


def _play(side: Side, editor: Editor, mark: str, seconds: float) -> Typist:
    """Send a prompt and type until its answer's end is on the screen."""
    typist = Typist(editor)
    editor.screen.expect(mark)
    side.prompt(editor)
    patience = PATIENCE + seconds
    typist.type_until(lambda: editor.screen.seen(mark), "the last text", patience)
    return typist


def _measure(
    side: Side, editor: Editor, mark: str, path: Path, seconds: float, probe: Probe
) -> Sample:
    family = cpu.family(editor.child.pid, SERVER.name)
    spent = cpu.spent(family)
    if probe is Probe.STALL:
        editor.run_file(PROBE, "start")
    typist = _play(side, editor, mark, seconds)
    typist.type_for(AFTERMATH)
    spent = cpu.spent(family) - spent
    stall = editor.run_file(PROBE, "stop") if probe is Probe.STALL else None
    side.settle(editor)
    ended = editor.screen.seen(mark)
    assert ended is not None
    return Sample(
        seconds=ended - plan.started(path),
        latencies=tuple(typist.latencies),
        stall=stall and stall["busy"] / 1000,
        gap=stall and stall["gap"] / 1000,
        cpu=spent if probe is Probe.CPU else None,
        lines=tuple(side.lines(editor)),
    )
