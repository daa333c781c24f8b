"""`python -m tests.faults [NAME…]`: the server of each recording dies at every message, and inside.

Prints a row for each recording: its messages, the deaths, and what was counted and lost.
"""

import os
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from zlib import crc32

import anyio
from tests.faults.cuts import Cut, Losses, Story, play, recordings
from tests.faults.dying import AFTER, BEFORE
from tests.support.screen import Value


def say(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def run(cut: Cut) -> tuple[Losses, Sequence[tuple[bool, Value]]]:
    """Play a recording to a cut and on; return what was lost, and the server's messages."""
    with tempfile.TemporaryDirectory(prefix="eca-faults-") as folder:
        story = Story(cut, Path(folder))
        try:
            losses = anyio.run(play, story)
        except (ExceptionGroup, OSError, AssertionError) as fault:
            losses = Losses(lost=[repr(fault)])
        if cut.number and not story.has_died:
            losses.lost.append("the server did not die")
        return losses, story.said()


def cuts(cut: Cut, said: Sequence[tuple[bool, Value]]) -> Iterator[Cut]:
    """Yield the cuts of a recording: before and inside of each message, and where it is heard."""
    for number in range(1, len(said) + 1):
        yield cut._replace(number=number, part=BEFORE)
        yield cut._replace(number=number, part=1 + crc32(f"{cut.name}{number}".encode()) % 999)
        if number == len(said) or said[number][0]:
            yield cut._replace(number=number, part=AFTER)


def sweep(wanted: Sequence[str]) -> int:
    """Make all cuts, and print a table; returns how many have lost something."""
    total, faulty = Counter[str](), 0
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for protocol, name in recordings():
            if wanted and name not in wanted:
                continue
            whole, said = run(Cut(protocol, name))
            places = [*cuts(Cut(protocol, name), said)]
            found = [*zip(places, (it for it, _ in pool.map(run, places)), strict=True)]
            lost = [(cut, it.lost) for cut, it in found if it.lost]
            lost += [(Cut(protocol, name), whole.lost)] * bool(whole.lost)
            counted = sum((Counter(it.counts) for _, it in found), Counter[str]())
            total += counted
            total["messages"] += len(said)
            total["deaths"] += len(places)
            say(f"{protocol} {name:30} {len(said):5} messages {len(places):5} deaths"
                f" {counted.total():6} counted {len(lost):3} with losses")  # fmt: skip
            for cut, words in lost:
                say(f"    {cut.number} {cut.part}: {'; '.join(words)}"[:300])
            faulty += len(lost)
    say(", ".join(f"{count} {what}" for what, count in total.items()))
    say(f"{faulty} deaths with losses")
    return faulty


if __name__ == "__main__":
    sys.exit(min(sweep(sys.argv[1:]), 1))
