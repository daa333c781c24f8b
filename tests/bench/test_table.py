"""The table and the JSON of the measurements."""

import json

from bench.figures import Figure
from bench.table import render, to_json

REPORT = {
    "0.10.4": [
        Figure("burst", 1.234, "", 1.6, "12.0 ms", "9.7 ms"),
        Figure("stall", 25.0, "ms", 20.0),
    ],
    "0.12.4": [
        Figure("burst", 2.0, "", 1.6, "20.0 ms", "10.0 ms"),
        Figure("stall", 7.5, "ms", 8.0, floor="9.0 ms"),
    ],
}


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_a_row_is_a_figure_and_a_column_a_version() -> None:
    head, rule, burst, stall = render(REPORT).splitlines()
    assert cells(head) == ["what", "target", "Neovim 0.10.4", "Neovim 0.12.4"]
    assert set(rule) <= set("|- ")
    assert cells(burst) == [
        *("burst", "≤ 1.6"),
        "✓ 1.23 (12.0 ms, floor 9.7 ms)",
        "✗ 2 (20.0 ms, floor 10.0 ms)",
    ]
    assert cells(stall) == ["stall", "≤ 20 / ≤ 8 ms", "✗ 25 ms", "✓ 7.5 ms (floor 9.0 ms)"]


def test_all_lines_are_equally_wide() -> None:
    assert len({len(line) for line in render(REPORT).splitlines()}) == 1


def test_programs_read_the_same_figures() -> None:
    read = json.loads(to_json(REPORT))
    assert list(read) == ["0.10.4", "0.12.4"]
    assert read["0.12.4"][0]["value"] == 2.0
    assert [figure["held"] for figure in read["0.12.4"]] == [False, True]
