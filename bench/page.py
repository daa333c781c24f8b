"""The figures as Markdown: a table, and with `python -m bench.page` doc/performance.md.

The page is made from the file of figures (`record.py`), without measuring.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from string import ascii_lowercase

from tests.support.launch import REPOSITORY

from bench import record
from bench.figures import Figure, Goal, Row
from bench.record import FIGURES, Conditions, Recorded
from bench.rows import SECTIONS

PAGE = REPOSITORY / "doc" / "performance.md"
TEXT = """\
# How fast it is

What the plugin takes, beside the least that Neovim could do: its *floor*. A row is read like this:
"✓ 1.4x (120 ms / 86 ms)" says that the plugin took 120 ms, 1.4 times as long as the floor's 86 ms,
and that the goal is met; ✗ says that it is not. `make performance` writes this page.

**The floor** is plain Lua in Neovim, unless a row names another one: some 150 lines that read the
same bytes from the same server and append the text to a scratch buffer, once per read, without
blocks, colours and tool calls, in a window of the same size. Nothing in Neovim can have all of the
text on the screen sooner; a stall can be shorter than the floor's, which draws all at once.

**How it is measured.** A fake server in a process of its own has all bytes ready before it writes
the first. A Neovim with a user interface attached reads them; its user types ten keys a second into
another window. Runs of the plugin and of its floor alternate, each in a new Neovim; the figure is
the median of the runs, unless the row says otherwise. A time ends when the screen has the text.

{sections}

## Runs

The load is the number of processes that ran or waited as a run began. Other programs slow the
plugin, which works in two processes, more than its floor: figures of a run with a load above 1 say
little.

{runs}

## Run it yourself

```sh
make performance        # all of it, on both Neovims: {minutes} minutes; writes this page
make bench              # without the last table, and only prints
.venv/bin/python -m bench --only 2k prompting --nvim 0.12.4 --json bench/figures.jsonl
.venv/bin/python -m bench.page                # writes this page again, without measuring
```

The figures are in `bench/figures.jsonl`; those that are not measured again stay, with their run.
Leave the machine alone meanwhile.
"""
MINUTES = 30
"""How long `make performance` takes, about."""


def main() -> None:
    """Write the page."""
    PAGE.write_text(text(record.read(FIGURES)), encoding="utf-8")


def text(recorded: Sequence[Recorded]) -> str:
    """Return the page; raises ValueError if a row was never measured."""
    runs = dict(zip(dict.fromkeys(it.conditions for it in recorded), ascii_lowercase, strict=False))
    sections = []
    for title, rows in SECTIONS.items():
        mine = [it for it in recorded if it.figure.row in rows]
        head, rule, *lines = _table([it.figure for it in mine])
        for row, line in zip(rows, lines, strict=True):
            letters = {runs[it.conditions]: None for it in mine if it.figure.row is row}
            line[0] = f"**{row.name}.** {row.says}"
            line.append(", ".join(letters))
        table = [[*head, "run"], [*rule, "-"], *lines]
        sections.append("\n".join([f"## {title}\n", *map(_line, table)]))
    told = [f"- **{letter}**: {_told(it)}" for it, letter in runs.items()]
    return TEXT.format(sections="\n\n".join(sections), runs="\n".join(told), minutes=MINUTES)


def table(figures: Sequence[Figure]) -> str:
    """Return a table for the terminal: a row for each figure, a column for each version."""
    lines = _table(figures)
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(_line(map(str.ljust, line, widths)) for line in lines)


def _table(figures: Sequence[Figure]) -> list[list[str]]:
    found = {(it.row, it.neovim): _cell(it) for it in figures}
    rows = list(dict.fromkeys(it.row for it in figures))
    versions = list(dict.fromkeys(it.neovim for it in figures))
    heads = ["what", "goal", *(f"Neovim {it}" if it else "measured" for it in versions)]
    cells = [[found.get((row, it), "?") for it in versions] for row in rows]
    named = [[row.name, _goal(row, versions), *its] for row, its in zip(rows, cells, strict=True)]
    return [heads, ["-"] * len(heads), *named]


def _goal(row: Row, versions: Iterable[str | None]) -> str:
    limits = {it: row.limit(it) for it in versions}
    more = " more" if row.goal is Goal.MORE else ""
    show = _times if row.goal is Goal.RATIO else row.show
    if len({*limits.values()}) == 1:
        return f"≤ {show(next(iter(limits.values())))}{more}"
    return ", ".join(f"≤ {show(limit)}{more} ({it})" for it, limit in limits.items())


def _cell(figure: Figure) -> str:
    """Return whether the goal is met, the ratio, and both values behind it."""
    show = figure.row.show
    verdict = "✓" if figure.is_met else "✗"
    ratio = _times(figure.ours / figure.floor)
    return f"{verdict} {ratio} ({show(figure.ours)} / {show(figure.floor)})"


def _times(ratio: float) -> str:
    return f"{ratio:.2f}".rstrip("0").rstrip(".") + "x"


def _told(conditions: Conditions) -> str:
    about = f"version {conditions.plugin} of the plugin, Python {conditions.python}"
    return f"{conditions.date}, {about}, {conditions.machine}, load {conditions.load}"


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
