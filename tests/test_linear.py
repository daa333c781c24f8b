"""Whatever text comes from outside, reading ten times as much is about ten times the work."""

from collections.abc import Callable
from functools import partial

import pytest
from tests.support.growth import MOST, Work, growth
from tests.worst_cases import WORST, Worst

CASES = [
    pytest.param(worst, id=f"{module.removeprefix('eca_nvim.')}-{number}")
    for module, cases in WORST.items()
    for number, worst in enumerate(cases)
]


@pytest.mark.parametrize("worst", CASES)
def test_ten_times_the_text_takes_about_ten_times_the_work(worst: Worst) -> None:
    def prepare(size: int) -> Work:
        return partial(worst.run, worst.make(size))

    assert growth(prepare, worst.size) <= MOST


def count_pairs(text: str) -> None:
    """Compare each character with each."""
    for one in text:
        for other in text:
            assert one == other


def take_off(text: str) -> None:
    """Copy the rest for each character."""
    while text:
        text = text[1:]


@pytest.mark.parametrize(("work", "few"), [(count_pairs, 20), (take_off, 100)])
def test_work_that_grows_with_the_square_of_the_text_is_seen(
    work: Callable[[str], None], few: int
) -> None:
    assert growth(lambda size: partial(work, "a" * size), few) > MOST
