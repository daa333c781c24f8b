"""The arithmetic of the measurements."""

import os

import pytest
from bench.cpu import most_memory
from bench.figures import Figure, Goal, Row, percentile, summed_up

RATIO = Row("burst", 2.0, "…")
ITSELF = Row("stall", {"0.10.4": 0.02, "0.12.4": 0.008}, "…", Goal.ITSELF)
MORE = Row("start", 0.0005, "…", Goal.MORE)


@pytest.mark.parametrize(
    ("percent", "expected"), [(0, 1.0), (50, 50.0), (99, 99.0), (99.5, 100.0), (100, 100.0)]
)
def test_a_percentile_is_a_value_that_occurred(percent: float, expected: float) -> None:
    assert percentile(percent)([float(value) for value in range(100, 0, -1)]) == expected


def test_of_few_values_the_99th_percentile_is_the_largest() -> None:
    assert percentile(99)([1.0, 9.0, 2.0]) == 9.0


def test_a_ratio_is_one_of_medians() -> None:
    figure = summed_up(RATIO, "0.12.4", {RATIO: ([0.3, 0.1, 0.2], [0.1, 0.1, 5.0])})
    assert (figure.ours, figure.floor) == (0.2, 0.1)
    assert figure.value == pytest.approx(2.0)


def test_a_difference_is_one_of_neighbours() -> None:
    figure = summed_up(MORE, None, {MORE: ([0.011, 0.051, 0.031], [0.010, 0.050, 0.010])})
    assert figure.floor == 0.010
    assert figure.value == pytest.approx(0.001)


@pytest.mark.parametrize(
    ("row", "neovim", "ours", "is_met"),
    [
        *((RATIO, "0.12.4", 2.0, True), (RATIO, "0.12.4", 2.1, False)),
        *((ITSELF, "0.10.4", 0.02, True), (ITSELF, "0.12.4", 0.02, False)),
        *((MORE, None, 1.0005, True), (MORE, None, 1.0006, False)),
    ],
)
def test_a_goal_is_met_up_to_its_value(row: Row, neovim: str, ours: float, is_met: bool) -> None:
    assert Figure(row, neovim, ours, 1.0).is_met is is_met


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(0.00042, "0.42 ms"), (0.0123, "12.3 ms"), (0.5, "500 ms"), (2, "2.00 s")],
)
def test_times_are_shown_with_what_can_be_told_apart(seconds: float, shown: str) -> None:
    assert RATIO.show(seconds) == shown


def test_the_most_memory_is_that_of_a_process_that_runs() -> None:
    assert most_memory(os.getpid()) > 1
    assert most_memory(2**22 + 1) == 0  # no process has such an id
