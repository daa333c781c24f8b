"""What servers of older generations complete."""

from pathlib import Path

import pytest
from tests.agents.client import make_agent, running
from tests.agents.turns import CHAT, talk
from tests.support.generations.prepared import GENERATIONS, prepare, strange
from tests.support.servers import ScriptedServer

from eca_nvim.agents.abilities import AgentLacks, FoundPath

pytestmark = pytest.mark.anyio


@pytest.fixture
def server(name: str, tmp_path: Path) -> ScriptedServer:
    """Prepare the server of the generation that is asked for."""
    return prepare(name, tmp_path)


@pytest.mark.parametrize("name", GENERATIONS[:3])
async def test_what_older_servers_complete(
    name: str, server: ScriptedServer, workspace: Path
) -> None:
    async with running(make_agent(server.command, workspace)) as client:
        await talk(client, "stream")
        queries = client.agent.queries
        assert queries is not None
        with pytest.raises(AgentLacks):
            await queries.files(CHAT, "calc")
        if name == "first_draft":
            with pytest.raises(AgentLacks):
                await queries.contexts(CHAT, "calc")
            with pytest.raises(AgentLacks):
                await queries.commands(CHAT)
        else:
            assert FoundPath(str(workspace / "src/calc.py")) in await queries.contexts(CHAT, "")
            assert [it.name for it in await queries.commands(CHAT)] == ["costs", "greet"]
    assert strange(server) == []
