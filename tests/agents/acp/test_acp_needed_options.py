"""An option that the user sets opens a session whose text is not shown, and may be wanted later."""

from pathlib import Path

import pytest
from tests.agents.acp.acp_client import CHAT, make_agent, remembering, running
from tests.agents.acp.conftest import PrepareScript
from tests.agents.acp.session_turns import BOUND, OLD, notices, opens, refuses, sent, texts
from tests.support import acp_script as agent

from eca_nvim.agents.acp.sessions import LOST
from eca_nvim.chat.vocabulary.events import NoticeReceived
from eca_nvim.chat.vocabulary.options import OptionsChanged
from eca_nvim.chat.vocabulary.states import TurnEnd

pytestmark = pytest.mark.anyio

BUSY = "the chat could not be loaded: busy"


@pytest.mark.parametrize("way", ["resume", "load"])
async def test_the_text_can_be_loaded_afterwards(
    scripted_acp: PrepareScript, tmp_path: Path, way: str
) -> None:
    can = agent.can("resume") if way == "resume" else agent.can()
    said = agent.said("old", "text", OLD)
    server = scripted_acp(
        agent.handshake(**can), opens(f"session/{way}"), opens("session/load", said),
        agent.turn(agent.text("answered", session_id=OLD)),
    )  # fmt: skip
    async with running(make_agent(server.command, tmp_path, memory=remembering(BOUND))) as client:
        client.agent.open_chat(CHAT, is_needed=True)
        await client.first(OptionsChanged)
        for _ in range(2):
            assert texts(await client.agent.archive.open_chat(CHAT, 100)) == ["old", "text"]
        assert (await client.say("go on")).end is TurnEnd.DONE
        assert client.text == "answered"
    assert sent(server) == [way, "load", "prompt"]


async def test_it_gives_the_chat_no_new_session(
    scripted_acp: PrepareScript, tmp_path: Path
) -> None:
    refused = refuses("session/load", -32603, "busy")
    said = agent.said("old", "text", OLD)
    server = scripted_acp(agent.handshake(**agent.can()), refused, opens("session/load", said))
    async with running(make_agent(server.command, tmp_path, memory=remembering(BOUND))) as client:
        client.agent.open_chat(CHAT, is_needed=True)
        assert (await client.first(NoticeReceived)).text == BUSY
        assert texts(await client.agent.archive.open_chat(CHAT, 100)) == ["old", "text"]
    assert sent(server) == ["load", "load"]


async def test_a_prompt_meanwhile_gets_a_new_session(
    scripted_acp: PrepareScript, tmp_path: Path
) -> None:
    refused = refuses("session/load", -32603, "busy")
    server = scripted_acp(agent.handshake(**agent.can()), refused, agent.session(), agent.turn())
    async with running(make_agent(server.command, tmp_path, memory=remembering(BOUND))) as client:
        client.agent.open_chat(CHAT, is_needed=True)
        assert (await client.say("go on")).end is TurnEnd.DONE
        assert notices(client) == [LOST]
    assert sent(server) == ["load", "new", "prompt"]
