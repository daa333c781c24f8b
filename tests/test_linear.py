"""Whatever text comes from outside, reading ten times as much takes about ten times as long."""

from functools import partial

import pytest
from tests.support.growth import MOST, Work, growth, is_linear
from tests.worst_cases import WORST, Worst

SIZES = (10_000, 100_000)
"""Characters of the shorter texts; the small ones tell what would never end with the large one."""

CASES = [
    pytest.param(worst, id=f"{module.removeprefix('eca_nvim.')}-{number}")
    for module, cases in WORST.items()
    for number, worst in enumerate(cases)
]


@pytest.mark.parametrize("worst", CASES)
def test_ten_times_the_text_takes_about_ten_times_as_long(worst: Worst) -> None:
    def prepare(size: int) -> Work:
        return partial(worst.run, worst.make(size))

    worst.run(worst.make(100))  # do not measure what is done only once
    for size in SIZES:
        assert is_linear(prepare, size), f"from {size} characters"


def test_work_that_grows_with_the_square_of_the_text_is_seen() -> None:
    def compare_all(text: str) -> None:
        for _ in text:
            text.count("b")

    assert growth(lambda size: partial(compare_all, "a" * size), 3_000) > MOST
