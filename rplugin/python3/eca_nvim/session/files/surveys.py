"""Surveys: the workspace looked at whenever calls may change files without saying which.

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
from msgspec import Struct

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


class _Request:
    """A survey that has not begun: whether it is `wanted`, and whether it is `over`."""

    def __init__(self) -> None:
        self.wanted = anyio.Event()
        self.over = anyio.Event()


class _Waiting(Struct, frozen=True):
    """What is done when a survey is over, or at a `deadline` (by the clock of the loop)."""

    survey: _Request
    deadline: float
    then: WhenFresh


class Surveyor:
    """Surveys the workspace when it is wanted.

    Who asks gets the survey that begins next: one that runs may have missed what happened just now.

        asked   1    2 3
        begins    A       B      1 waits for the end of A; 2 and 3 for that of B
        ends          A      B
    """

    def __init__(self, attribution: Attribution, folders: Sequence[str]) -> None:
        self._attribution = attribution
        self._folders = folders
        self._next = _Request()
        self._waiting_in, self._waiting = anyio.create_memory_object_stream[_Waiting](math.inf)
        self._held = 0
        self._is_over = False
        self._given_up: UnknownWorkspace | None = None
        self._tried_at = 0.0
        self._thread: threading.Thread | None = None

    def want(self) -> _Request:
        """Ask for a survey that begins after now."""
        self._next.wanted.set()
        return self._next

    @property
    def holds(self) -> bool:
        """Say whether something still waits for a survey."""
        return self._held > 0

    def when_fresh(self, then: WhenFresh) -> None:
        """Do something when the workspace has been surveyed, or that takes too long."""
        self._held += 1
        deadline = anyio.current_time() + PATIENCE
        self._waiting_in.send_nowait(_Waiting(self.want(), deadline, then))

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
            async with self._waiting, self._waiting_in, anyio.create_task_group() as tasks:
                tasks.start_soon(self._survey_on)
                async for waiting in self._waiting:
                    is_fresh = await _ends_by(waiting.survey, waiting.deadline)
                    self._held -= 1
                    waiting.then(is_fresh)
        finally:
            self.stop()

    async def fresh(self) -> bool:
        """Wait for a survey that begins after now, but not for long; says whether it is made."""
        return await _ends_by(self.want(), anyio.current_time() + PATIENCE)

    async def _survey_on(self) -> None:
        while True:
            await self._next.wanted.wait()
            request, self._next = self._next, _Request()
            try:
                self._attribution.begin()
                await self._survey()
            except UnknownWorkspace as why:
                self._give_up(why)
            except Exception as fault:
                log.exception("a survey failed")
                self._attribution.failed(f"the survey failed: {fault}; :Eca log tells more")
            request.over.set()

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


async def _ends_by(survey: _Request, deadline: float) -> bool:
    """Wait for the end of a survey until a deadline; says whether it has come."""
    with anyio.move_on_after(max(0.0, deadline - anyio.current_time())):
        await survey.over.wait()
    return survey.over.is_set()


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
