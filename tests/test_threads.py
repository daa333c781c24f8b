"""Blocking work beside the event loop: its result, its fault, and that it delays no exit."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.launch import REPOSITORY

from eca_nvim.threads import run_in_thread

PACKAGE = REPOSITORY / "rplugin" / "python3" / "eca_nvim"
MAKERS = ("to_thread", "run_in_executor", "Thread(", "ThreadPoolExecutor")
PROCESSES_OF_THEIR_OWN = ("demo", "probes")
EXITS = """
import asyncio, atexit, time
from eca_nvim.threads import run_in_thread
async def main():
    asyncio.ensure_future(run_in_thread(lambda: time.sleep(600)))
    await asyncio.sleep(0)
atexit.register(print, "exit work")
asyncio.run(main())
"""


@pytest.mark.anyio
async def test_work_returns_and_raises() -> None:
    assert await run_in_thread(lambda: 7) == 7
    with pytest.raises(ZeroDivisionError):
        await run_in_thread(lambda: 1 // 0)


def test_work_that_goes_on_delays_no_exit() -> None:
    run = subprocess.run(
        [sys.executable, "-c", EXITS], capture_output=True, text=True, check=True, timeout=60
    )
    assert run.stdout == "exit work\n"


def test_only_one_file_makes_threads() -> None:
    """Python waits for any other thread before it runs the handlers of its exit."""
    for file in sorted(PACKAGE.rglob("*.py")):
        if file.name == "threads.py" or {*PROCESSES_OF_THEIR_OWN} & {*file.parts}:
            continue
        assert not [it for it in MAKERS if it in Path(file).read_text()], file
