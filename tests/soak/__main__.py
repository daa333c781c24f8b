"""`python -m tests.soak MINUTES [--seed N] [--nvim VERSION] [--json FILE]`: soaks the Neovims."""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any, TypeAlias

from tests.soak.counts import JUDGED, MADE, MEMORY, NEOVIM
from tests.soak.course import course
from tests.soak.life import soak
from tests.support.launch import VERSIONS

Report: TypeAlias = dict[str, Any]


def rows(reports: Sequence[Report]) -> Iterator[str]:
    """Yield the rows of a table in Markdown: what was done, and how each count went on."""
    yield f"| | {' | '.join('Neovim ' + it['version'] for it in reports)} |"
    yield "|---|" + "---:|" * len(reports)
    for name in ("seconds", "actions", "sent words found again", "sent words lost"):
        yield f"| {name} | {' | '.join(str(it[name]) for it in reports)} |"
    yield f"| rests | {' | '.join(str(len(it['rests'])) for it in reports)} |"
    names = dict.fromkeys(name for it in reports for each in it["rests"] for name in each)
    for name in names:
        yield f"| {name} | {' | '.join(_cell(it, name) for it in reports)} |"
    kept = " | ".join(f"{it['kept']:.2f}" for it in reports)
    yield f"| KiB that Neovim keeps of a closed window, without the plugin | {kept} |"
    yield f"| faults | {' | '.join(str(len(it['wrong'])) for it in reports)} |"


def _cell(report: Report, name: str) -> str:
    values = [it[name] for it in report["rests"] if name in it]
    if not values:
        return ""
    it = course(values)
    if name not in MEMORY:
        return f"{it.first} → {it.last}"
    judged = course(_judged(report, name))
    return f"{it.first} → {it.last} ({judged.growth:+.0f} ± {judged.noise:.0f})"


def _judged(report: Report, name: str) -> list[int]:
    """Return a figure at each rest; Neovim's without what it keeps of closed windows by itself."""
    kept = report["kept"] if name in NEOVIM else 0
    return [it[name] - round(kept * it[MADE]) for it in report["rests"] if name in it]


def growing(report: Report) -> list[str]:
    """Return the figures that grow in the last half."""
    values = {name: _judged(report, name) for name in JUDGED}
    return [f"{name} grows: {seen}" for name, seen in values.items() if seen and course(seen).grows]


def main() -> int:
    """Soak, each Neovim in a process of its own; return how much is wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("minutes", type=float)
    parser.add_argument("--seed", type=int, default=time.time_ns() % 10**6)
    parser.add_argument("--nvim", nargs="+", choices=VERSIONS, default=VERSIONS)
    parser.add_argument("--json", type=Path, help="write the reports into this file, too")
    options = parser.parse_args()
    say(f"SEED={options.seed}")
    homes = {it: Path(tempfile.mkdtemp(prefix="eca-soak-")) for it in options.nvim}
    with ProcessPoolExecutor(len(homes), mp_context=get_context("spawn")) as pool:
        started = [
            pool.submit(soak, version, options.minutes * 60, options.seed, home)
            for version, home in homes.items()
        ]
        reports = [it.result() for it in started]
    for report in reports:
        report["wrong"] += growing(report)
    say("\n".join(rows(reports)))
    if options.json:
        options.json.write_text(json.dumps({"seed": options.seed, "reports": reports}, indent=1))
    for report, home in zip(reports, homes.values(), strict=True):
        if report["wrong"]:
            say(f"\nNeovim {report['version']}, files in {home}; the last actions:")
            say("\n".join([*report["last"], "", *report["wrong"]]))
        else:
            shutil.rmtree(home, ignore_errors=True)
    return sum(len(it["wrong"]) for it in reports)


def say(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(min(main(), 100))
