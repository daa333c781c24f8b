"""Jobs: the commands that an ECA server runs in the background (`abilities.Jobs`)."""

from eca_nvim.agents.eca.server import EcaServer
from eca_nvim.protocol.eca.tools import JobKillParams


class EcaJobs:
    """The jobs of one server process."""

    def __init__(self, server: EcaServer) -> None:
        self._server = server

    async def kill(self, job_id: str) -> None:
        """End a job and all that it has started (jobs/kill). Raises AgentRefused."""
        await self._server.ask(JobKillParams(job_id=job_id))
