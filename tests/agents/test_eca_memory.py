"""What an ECA server of 0.157 remembers, as its documents have it."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.agents.client import make_agent, running
from tests.support import script
from tests.support.factories import PrepareScript

from eca_nvim.agents.abilities import AgentLacks, AgentRefused, Remembered
from eca_nvim.chat.vocabulary.agent_events import MemoryLoaded
from eca_nvim.jsonrpc import METHOD_NOT_FOUND

pytestmark = pytest.mark.anyio

LIST = "memory/list"
ENTRY = {
    "path": "/m/global/ipv6.md",
    "tier": "global",
    "name": "Docker IPv6 gotcha",
    "description": "Use 127.0.0.1",
    "type": "gotcha",
    "tags": ["docker", "ci"],
    "label": "global",
    "mtimeMs": 1000,
}


async def entries(
    scripted_server: PrepareScript, folder: Path, *answer: script.Steps
) -> Sequence[Remembered] | AgentRefused:
    """Return what an agent says that it remembers, or why not."""
    server = scripted_server(script.handshake(), script.expect(LIST), *answer)
    async with running(make_agent(server.command, folder)) as client:
        await client.until(client.ready.is_set)
        assert client.agent.memory is not None
        try:
            return await client.agent.memory.entries()
        except AgentRefused as refusal:
            return refusal


async def test_all_that_is_remembered_is_listed(
    scripted_server: PrepareScript, tmp_path: Path
) -> None:
    listed = {"entries": [ENTRY, {"path": "/m/p/x.md", "tier": "personal"}]}
    about = ("gotcha", "Use 127.0.0.1", ("docker", "ci"), 1000)
    assert await entries(scripted_server, tmp_path, script.reply(LIST, listed)) == [
        Remembered("/m/global/ipv6.md", "Docker IPv6 gotcha", "global", *about),
        Remembered("/m/p/x.md", "", "personal"),
    ]


@pytest.mark.parametrize(
    ("code", "kind", "told"),
    [
        (METHOD_NOT_FOUND, AgentLacks, "this server has no memory: it does not know memory/list"),
        ("invalid_request", AgentRefused, "memory/list failed: memory is disabled"),
    ],
)
async def test_a_server_without_memory_says_why(
    scripted_server: PrepareScript,
    tmp_path: Path,
    code: int | str,
    kind: type[AgentRefused],
    told: str,
) -> None:
    failure = script.fail(LIST, code, "memory is disabled")
    refusal = await entries(scripted_server, tmp_path, failure)
    assert (type(refusal), str(refusal)) == (kind, told)


async def test_how_much_of_it_a_chat_has_is_told(
    scripted_server: PrepareScript, tmp_path: Path
) -> None:
    loaded = {"chatId": "c", "count": 2, "totalCount": 3, "items": [ENTRY]}
    method = "memory/indexLoaded"
    steps = (script.send(method, {"count": 1}), script.send(method, loaded))
    server = scripted_server(script.handshake(), *steps)
    async with running(make_agent(server.command, tmp_path)) as client:
        await client.until(lambda: client.all(MemoryLoaded))
        assert client.all(MemoryLoaded) == [MemoryLoaded("c", 2, 3)]
