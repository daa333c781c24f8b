"""The built-in demo agent, found and run like any server."""

from pathlib import Path

import pytest
from tests.agents.client import EDITOR, FakeEditor, running

from eca_nvim.agents.base import Workspace
from eca_nvim.agents.eca.agent import EcaAgent, EcaOptions
from eca_nvim.chat.vocabulary.effects import Prompt
from eca_nvim.chat.vocabulary.events import Role, TextReceived
from eca_nvim.chat.vocabulary.turn_events import TurnEnded
from eca_nvim.path_risks import Folders
from eca_nvim.server.find import find_server

pytestmark = pytest.mark.anyio


async def test_the_demo_agent_holds_a_conversation(tmp_path: Path) -> None:
    server = find_server("demo", {})
    options = EcaOptions(server.command, server.environment)
    agent = EcaAgent(options, Workspace(Folders((str(tmp_path),)), EDITOR, 4711), FakeEditor())
    async with running(agent) as client:
        await client.until(client.ready.is_set)
        client.agent.prompt(Prompt("our-1", "hello"))
        await client.until(lambda: client.all(TurnEnded))
    said = [it.text for it in client.all(TextReceived) if it.role is Role.ASSISTANT]
    assert "".join(said).strip()
    assert client.exit is not None
    assert (client.exit.expected, client.exit.code) == (True, 0)
