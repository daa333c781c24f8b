"""The arithmetic of the measurements."""

import os
import statistics

import pytest
from bench.cpu import most_memory
from bench.figures import Figure, Verdict, median, percentile, ratio, show


def test_the_median_is_the_middle() -> None:
    assert median([3.0, 1.0, 2.0]) == 2.0
    assert median([4.0, 1.0, 2.0, 3.0]) == 2.5
    with pytest.raises(statistics.StatisticsError):
        median([])


@pytest.mark.parametrize(
    ("percent", "expected"), [(0, 1.0), (50, 50.0), (99, 99.0), (99.5, 100.0), (100, 100.0)]
)
def test_a_percentile_is_a_value_that_occurred(percent: float, expected: float) -> None:
    assert percentile([float(value) for value in range(100, 0, -1)], percent) == expected


def test_of_few_values_the_99th_percentile_is_the_largest() -> None:
    assert percentile([1.0, 9.0, 2.0], 99) == 9.0


def test_a_ratio_is_one_of_medians_and_names_both() -> None:
    figure = ratio("burst", [0.3, 0.1, 0.2], [0.1, 0.1, 5.0], 1.6)
    assert figure.value == pytest.approx(2.0)
    assert (figure.ours, figure.floor) == ("200 ms", "100 ms")


@pytest.mark.parametrize(("value", "verdict"), [(1.0, Verdict.HELD), (1.01, Verdict.OVER)])
def test_a_target_is_held_up_to_its_value(value: float, verdict: Verdict) -> None:
    assert Figure("", value, "s", 1.0).verdict is verdict


@pytest.mark.parametrize(
    ("seconds", "shown"), [(0.00042, "0.4 ms"), (0.0123, "12.3 ms"), (0.5, "500 ms"), (2, "2.00 s")]
)
def test_times_are_shown_with_what_can_be_told_apart(seconds: float, shown: str) -> None:
    assert show(seconds) == shown


def test_the_most_memory_is_that_of_a_process_that_runs() -> None:
    assert most_memory(os.getpid()) > 1
    assert most_memory(2**22 + 1) == 0  # no process has such an id
