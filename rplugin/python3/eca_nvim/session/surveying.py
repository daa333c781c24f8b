"""Surveying: the workspace looked at whenever calls may change files without saying which.

Rules kept here:
- One survey at a time, in a thread: neither the agent nor the user waits for it, but for a call
  that was approved, and that not long.
- The thread ends with the host: it is asked to, and nobody waits for it.
- A workspace that is too large, or too slow, is not tried again.
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

from eca_nvim.review.survey import Difference, Survey, differences, survey
from eca_nvim.review.watch import Watch
from eca_nvim.review.workspace import UnknownWorkspace

PATIENCE = 1.0
"""Seconds that an approved call, or the user, waits for a survey at most."""
LONGEST = 15.0
"""Seconds that a survey may take."""
TOGETHER = 50
"""Files that are taken before others have their turn."""

log = logging.getLogger(__name__)

Result = TypeVar("Result")
Found: TypeAlias = tuple[Survey, Sequence[Difference]]
WhenFresh: TypeAlias = Callable[[bool], None]
"""Takes whether the workspace was surveyed in time."""


class Surveyor:
    """Surveys the workspace when it is wanted."""

    def __init__(self, watch: Watch, folders: Sequence[str]) -> None:
        self._watch = watch
        self._folders = folders
        self._then_in, self._then = anyio.create_memory_object_stream[WhenFresh](math.inf)
        self._wanted = self._begun = self._done = 0
        self._changed = anyio.Event()
        self._is_over = False
        self._given_up: UnknownWorkspace | None = None

    def want(self) -> int:
        """Ask for a survey that begins after now; gives its number."""
        self._wanted = self._begun + 1
        self._tell()
        return self._wanted

    def when_fresh(self, then: WhenFresh) -> None:
        """Do something when the workspace has been surveyed, or that takes too long."""
        self._then_in.send_nowait(then)

    async def settled(self) -> bool:
        """Wait until it is known what ended calls did, but not for long; says whether it is."""
        return not self._watch.waits or await self.fresh()

    def stop(self) -> None:
        """Survey no more."""
        self._is_over = True

    async def run(self) -> None:
        """Survey until cancelled."""
        try:
            async with self._then, self._then_in, anyio.create_task_group() as tasks:
                tasks.start_soon(self._survey_on)
                async for then in self._then:
                    tasks.start_soon(self._wait, then)
        finally:
            self.stop()

    async def _wait(self, then: WhenFresh) -> None:
        then(await self.fresh())

    async def fresh(self) -> bool:
        """Wait for a survey that begins after now, but not for long; says whether it is made."""
        number = self.want()
        with anyio.move_on_after(PATIENCE):
            while self._done < number:
                await self._changed.wait()
        return self._done >= number

    async def _survey_on(self) -> None:
        while True:
            while self._begun >= self._wanted:
                await self._changed.wait()
            self._begun += 1
            self._watch.begin()
            try:
                await self._take(*await in_thread(self._survey))
            except UnknownWorkspace as why:
                self._give_up(why)
            except Exception as fault:
                log.exception("a survey failed")
                self._watch.failed(f"the survey failed: {fault}; `:Eca log` tells more")
            self._done = self._begun
            self._tell()

    def _give_up(self, why: UnknownWorkspace) -> None:
        if self._given_up is None:
            log.warning("commands are not looked at: %s", why)
        self._given_up = why
        self._watch.failed(str(why))

    def _survey(self) -> Found:
        if self._given_up is not None:
            raise self._given_up
        last, deadline = self._watch.last, time.monotonic() + LONGEST

        def check() -> None:
            if self._is_over:
                raise UnknownWorkspace("the session is over")
            if time.monotonic() > deadline:
                raise UnknownWorkspace("it takes too long to read the workspace")

        new = survey(self._folders, last, check)
        return new, list(differences(last, new))

    async def _take(self, new: Survey, found: Sequence[Difference]) -> None:
        for number, _ in enumerate(self._watch.take(new, found), 1):
            if number % TOGETHER == 0:
                await anyio.lowlevel.checkpoint()

    def _tell(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()


async def in_thread(work: Callable[[], Result]) -> Result:
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

    threading.Thread(target=run, name="survey", daemon=True).start()
    return await done
