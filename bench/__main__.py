"""Measure, and print tables: `python -m bench [--only NAME …] [--nvim VERSION …] [--runs N]`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tests.support.launch import VERSIONS

from bench import page, record
from bench.figures import Figure
from bench.parts import PARTS, measure


def main() -> None:
    """Run the chosen parts on each Neovim. Fails if something could not be measured."""
    options = _parser().parse_args()
    figures, faults = list[Figure](), list[str]()
    for version in options.nvim or VERSIONS:
        some, others = measure(version, options.only or tuple(PARTS), options.runs, _say)
        figures += some
        faults += others
    _say("")
    sys.stdout.write(page.table(figures) + "\n")
    if options.json:
        record.add(options.json, figures)
    if faults:
        sys.exit("\n".join(faults))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--only", nargs="+", choices=PARTS, help="these parts only")
    parser.add_argument("--nvim", nargs="+", choices=VERSIONS, help="these Neovims only")
    parser.add_argument("--runs", type=int, help="runs of each part, instead of its own")
    parser.add_argument("--json", type=Path, help="put the figures into this file, too")
    return parser


def _say(line: str) -> None:
    """Show the progress, on one line."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[K{line}")
        sys.stderr.flush()


if __name__ == "__main__":
    main()
