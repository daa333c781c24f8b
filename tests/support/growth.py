"""Whether work grows with its amount alone: a lot of it is measured against many small pieces.

Both are measured in one go and by the time of this process alone, so that neither a slow nor a busy
machine counts; what looks too long is measured again before it is too long.
"""

import gc
import time
from collections.abc import Callable, Sequence
from typing import TypeAlias

Work: TypeAlias = Callable[[], object]
Prepare: TypeAlias = Callable[[int], Work]
"""Returns work of an amount; it is done once, and preparing it is not measured."""

STEP = 10
MOST = 5
"""How much longer work may take than `STEP` pieces with a tenth of its amount each: linear work
takes 1 (2 where it leaves the processor's caches), quadratic work 10."""
LEAST_S = 0.02
"""What takes less is too short to be compared."""
TRIES = 5


def is_linear(prepare: Prepare, few: int) -> bool:
    """Return whether `STEP` times the amount `few` takes about `STEP` times as long."""
    return any(growth(prepare, few) <= MOST for _ in range(TRIES))


def growth(prepare: Prepare, few: int) -> float:
    """Return how much longer a lot of work takes than its pieces; 1 for linear work."""
    long = seconds([prepare(STEP * few)])
    return 1 if long < LEAST_S else long / seconds([prepare(few) for _ in range(STEP)])


def seconds(works: Sequence[Work]) -> float:
    """Measure how long this process takes for works, one after the other."""
    gc.collect()
    gc.disable()  # garbage collection depends on what ran before
    try:
        start = time.process_time()
        for work in works:
            work()
        return time.process_time() - start
    finally:
        gc.enable()
