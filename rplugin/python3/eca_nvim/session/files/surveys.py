"""Surveys: reads the workspace before and after calls that may change any file, as shell commands.

Rules kept here:
- One survey at a time, in a thread. Only an approved call and the user's review requests wait for
  one, and at most `WAIT_LIMIT`.
- When the host ends, the thread is asked to stop; the exit does not depend on it.
- A workspace that is too large or too slow to read is not tried again for a while.
"""

import logging
import math
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeAlias

import anyio
import anyio.lowlevel
from msgspec import Struct

from eca_nvim.review.attribution import Attribution
from eca_nvim.review.survey import Difference, Survey, differences, survey
from eca_nvim.review.workspace import UnknownWorkspace
from eca_nvim.threads import run_in_thread

WAIT_LIMIT = 1.0
"""Seconds that an approved call, or the user, waits for a survey at most."""
SURVEY_TIMEOUT = 15.0
"""Seconds that a survey may take."""
STOP_TIMEOUT = 0.2
"""Seconds that the end of the host waits for a survey at most."""
RETRY_AFTER = 600.0
"""Seconds after which a workspace that could not be surveyed is tried again."""
SLICE = 0.01
"""Seconds of work on found differences before other tasks get their turn."""

OTHER_FOLDERS = "the folders of the workspace changed meanwhile"
TOO_LONG = "reading the workspace takes too long"

log = logging.getLogger(__name__)

Found: TypeAlias = tuple[Survey, Sequence[Difference]]
AfterSurvey: TypeAlias = Callable[[bool], None]
"""Called with whether the workspace was surveyed in time."""


class _Request:
    """The next survey: whether anybody has requested it, and whether it is done."""

    def __init__(self) -> None:
        self.requested = anyio.Event()
        self.done = anyio.Event()


class _Waiting(Struct, frozen=True):
    """A callback for the end of a survey, or for a `deadline` (in the loop's time)."""

    survey: _Request
    deadline: float
    callback: AfterSurvey


class Surveyor:
    """Surveys the workspace on request.

    A request is for the survey that begins next: a running one may have missed the latest changes.

        requests   1    2 3
        begins       A       B      1 waits for the end of A; 2 and 3 for that of B
        ends             A      B
    """

    def __init__(self, attribution: Attribution, folders: Sequence[str]) -> None:
        self._attribution = attribution
        attribution.request_survey = self.request
        self._folders = folders
        self._surveyed: tuple[str, ...] | None = None
        self._next = _Request()
        self._waiting_in, self._waiting = anyio.create_memory_object_stream[_Waiting](math.inf)
        self.waiting_count = 0
        """How many callbacks still wait for a survey."""
        self._is_stopped = False
        self._given_up: UnknownWorkspace | None = None
        self._tried_at = 0.0
        self._thread: threading.Thread | None = None

    def request(self) -> _Request:
        """Request a survey that begins after now."""
        self._next.requested.set()
        return self._next

    def after_survey(self, callback: AfterSurvey) -> None:
        """Call back when the workspace has been surveyed, or after `WAIT_LIMIT`; in order."""
        self.waiting_count += 1
        deadline = anyio.current_time() + WAIT_LIMIT
        self._waiting_in.send_nowait(_Waiting(self.request(), deadline, callback))

    async def settled(self) -> bool:
        """Wait at most `WAIT_LIMIT` until the changes of all ended calls are known.

        Returns whether they are.
        """
        return not self._attribution.awaits_survey or await self.fresh()

    def stop(self) -> None:
        """Stop surveying; a running thread gets `STOP_TIMEOUT` to end."""
        self._is_stopped = True
        if self._thread is not None:
            self._thread.join(STOP_TIMEOUT)

    async def run(self) -> None:
        """Survey until cancelled."""
        try:
            async with self._waiting, self._waiting_in, anyio.create_task_group() as tasks:
                tasks.start_soon(self._survey_on_request)
                async for waiting in self._waiting:
                    is_fresh = await _done_by(waiting.survey, waiting.deadline)
                    self.waiting_count -= 1
                    waiting.callback(is_fresh)
        finally:
            self.stop()

    async def fresh(self) -> bool:
        """Wait at most `WAIT_LIMIT` for a survey that begins after now; returns if it is done."""
        return await _done_by(self.request(), anyio.current_time() + WAIT_LIMIT)

    async def _survey_on_request(self) -> None:
        while True:
            await self._next.requested.wait()
            request, self._next = self._next, _Request()
            try:
                self._attribution.survey_begins()
                await self._survey()
            except UnknownWorkspace as why:
                self._give_up(why)
            except Exception as fault:
                log.exception("a survey failed")
                self._attribution.survey_failed(f"the survey failed: {fault}; see :Eca log")
            request.done.set()

    async def _survey(self) -> None:
        """Survey once. Raises UnknownWorkspace."""
        if self._given_up is not None and time.monotonic() < self._tried_at + RETRY_AFTER:
            raise self._given_up
        self._given_up = None
        folders = tuple(self._folders)
        if self._surveyed not in (None, folders):  # else all files of a new one would seem made
            self._attribution.survey_failed(OTHER_FOLDERS)
        self._surveyed = folders
        try:
            # The thread checks its own deadline between files, but not while it reads one.
            with anyio.fail_after(SURVEY_TIMEOUT + WAIT_LIMIT):
                new, found = await run_in_thread(partial(self._read_workspace, folders))
        except TimeoutError:
            raise UnknownWorkspace(TOO_LONG) from None
        pause = time.monotonic() + SLICE
        for _ in self._attribution.attribute(new, found):
            if time.monotonic() > pause:
                await anyio.lowlevel.checkpoint()
                pause = time.monotonic() + SLICE

    def _give_up(self, why: UnknownWorkspace) -> None:
        if self._given_up is not why:
            log.warning("the changes of commands cannot be found: %s", why)
            self._given_up, self._tried_at = why, time.monotonic()
        self._attribution.survey_failed(str(why))

    def _read_workspace(self, folders: Sequence[str]) -> Found:
        """Return a survey and its differences from the last one; blocks, so runs in a thread."""
        self._thread = threading.current_thread()
        last, deadline = self._attribution.last, time.monotonic() + SURVEY_TIMEOUT

        def check() -> None:
            if self._is_stopped:
                raise UnknownWorkspace("the session is over")
            if time.monotonic() > deadline:
                raise UnknownWorkspace(TOO_LONG)

        new = survey(folders, last, check)
        return new, list(differences(last, new))


async def _done_by(survey: _Request, deadline: float) -> bool:
    """Wait for the end of a survey until a deadline; returns whether it has ended."""
    with anyio.move_on_after(max(0.0, deadline - anyio.current_time())):
        await survey.done.wait()
    return survey.done.is_set()
