"""One run: a new Neovim with one of the two sides, and one measured turn."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from tests.support.launch import REPOSITORY

from bench import cpu, plan
from bench.editor import PATIENCE, Editor
from bench.plan import MARKS, Plan, Turn
from bench.sides import SERVER, Side
from bench.typist import Typist

PROBE = REPOSITORY / "bench" / "lua" / "probe.lua"
AFTERMATH = 0.5
"""Seconds after the last text that belong to the turn: colours may come later."""


class Probe(Enum):
    """What is measured besides the time: only one, as they would disturb each other."""

    STALL = "stall"
    CPU = "cpu"


@dataclass(frozen=True)
class Sample:
    """The results of a run, in seconds.

    `extra` is what the probe has measured. `whole` is the time until all of a replay was drawn, if
    its end was drawn first.
    """

    seconds: float
    latencies: tuple[float, ...]
    extra: float
    whole: float | None = None
    lines: tuple[str, ...] = ()
    """The text that the measured turn added."""


def run(side: Side, version: str, what: Plan, probe: Probe) -> Sample:
    """Measure the last turn of a plan. Raises Unmeasurable."""
    with tempfile.TemporaryDirectory(prefix="eca-bench-") as folder:
        path = Path(folder) / "plan.json"
        editor = Editor(version, Path(folder) / "home", side.prepare(path))
        what.write(path, editor.project)
        try:
            side.open(editor)
            *earlier, turn = zip(what.turns, MARKS, strict=False)
            for each in earlier:
                _play(side, editor, *each)
                side.settle(editor)
            return _measure(side, editor, *turn, path, probe)
        finally:
            editor.close()


def _play(side: Side, editor: Editor, turn: Turn, mark: str) -> Typist:
    """Start a turn and type until its end is on the screen."""
    typist = Typist(editor)
    editor.screen.expect(mark)
    side.ask(editor, turn)
    patience = PATIENCE + turn.seconds
    typist.type_until(lambda: editor.screen.seen(mark), "the last text", patience)
    return typist


def _measure(side: Side, editor: Editor, turn: Turn, mark: str, path: Path, probe: Probe) -> Sample:
    side.make_ready(editor, turn)
    before = len(side.lines(editor))
    family = cpu.family(editor.child.pid, SERVER.name)
    spent = cpu.spent(family)
    if probe is Probe.STALL:
        editor.run_file(PROBE, "start")
    typist = _play(side, editor, turn, mark)
    typist.type_for(AFTERMATH)
    if probe is Probe.CPU:
        extra = cpu.spent(family) - spent
    else:
        extra = editor.run_file(PROBE, "stop") / 1000
    side.settle(editor)
    ended, started, drawn = editor.screen.seen(mark), plan.starts(path)[-1], side.drawn(editor)
    assert ended is not None
    return Sample(
        seconds=ended - started,
        latencies=tuple(typist.latencies),
        extra=extra,
        whole=drawn and drawn - started,
        lines=tuple(side.lines(editor)[before - 1 :]),  # the floor goes on in the last one
    )
