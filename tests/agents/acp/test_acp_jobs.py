"""Commands in terminals of ours, as jobs: listed, read and ended by the user."""

import time
from pathlib import Path

import pytest
from tests.agents.acp.acp_client import CHAT, AcpClient, make_agent, running
from tests.agents.acp.scripted import Scripted
from tests.agents.acp.terminal_turns import RELEASE, WAIT, asks, chatting, create, ends, request

from eca_nvim.agents.abilities import AgentRefused, OutputLine
from eca_nvim.chat.vocabulary.agent_events import JobsChanged
from eca_nvim.chat.vocabulary.turn_events import Job, JobState

pytestmark = pytest.mark.anyio


def jobs(client: AcpClient) -> tuple[Job, ...]:
    return client.all(JobsChanged)[-1].jobs if client.all(JobsChanged) else ()


async def test_a_command_is_a_job_that_the_user_can_read_and_end(
    scripted: Scripted, tmp_path: Path
) -> None:
    line = 'printf "one\\n\\033[31mtwo"; exec sleep 60'
    scripted.play([asks(line), create(line), *map(request, (WAIT, RELEASE)), ends("c")])
    async with running(make_agent(scripted.command, tmp_path)) as client:
        chat = await chatting(client, scripted)
        await chat.answer()
        await chat.prints("two")
        (job,) = jobs(client)
        assert (job.title, job.chat_id) == (line, CHAT)
        assert (job.state, job.in_turn) == (JobState.RUNNING, True)
        assert job.started is not None
        assert 0 <= time.time() - job.started < 60
        printed = [OutputLine("one"), OutputLine("\x1b[31mtwo")]
        assert await client.agent.jobs.output(job.id) == printed
        await client.agent.jobs.kill(job.id)
        await client.until(lambda: jobs(client)[0].state is JobState.KILLED)
        await chat.ends()
        output = await client.agent.jobs.output(job.id)
        assert output is not None
        assert output[:2] == printed, "kept after its release"
        with pytest.raises(AgentRefused, match="has ended already"):
            await client.agent.jobs.kill(job.id)
        assert await client.agent.jobs.output("unknown") is None
        await client.agent.jobs.refresh()
        assert [it.state for it in jobs(client)] == [JobState.KILLED]


@pytest.mark.parametrize(
    ("line", "state", "code"),
    [("exit 3", JobState.FAILED, 3), ("true", JobState.COMPLETED, 0)],
)
async def test_how_a_command_has_ended_is_said(
    line: str, state: JobState, code: int, scripted: Scripted, tmp_path: Path
) -> None:
    scripted.play([asks(line), create(line), request(WAIT), ends("c")])
    async with running(make_agent(scripted.command, tmp_path)) as client:
        chat = await chatting(client, scripted)
        await chat.answer()
        await chat.ends()
        assert [(it.state, it.exit_code) for it in jobs(client)] == [(state, code)]


async def test_a_turn_that_is_stopped_ends_its_commands(scripted: Scripted, tmp_path: Path) -> None:
    line = "printf ready; exec sleep 60"
    scripted.play([asks(line), create(line), request(WAIT), ends("c")])
    async with running(make_agent(scripted.command, tmp_path)) as client:
        chat = await chatting(client, scripted)
        await chat.answer()
        await chat.prints("ready")
        client.agent.stop(CHAT)
        await client.until(lambda: [it.state for it in jobs(client)] == [JobState.KILLED])
