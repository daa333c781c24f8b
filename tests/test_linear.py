"""Whatever text comes from outside, reading ten times as much takes about ten times as long.

Time is that of this process alone, so that a busy machine does not count; what looks too long is
measured again before it is one.
"""

import gc
import time

import pytest
from tests.worst_cases import WORST, Worst

MOST = 20
"""How much longer ten times the text may take: linear work takes 10, quadratic 100."""
LEAST_S = 0.01
"""What takes less is too short to be compared."""
SIZES = (10_000, 100_000, 1_000_000)
"""Characters; the small ones tell what would never end with the large one."""
TRIES = 3

CASES = [
    pytest.param(worst, id=f"{module.removeprefix('eca_nvim.')}-{number}")
    for module, cases in WORST.items()
    for number, worst in enumerate(cases)
]


def seconds(worst: Worst, size: int) -> float:
    """Measure how long this process works on a text."""
    text = worst.make(size)
    gc.collect()
    gc.disable()  # garbage collection depends on what ran before
    try:
        start = time.process_time()
        worst.run(text)
        return time.process_time() - start
    finally:
        gc.enable()


@pytest.mark.parametrize("worst", CASES)
def test_ten_times_the_text_takes_about_ten_times_as_long(worst: Worst) -> None:
    worst.run(worst.make(100))  # do not measure what is done only once
    before = max(LEAST_S, seconds(worst, SIZES[0]))
    for size in SIZES[1:]:
        took = seconds(worst, size)
        for _ in range(TRIES):
            if took > MOST * before:
                took = min(took, seconds(worst, size))
        assert took <= MOST * before, f"{size} characters: {took:.3f} s after {before:.3f} s"
        before = max(LEAST_S, took)
