"""Jobs: the commands that one server runs in the background, and the last ones that it has run.

Rules kept here:
- A job that has ended is kept when the server has forgotten it, and when the server itself has
  ended. What was read of its output stays with it.
- An agent's ids are unique while its process runs: each job has a key of its own.
- What has ended does not run again, whatever comes late. No time is negative.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, count
from typing import Final

import anyio
from msgspec import Struct, field
from msgspec.structs import replace

from eca_nvim.agents.abilities import OutputLine
from eca_nvim.chat.text.safe_text import one_line, truncate
from eca_nvim.chat.vocabulary.turn_events import Job, JobState

MOST_FORGOTTEN: Final = 50
"""Jobs of a server that are kept although it has forgotten them."""
MOST_TOLD: Final = 100
"""Jobs that run, and as many that have ended, in the list of the view, which copies it often."""
MOST_LINES: Final = 2000
"""Lines of a job's output that are kept: ECA tells as many."""
LONGEST_LINE: Final = 2000
"""Characters of a line of output that are kept."""
TITLE_CELLS: Final = 300


class Output(Struct, frozen=True):
    """What was read last of a job's output; `first`: how many lines of it came before."""

    lines: Sequence[OutputLine] = ()
    first: int = 0

    def then(self, lines: Sequence[OutputLine]) -> "Output":
        """Return what was read after this: its beginning may be gone."""
        cut = [
            it if len(it.text) <= LONGEST_LINE else replace(it, text=it.text[:LONGEST_LINE] + "…")
            for it in lines[-MOST_LINES:]
        ]
        dropped = len(self.lines) - overlap(self.lines, cut)
        return Output(cut, self.first + dropped + max(0, len(lines) - MOST_LINES))


class KnownJob(Struct, eq=False):
    """A job. Times are seconds since 1970.

    key: unique while this process runs. seen: when the agent first listed it. ended: when its end
    was seen, None if it runs, or had ended before. is_known: the agent that runs it still lists it.
    over: set once it has ended.
    """

    key: str
    job: Job
    seen: float
    ended: float | None = None
    is_known: bool = True
    output: Output | None = None
    over: anyio.Event = field(default_factory=anyio.Event)

    @property
    def is_running(self) -> bool:
        """Whether it runs, as far as is known."""
        return self.job.state is JobState.RUNNING

    @property
    def began(self) -> float:
        """When it began: at the latest when it was first seen, whatever the agent's clock says."""
        started = self.job.started
        return self.seen if started is None else min(started, self.seen)

    def read(self, lines: Sequence[OutputLine]) -> None:
        """Note the last lines of all that it has printed."""
        self.output = (self.output or Output()).then(lines)

    def seconds(self, now: float) -> float | None:
        """Return how long it runs or ran; None if that is not known."""
        end = now if self.is_running else self.ended
        return None if end is None else max(0.0, end - self.began)


class JobList:
    """The jobs of one server."""

    def __init__(self, server: str, now: Callable[[], float] = time.time) -> None:
        self._server = server
        self._now = now
        self._jobs: dict[str, KnownJob] = {}  # by key, oldest first
        self._by_id: dict[str, KnownJob] = {}  # those of the process that runs
        self._numbers = count(1)

    def __iter__(self) -> Iterator[KnownJob]:
        return iter(tuple(self._jobs.values()))

    def get(self, key: str) -> KnownJob | None:
        """Return a job by its key."""
        return self._jobs.get(key)

    @property
    def in_background(self) -> Sequence[Job]:
        """Those that run, and not only as long as a turn."""
        return [it.job for it in self if it.is_running and not it.job.in_turn]

    def update(self, told: Sequence[Job]) -> None:
        """Note all jobs that the agent knows."""
        for job in told:
            known = self._by_id.get(job.id)
            if known is None:
                key = f"{self._server}/{next(self._numbers)}"
                known = self._jobs[key] = self._by_id[job.id] = KnownJob(key, job, self._now())
                if not known.is_running:
                    known.over.set()
            elif known.is_running or job.state is not JobState.RUNNING:
                self._tell(known, job)
        ids = {it.id for it in told}
        for known in self._by_id.values():
            known.is_known = known.job.id in ids
            if known.is_running and not known.is_known:
                self._tell(known, replace(known.job, state=JobState.ENDED))
        self._forget()

    def agent_ended(self) -> Sequence[Job]:
        """Note that nothing runs any more; return what was ended by that."""
        killed = [it for it in self if it.is_running]
        for known in killed:
            self._tell(known, replace(known.job, state=JobState.KILLED))
        for known in self:
            known.is_known = False
        self._by_id.clear()
        self._forget()
        return [it.job for it in killed]

    def told(self, owner: Callable[[str], str]) -> Sequence[Mapping[str, object]]:
        """Return the last of them for the view (`ops.SetJobs`); owner: which chat shows a chat."""
        last = [[it for it in self if it.is_running is runs][-MOST_TOLD:] for runs in (True, False)]
        keys = {it.key for it in chain(*last)}
        return [_listed(it, owner) for it in self if it.key in keys]

    def _tell(self, known: KnownJob, job: Job) -> None:
        was_running, known.job = known.is_running, job
        if was_running and not known.is_running:
            known.ended = self._now()
            known.over.set()

    def _forget(self) -> None:
        """Keep only the last of those that the agent has forgotten."""
        forgotten = [it for it in self if not it.is_known]
        for known in forgotten[: max(0, len(forgotten) - MOST_FORGOTTEN)]:
            del self._jobs[known.key]
            if self._by_id.get(known.job.id) is known:
                del self._by_id[known.job.id]


def _listed(known: KnownJob, owner: Callable[[str], str]) -> Mapping[str, object]:
    job = known.job
    listed = {
        "id": known.key,
        "title": truncate(one_line(job.title), TITLE_CELLS),
        "state": job.state.value,
        "background": not job.in_turn,
        "chat": job.chat_id and owner(job.chat_id),
        "exit_code": job.exit_code,
        "started": job.started,
    }
    return {name: value for name, value in listed.items() if value is not None}


def overlap(old: Sequence[OutputLine], new: Sequence[OutputLine]) -> int:
    """Return how many of the last old lines are the first new ones; in linear time."""
    borders = [0]  # of each beginning of the new lines: how much of its end is also its beginning
    length = 0
    for place in range(1, len(new)):
        length = _longer(new, borders, length, new[place])
        borders.append(length)
    length = 0
    for line in old[-len(new) :] if new else ():
        length = _longer(new, borders, length, line)
    return length


def _longer(
    lines: Sequence[OutputLine], borders: Sequence[int], length: int, line: OutputLine
) -> int:
    """Return how many of the first lines match up to a further line, if so many matched before."""
    while length and (length == len(lines) or lines[length] != line):
        length = borders[length - 1]
    return length + (lines[length] == line)
