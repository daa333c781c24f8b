"""The panel of what runs in the background: the jobs of all servers."""

import time
from collections.abc import Iterator, Mapping
from typing import ClassVar, Final

from eca_nvim.chat.text.safe_text import duration
from eca_nvim.chat.vocabulary.panels import Action, Row
from eca_nvim.chat.vocabulary.turn_events import Job, JobState
from eca_nvim.session.panels.panel import Answer, Panel, cell, column, note, rest
from eca_nvim.session.servers import NamedServer
from eca_nvim.session.view import Refused

_GROUPS: Final = {
    JobState.RUNNING: "EcaRunning",
    JobState.COMPLETED: "EcaToolDone",
    JobState.FAILED: "EcaFailed",
    JobState.KILLED: "EcaMuted",
}


class JobsPanel(Panel):
    """The jobs of all servers; those of one that has ended are gone with it."""

    ACTIONS: ClassVar = (
        Action("chat", "c", "go to its chat"),
        Action("kill", "x", "end it", sure="End {}?"),
    )

    @property
    def title(self) -> str:
        """How many jobs run."""
        running = sum(it.state is JobState.RUNNING for _, it in self._jobs())
        return f"jobs: {running} running"

    def rows(self) -> Iterator[Row]:
        """Yield the jobs, each server's together."""
        jobs = list(self._jobs())
        for server, job in jobs:
            ran = None if job.started is None else (time.time() - job.started) // 1 * 1000
            ended = job.state is not JobState.RUNNING
            took = "" if ran is None or ended else duration(max(ran, 0))
            state = job.state.value
            if job.exit_code is not None:
                state += f" {job.exit_code}"
            yield Row(
                id=f"{server.name}\n{job.id}",
                line=(
                    column(state, 10, _GROUPS[job.state]),
                    column(took, 7, "EcaTime"),
                    column(self._chat_title(job), 18, "EcaMuted"),
                    rest(job.title),
                ),
                actions=("chat",) if ended else ("chat", "kill"),
                values={"name": cell(job.title, 40)},
            )
        if not jobs:
            yield note("nothing runs in the background")

    async def act(self, action: str, row: str, values: Mapping[str, str]) -> Answer | None:  # noqa: ARG002 - nothing is asked for
        """End a job, or go to its chat."""
        found = next((it for it in self._jobs() if f"{it[0].name}\n{it[1].id}" == row), None)
        if found is None:
            raise Refused("this job is gone")
        server, job = found
        if action == "chat":
            if job.chat_id not in self.scene.chats.table:
                raise Refused("its chat is not open")
            return {"chat": job.chat_id or ""}
        agent = server.process.agent
        if agent is None or agent.jobs is None:
            raise Refused(f"{server.name} cannot end a job")
        await agent.jobs.kill(job.id)
        return None

    def _jobs(self) -> Iterator[tuple[NamedServer, Job]]:
        for server in self.scene.servers:
            for job in server.incoming.jobs:
                yield server, job

    def _chat_title(self, job: Job) -> str:
        chat = self.scene.chats.table.get(job.chat_id or "")
        return (chat and chat.title) or ""
