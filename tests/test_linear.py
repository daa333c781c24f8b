"""Whatever text comes from outside, reading ten times as much takes about ten times as long.

A long text is measured against ten shorter ones, all of them in one go and by the time of this
process alone, so that neither a slow nor a busy machine counts; what looks too long is measured
again before it is one.
"""

import gc
import time
from collections.abc import Sequence

import pytest
from tests.worst_cases import WORST, Worst

STEP = 10
MOST = 5
"""How much longer one text may take than `STEP` with a tenth of its length each: linear work takes
1 (2 where the long one leaves the processor's caches), quadratic work 10."""
LEAST_S = 0.02
"""What takes less is too short to be compared."""
SIZES = (10_000, 100_000)
"""Characters of the shorter texts; the small ones tell what would never end with the large one."""
TRIES = 5

CASES = [
    pytest.param(worst, id=f"{module.removeprefix('eca_nvim.')}-{number}")
    for module, cases in WORST.items()
    for number, worst in enumerate(cases)
]


def seconds(worst: Worst, texts: Sequence[str | bytes]) -> float:
    """Measure how long this process works on texts, one after the other."""
    gc.collect()
    gc.disable()  # garbage collection depends on what ran before
    try:
        start = time.process_time()
        for text in texts:
            worst.run(text)
        return time.process_time() - start
    finally:
        gc.enable()


def growth(worst: Worst, size: int) -> float:
    """Return how much longer one text takes than ten of `size` characters; 1 for linear work."""
    long = seconds(worst, [worst.make(STEP * size)])
    return 1 if long < LEAST_S else long / seconds(worst, [worst.make(size)] * STEP)


@pytest.mark.parametrize("worst", CASES)
def test_ten_times_the_text_takes_about_ten_times_as_long(worst: Worst) -> None:
    worst.run(worst.make(100))  # do not measure what is done only once
    for size in SIZES:
        assert any(growth(worst, size) <= MOST for _ in range(TRIES)), f"from {size} characters"


def test_work_that_grows_with_the_square_of_the_text_is_seen() -> None:
    def compare_all(text: str) -> None:
        for _ in text:
            text.count("b")

    assert growth(Worst(run=compare_all, make=lambda size: "a" * size), 3_000) > MOST
