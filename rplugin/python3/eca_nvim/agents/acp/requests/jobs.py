"""Jobs: the commands in terminals of ours, listed with what runs in the background.

Rules kept here:
- A command belongs to a turn, and ends with it at the latest (`turn_events.Job.in_turn`).
- What the last ones have printed is kept, whether the agent has released their terminals or not.
"""

from collections import deque
from collections.abc import Sequence
from typing import Final, Protocol

from eca_nvim.agents.abilities import AgentRefused, OutputLine
from eca_nvim.agents.acp.link import Link
from eca_nvim.agents.acp.session import Session
from eca_nvim.chat.vocabulary.agent_events import JobsChanged
from eca_nvim.chat.vocabulary.turn_events import Job, JobState
from eca_nvim.protocol.acp.client_requests import ExitStatus

MOST_ENDED: Final = 20
"""Commands that have ended and whose output is kept."""


class Running(Protocol):
    """A command; started: seconds since 1970. was_ended: somebody has ended it."""

    id: str
    command: str
    session: Session
    status: ExitStatus | None
    started: float
    was_ended: bool

    def text(self) -> str:
        """Return the end of what it has printed."""

    def end(self) -> None:
        """Begin to end it."""


class TerminalJobs:
    """The commands of one agent process (`abilities.Jobs`)."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._running: dict[str, Running] = {}
        self._ended: deque[Running] = deque(maxlen=MOST_ENDED)

    def began(self, command: Running) -> None:
        """Note that a command runs."""
        self._running[command.id] = command
        self._tell()

    def ended(self, command: Running) -> None:
        """Note that a command has ended."""
        if self._running.pop(command.id, None) is not None:
            self._ended.append(command)
            self._tell()

    async def refresh(self) -> None:
        """Emit all of them."""
        self._tell()

    async def output(self, job_id: str) -> Sequence[OutputLine] | None:
        """Return what a command has printed; None if that is not kept any more."""
        commands = (*self._running.values(), *self._ended)
        found = next((it for it in commands if it.id == job_id), None)
        if found is None:
            return None
        text = found.text().removesuffix("\n")
        return [OutputLine(line) for line in text.split("\n")] if text else []

    async def kill(self, job_id: str) -> None:
        """Begin to end a command and all that it has started. Raises AgentRefused."""
        command = self._running.get(job_id)
        if command is None:
            raise AgentRefused("it has ended already")
        command.end()

    def _tell(self) -> None:
        told = (*self._ended, *self._running.values())
        self._link.emit(JobsChanged(tuple(map(_job, told))))


def _job(command: Running) -> Job:
    return Job(
        title=command.command,
        state=_state(command),
        exit_code=None if command.status is None else command.status.exit_code,
        chat_id=command.session.chat_id,
        id=command.id,
        started=command.started,
        in_turn=True,
    )


def _state(command: Running) -> JobState:
    status = command.status
    if status is None:
        return JobState.RUNNING
    if command.was_ended or status.signal is not None:
        return JobState.KILLED
    return JobState.COMPLETED if status.exit_code == 0 else JobState.FAILED
