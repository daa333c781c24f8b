"""Measure and print the table: `python -m bench [--only NAME …] [--nvim VERSION] [--runs N]`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tests.support.launch import VERSIONS

from bench.session import Session
from bench.table import render, to_json
from bench.workloads import WORKLOADS

NAMES = (
    *(workload.name for workload in WORKLOADS),
    "open",
    "completion",
    "inline",
    "rewriting",
    "prompting",
    "flood",
    "startup",
)


def main() -> None:
    """Run the chosen workloads on each Neovim."""
    options = _parser().parse_args()
    names = options.only or NAMES
    sessions = [Session(version, _say) for version in options.nvim or VERSIONS]
    for session in sessions:
        session.measure(names, options.runs)
    report = {session.version: session.figures() for session in sessions}
    _say("")
    sys.stdout.write(render(report) + "\n")
    if options.json:
        options.json.write_text(to_json(report) + "\n", encoding="utf-8")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--only", nargs="+", choices=NAMES, help="these workloads only")
    parser.add_argument("--nvim", nargs="+", choices=VERSIONS, help="these Neovims only")
    parser.add_argument("--runs", type=int, help="runs of each workload, instead of its own")
    parser.add_argument("--json", type=Path, help="write the figures into this file, too")
    return parser


def _say(line: str) -> None:
    """Show the progress, on one line."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[K{line}")
        sys.stderr.flush()


if __name__ == "__main__":
    main()
