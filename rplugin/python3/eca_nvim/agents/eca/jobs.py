"""Jobs: the commands that an ECA server runs in the background (`abilities.Jobs`)."""

from collections.abc import Sequence
from typing import Final

from eca_nvim.agents.abilities import AgentRefused, OutputLine
from eca_nvim.agents.base import Emit
from eca_nvim.agents.eca.inbox import Inbox
from eca_nvim.agents.eca.server import EcaServer
from eca_nvim.protocol.eca import tools

ANSWER_SECONDS: Final = 20.0
"""Time for the response to a request: someone looks at the row that waits for it."""


class EcaJobs:
    """The jobs of one server process."""

    def __init__(self, server: EcaServer, inbox: Inbox, emit: Emit) -> None:
        self._server = server
        self._inbox = inbox
        self._emit = emit

    async def refresh(self) -> None:
        """Ask which there are (jobs/list). Raises AgentRefused.

        The server says nothing when it forgets one.
        """
        before = self._inbox.jobs
        listed = await self._server.ask(tools.JobsListParams(), ANSWER_SECONDS)
        if self._inbox.jobs is before:  # else it has told them since, maybe after this answer
            for told in self._server.translator.read(tools.JobsUpdated(jobs=listed.jobs)):
                self._emit(self._inbox.read(told))

    async def output(self, job_id: str) -> Sequence[OutputLine] | None:
        """Return what a job has printed (jobs/readOutput), None if the server has forgotten it.

        Raises AgentRefused.
        """
        params = tools.JobOutputParams(job_id=job_id)
        printed = await self._server.ask(params, ANSWER_SECONDS)
        if printed.status is None:
            return None
        return [
            OutputLine(line, it.stream == "stderr")
            for it in printed.lines
            for line in it.text.split("\n")
        ]

    async def kill(self, job_id: str) -> None:
        """End a job and all that it has started (jobs/kill). Raises AgentRefused."""
        ended = await self._server.ask(tools.JobKillParams(job_id=job_id), ANSWER_SECONDS)
        if not ended.killed:
            raise AgentRefused("the server has not ended it: it says that it does not run")
