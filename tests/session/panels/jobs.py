"""The jobs of a fake agent: what it is asked for does what the test says."""

from collections.abc import Sequence

import anyio
from tests.session.rig import FakeAgent

from eca_nvim.agents.abilities import AgentRefused, OutputLine
from eca_nvim.chat.vocabulary.agent_events import JobsChanged
from eca_nvim.chat.vocabulary.turn_events import Job, JobState


class FakeJobs:
    """What an agent runs; `printed`: by id, None is what it has forgotten."""

    def __init__(self, agent: FakeAgent) -> None:
        self.agent = agent
        self.killed: list[str] = []
        self.read: list[str] = []
        self.printed: dict[str, Sequence[str] | None] = {}
        self.listed: Sequence[Job] | None = None
        self.fault: AgentRefused | None = None
        self.may_go_on = anyio.Event()
        self.answers_reads = anyio.Event()
        self.answers_reads.set()

    async def refresh(self) -> None:
        if self.listed is not None:
            self.agent.announce(JobsChanged(tuple(self.listed)))

    async def output(self, job_id: str) -> Sequence[OutputLine] | None:
        self.read.append(job_id)
        await self.answers_reads.wait()
        printed = self.printed.get(job_id)
        if printed is None:
            return None
        return [OutputLine(it.removeprefix("!"), it.startswith("!")) for it in printed]

    async def kill(self, job_id: str) -> None:
        self.killed.append(job_id)
        await self.may_go_on.wait()
        if self.fault is not None:
            raise self.fault
        self.agent.announce(JobsChanged((Job("sleep", JobState.KILLED, id=job_id, chat_id="a"),)))
