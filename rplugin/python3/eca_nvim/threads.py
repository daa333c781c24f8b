"""Threads: blocking work beside the event loop.

Rules kept here:
- Only this file makes threads, and all of them are daemons. Python waits for any other thread
  before it runs the handlers of its exit: the host would not end, and save nothing. So nothing
  that makes threads is used, such as `anyio.to_thread`, `anyio.Path` or a resolver of names.
- Work that is not awaited any more goes on in its thread, and its result is dropped.
"""

import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


async def run_in_thread(work: Callable[[], Result]) -> Result:
    """Run blocking work in a daemon thread, which does not delay the end of the process.

    Raises what the work raises.
    """
    import asyncio  # noqa: PLC0415 - a process that takes a tree needs none

    loop = asyncio.get_running_loop()
    done: asyncio.Future[Result] = loop.create_future()

    def settle(outcome: Callable[[], None]) -> None:
        if not done.done():
            outcome()

    def run() -> None:
        try:
            result = work()
        except Exception as fault:  # noqa: BLE001 - raised again in the awaiting task
            outcome = partial(done.set_exception, fault)
        else:
            outcome = partial(done.set_result, result)
        with suppress(RuntimeError):  # the loop is closed: nobody awaits the result
            loop.call_soon_threadsafe(settle, outcome)

    run_beside(run)
    return await done


def run_beside(work: Callable[[], None]) -> threading.Thread:
    """Run blocking work in a daemon thread of which nobody waits for a result."""
    thread = threading.Thread(target=work, name="eca work", daemon=True)
    thread.start()
    return thread


def run_at_once(
    work: Callable[[Item], Result], items: Sequence[Item], threads: int
) -> list[Result]:
    """Do blocking work for each item in some threads, and block until all is done.

    Returns the results in order. Raises what the work raises.
    """
    done, faults = dict[int, Result](), list[Exception]()

    def run(first: int) -> None:
        try:
            for place in range(first, len(items), threads):
                done[place] = work(items[place])
        except Exception as fault:  # noqa: BLE001 - raised again below
            faults.append(fault)

    running = [run_beside(partial(run, first)) for first in range(min(threads, len(items)))]
    for each in running:
        each.join()
    if faults:
        raise faults[0]
    return [done[place] for place in range(len(items))]
