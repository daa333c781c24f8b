"""Surveying: the workspace looked at whenever calls may change files without saying which.

Rules kept here:
- One survey at a time, in a thread: neither the agent nor the user waits for it, but for a call
  that was approved, and that not long.
- The thread ends with the host: it is asked to, and nobody waits for it.
- A workspace that is too large, or too slow, is not tried again for a while.
"""

from __future__ import annotations

import asyncio
import logging
import math
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import TypeAlias, TypeVar

import anyio
import anyio.lowlevel

from eca_nvim.review.attribution import Attribution
from eca_nvim.review.survey import Survey, survey
from eca_nvim.review.survey_differences import Difference, differences
from eca_nvim.review.workspace import UnknownWorkspace

PATIENCE = 1.0
"""Seconds that an approved call, or the user, waits for a survey at most."""
LONGEST = 15.0
"""Seconds that a survey may take."""
FAREWELL = 0.2
"""Seconds that the end of the host waits for a survey at most."""
AGAIN = 600.0
"""Seconds after which a workspace that could not be surveyed is tried again."""
TURN = 0.01
"""Seconds in which files are taken before others have their turn."""

TOO_LONG = "it takes too long to read the workspace"

log = logging.getLogger(__name__)

Result = TypeVar("Result")
Found: TypeAlias = tuple[Survey, Sequence[Difference]]
WhenFresh: TypeAlias = Callable[[bool], None]
"""Takes whether the workspace was surveyed in time."""
_Waiting: TypeAlias = tuple[float, WhenFresh]
"""Since when something waits, by the clock of the loop, and what."""


class Surveyor:
    """Surveys the workspace when it is wanted."""

    def __init__(self, attribution: Attribution, folders: Sequence[str]) -> None:
        self._attribution = attribution
        self._folders = folders
        self._then_in, self._then = anyio.create_memory_object_stream[_Waiting](math.inf)
        self._wanted = self._begun = self._done = 0
        self._changed = anyio.Event()
        self._held = 0
        self._is_over = False
        self._given_up: UnknownWorkspace | None = None
        self._tried_at = 0.0
        self._thread: threading.Thread | None = None

    def want(self) -> int:
        """Ask for a survey that begins after now; gives its number."""
        if self._wanted <= self._begun:
            self._wanted = self._begun + 1
            self._tell()
        return self._wanted

    @property
    def holds(self) -> bool:
        """Say whether something still waits for a survey."""
        return self._held > 0

    def when_fresh(self, then: WhenFresh) -> None:
        """Do something when the workspace has been surveyed, or that takes too long."""
        self._held += 1
        self._then_in.send_nowait((anyio.current_time(), then))

    async def settled(self) -> bool:
        """Wait until it is known what ended calls did, but not for long; says whether it is."""
        return not self._attribution.waits or await self.fresh()

    def stop(self) -> None:
        """Survey no more; what runs for a survey gets a moment to end."""
        self._is_over = True
        if self._thread is not None:
            self._thread.join(FAREWELL)

    async def run(self) -> None:
        """Survey until cancelled."""
        try:
            async with self._then, self._then_in, anyio.create_task_group() as tasks:
                tasks.start_soon(self._survey_on)
                async for then in self._then:
                    await self._wait(then)
        finally:
            self.stop()

    async def _wait(self, first: _Waiting) -> None:
        """Do what waits, in the order in which that was asked for."""
        waiting = [first]
        with suppress(anyio.WouldBlock):
            while True:
                waiting.append(self._then.receive_nowait())
        is_fresh = await self.fresh(first[0])
        self._held -= len(waiting)
        for _, then in waiting:
            then(is_fresh)

    async def fresh(self, since: float | None = None) -> bool:
        """Wait for a survey that begins after now, but not for long; says whether it is made.

        since: when that was asked for (by the clock of the loop), if not just now.
        """
        number, waited = self.want(), 0.0 if since is None else anyio.current_time() - since
        with anyio.move_on_after(max(0.0, PATIENCE - waited)):
            while self._done < number:
                await self._changed.wait()
        return self._done >= number

    async def _survey_on(self) -> None:
        while True:
            while self._begun >= self._wanted:
                await self._changed.wait()
            self._begun += 1
            try:
                self._attribution.begin()
                await self._survey()
            except UnknownWorkspace as why:
                self._give_up(why)
            except Exception as fault:
                log.exception("a survey failed")
                self._attribution.failed(f"the survey failed: {fault}; :Eca log tells more")
            self._done = self._begun
            self._tell()

    async def _survey(self) -> None:
        """Survey once. Raises UnknownWorkspace."""
        if self._given_up is not None and time.monotonic() < self._tried_at + AGAIN:
            raise self._given_up
        self._given_up = None
        try:
            with anyio.fail_after(LONGEST + PATIENCE):  # no check comes while a file is read
                new, found = await in_thread(self._look, self._started)
        except TimeoutError:
            raise UnknownWorkspace(TOO_LONG) from None
        pause = time.monotonic() + TURN
        for _ in self._attribution.take(new, found):
            if time.monotonic() > pause:
                await anyio.lowlevel.checkpoint()
                pause = time.monotonic() + TURN

    def _started(self, thread: threading.Thread) -> None:
        self._thread = thread

    def _give_up(self, why: UnknownWorkspace) -> None:
        if self._given_up is not why:
            log.warning("commands are not looked at: %s", why)
            self._given_up, self._tried_at = why, time.monotonic()
        self._attribution.failed(str(why))

    def _look(self) -> Found:
        """Survey, which blocks: runs in a thread."""
        last, deadline = self._attribution.last, time.monotonic() + LONGEST

        def check() -> None:
            if self._is_over:
                raise UnknownWorkspace("the session is over")
            if time.monotonic() > deadline:
                raise UnknownWorkspace(TOO_LONG)

        new = survey(self._folders, last, check)
        return new, list(differences(last, new))

    def _tell(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()


async def in_thread(
    work: Callable[[], Result], started: Callable[[threading.Thread], None] = lambda _: None
) -> Result:
    """Do what blocks in a thread that nobody waits for at the end of the process."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[Result] = loop.create_future()

    def settle(outcome: Callable[[], None]) -> None:
        if not done.done():
            outcome()

    def run() -> None:
        try:
            result = work()
        except Exception as fault:  # noqa: BLE001 - raised where it is waited for
            outcome = partial(done.set_exception, fault)
        else:
            outcome = partial(done.set_result, result)
        with suppress(RuntimeError):  # the loop is closed: nobody wants to know
            loop.call_soon_threadsafe(settle, outcome)

    thread = threading.Thread(target=run, name="survey", daemon=True)
    thread.start()
    started(thread)
    return await done
