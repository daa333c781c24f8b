"""The commands that a chat runs in the background, when the chat is deleted."""

from pathlib import Path

import pytest
from tests.agents.client import make_agent, running
from tests.support import script
from tests.support.factories import PrepareScript

from eca_nvim.agents.abilities import AgentRefused
from eca_nvim.chat.vocabulary.agent_events import JobsChanged

pytestmark = pytest.mark.anyio

CHAT = "our-1"


@pytest.mark.parametrize(
    ("answer", "left"),
    [
        (script.reply("jobs/kill", {"killed": True}), None),
        (script.reply("jobs/kill", {"killed": False}), None),
        (script.fail("jobs/kill", -32601, "?"), "this server cannot end it: it does not know"),
        (script.fail("jobs/kill", -32603, "no way"), "jobs/kill failed: no way"),
    ],
)
async def test_a_deleted_chat_ends_its_jobs(
    answer: script.Steps, left: str | None, scripted_server: PrepareScript, tmp_path: Path
) -> None:
    jobs = [
        {"id": "job-1", "status": "completed", "chatId": CHAT},
        {"id": "job-2", "status": "running", "chatId": "other"},
        {"id": "job-3", "status": "running", "chatId": CHAT},
    ]
    server = scripted_server(
        *(script.handshake(), script.send("jobs/updated", {"jobs": jobs})),
        [*script.expect("chat/delete"), *script.reply("chat/delete", {})],
        [*script.expect("jobs/kill"), *answer],
    )
    async with running(make_agent(server.command, tmp_path)) as client:
        await client.until(lambda: client.all(JobsChanged))
        told = await client.agent.archive.delete(CHAT)
    assert [it["params"] for it in server.received("jobs/kill")] == [{"jobId": "job-3"}]
    assert server.received("chat/delete")
    assert (told is None) if left is None else f"may still run: {left}" in str(told)


async def test_the_jobs_of_a_chat_that_stays_run_on(
    scripted_server: PrepareScript, tmp_path: Path
) -> None:
    jobs = [{"id": "job-1", "status": "running", "chatId": CHAT}]
    server = scripted_server(
        *(script.handshake(), script.send("jobs/updated", {"jobs": jobs})),
        [*script.expect("chat/delete"), *script.fail("chat/delete", -32603, "no way")],
    )
    async with running(make_agent(server.command, tmp_path)) as client:
        await client.until(lambda: client.all(JobsChanged))
        with pytest.raises(AgentRefused):
            await client.agent.archive.delete(CHAT)
    assert not server.received("jobs/kill")
