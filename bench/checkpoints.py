"""Measure checkpoints of a large tree: `python -m bench.checkpoints [--files N] [--runs N]`.

Each run stores a tree for the first time, as `git add -A` does beside it, in turn; then again
without a change, as before each prompt. The shortest times of the runs count: other programs only
add to them. The memory is that of the process which asks git, as the host does.
"""

from __future__ import annotations

import argparse
import random
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from bench import page, record, rows
from bench.figures import Figure, Samples, summed_up
from eca_nvim.review.checkpoint_store import CheckpointStore

WORDS = 4000


def main() -> None:
    """Make a tree, measure, and print a table."""
    parser = argparse.ArgumentParser(prog="python -m bench.checkpoints", description=__doc__)
    parser.add_argument("--files", type=int, default=100_000, help="default: 100,000")
    parser.add_argument("--bytes", type=int, default=10_000, help="of a file, default: 10,000")
    parser.add_argument("--runs", type=int, default=3, help="default: 3")
    parser.add_argument("--json", type=Path, help="put the figures into this file, too")
    options = parser.parse_args()
    with TemporaryDirectory(prefix="eca-bench-") as folder:
        figures = measure(Path(folder), options.files, options.bytes, options.runs)
        sys.stdout.write(page.table(figures) + "\n")
        sys.stdout.flush()  # to remove the tree takes minutes, too
        if options.json:
            record.add(options.json, figures)


def measure(folder: Path, files: int, size: int, runs: int) -> Sequence[Figure]:
    """Return the figures of a tree in a folder."""
    root = folder / "work"
    _make(root, files, size)
    plain: list[float] = []
    first: list[float] = []
    again: list[float] = []
    memory: list[tuple[float, float]] = []
    for run in range(runs):
        plain.append(_timed(partial(_add_all, root)))
        take = partial(CheckpointStore(folder / f"store{run}", 1).take, [str(root)])
        before = _memory()
        first.append(_timed(take))
        again.append(_timed(take))
        memory.append((_memory(), before))
        shutil.rmtree(folder / f"store{run}")
    samples: Samples = {
        rows.FIRST_CHECKPOINT: (first, plain),
        rows.NEXT_CHECKPOINT: (again, plain),
        rows.CHECKPOINT_MEMORY: ([after for after, _ in memory], [before for _, before in memory]),
    }
    return [summed_up(row, None, samples) for row in samples]


def _make(root: Path, files: int, size: int) -> None:
    """Fill a folder with files of words that compress as code does."""
    chance = random.Random(1)  # noqa: S311 - the same files each time
    words = ["".join(chance.choices("abcdefghijklmnopqrstuvwxyz_", k=7)) for _ in range(WORDS)]
    for number in range(files):
        path = root / f"{number % 100}" / f"{number // 100 % 10}" / f"file{number}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(chance.choices(words, k=size // 8)))


def _add_all(root: Path) -> None:
    shutil.rmtree(root / ".git", ignore_errors=True)
    subprocess.run(["git", "init", "--quiet"], cwd=root, check=True)  # noqa: S607
    subprocess.run(["git", "add", "-A"], cwd=root, check=True)  # noqa: S607


def _timed(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def _memory() -> float:
    """Return the most MiB that this process has taken."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
