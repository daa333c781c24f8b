"""Whether work grows with its amount alone, by counting: a lot of it against a tenth of that.

Counted are the lines of Python that run and the bytes that they take, also for a moment: neither a
slow nor a busy machine matters. Who copies the rest of a text for each of its lines is seen. What a
search or a pattern only reads is not: `tests/test_patterns.py` judges each pattern.
"""

import gc
import sys
import tracemalloc
from collections.abc import Callable
from types import FrameType
from typing import NamedTuple, TypeAlias

Work: TypeAlias = Callable[[], object]
Prepare: TypeAlias = Callable[[int], Work]
"""Returns work of an amount; it is done once, and preparing it is not counted."""

STEP = 10
MOST = 25
"""How much more `STEP` times the amount may take: linear work takes up to 20, as tables double when
they are full, and quadratic work 100."""
EACH = 8
"""Lines between two looks at the bytes: of what so few take, the most at a time is counted."""
LUA_COST = """
--- Run a function; return the hundreds of Lua's instructions and the kilobytes that it took.
local function cost(run)
  local steps = 0
  jit.off() -- compiled code calls no hook
  collectgarbage()
  collectgarbage('stop') -- nothing is given back, and so all is counted
  local before = collectgarbage('count')
  debug.sethook(function() steps = steps + 1 end, '', 100)
  run()
  debug.sethook()
  local taken = collectgarbage('count') - before
  collectgarbage('restart')
  return steps, taken
end
"""


class Cost(NamedTuple):
    """What work takes."""

    lines: int
    bytes: int


def is_linear(prepare: Prepare, few: int) -> bool:
    """Return whether `STEP` times the amount `few` takes about `STEP` times as much."""
    return growth(prepare, few) <= MOST


def growth(prepare: Prepare, few: int) -> float:
    """Return how many times more a lot of work takes than a tenth of it.

    Bytes of other threads count, too, as those of the one that hears from pytest: too much once may
    be theirs, and is counted again.
    """
    prepare(few // 2)()  # do not count what is done once, nor find its results in a cache
    for _ in range(3):
        little, much = cost(prepare(few)), cost(prepare(STEP * few))
        grown = max(more / max(less, 1) for less, more in zip(little, much, strict=True))
        if grown <= MOST:
            break
    return grown


def cost(work: Work) -> Cost:
    """Count what work takes."""
    lines, taken, held = 0, 0, 0
    memory, forget_peak = tracemalloc.get_traced_memory, tracemalloc.reset_peak

    def trace(_frame: FrameType, _event: str, _argument: object) -> object:
        nonlocal lines, taken, held
        lines += 1
        if lines % EACH:
            return trace
        now, most = memory()
        taken, held = taken + most - held, now
        if most != now:
            forget_peak()
        return trace

    gc.disable()  # garbage collection depends on what ran before
    before = sys.gettrace()
    tracemalloc.start()
    try:
        held, _ = tracemalloc.get_traced_memory()
        sys.settrace(trace)  # type: ignore[arg-type]  # it calls itself
        work()
    finally:
        sys.settrace(before)
        taken += tracemalloc.get_traced_memory()[1] - held
        tracemalloc.stop()
        gc.enable()
    return Cost(lines, taken)
