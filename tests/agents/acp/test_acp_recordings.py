"""Recordings of real ACP agents, played by a process to an agent of ours."""

from pathlib import Path

import pytest
from tests.agents.acp.acp_client import CHAT, make_agent, running
from tests.agents.acp.conftest import PrepareReplay

from eca_nvim.chat.vocabulary.states import TurnEnd

pytestmark = pytest.mark.anyio


async def test_it_talks(replay_acp: PrepareReplay, tmp_path: Path) -> None:
    recording = replay_acp("qwen-text")
    async with running(make_agent(recording.command, tmp_path)) as client:
        client.agent.open(CHAT)
        assert (await client.say("first")).end is TurnEnd.DONE
        assert client.text == "Hello from the *mock* model. ```lua\nprint(1)\n``` bye."
        assert (await client.say("second turn without directive")).end is TurnEnd.DONE
        assert client.text.endswith("mock: done")
    report = recording.report()
    assert report is not None
    assert report["missing"] == report["unexpected"] == []
    assert [it["key"] for it in report["different"]] == ["prompt"]  # `first`
    assert client.exit is not None
    assert client.exit.expected
