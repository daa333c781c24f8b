"""Another answer to a prompt from an ACP agent: each answer has a session of its own."""

from pathlib import Path

import pytest
from tests.agents.acp.acp_client import CHAT, make_agent, remembering, running
from tests.agents.acp.conftest import PrepareScript
from tests.agents.acp.session_turns import opens, refuses, sent
from tests.support import acp_script as agent

from eca_nvim.agents.abilities import AgentLacks, AgentRefused
from eca_nvim.chat.vocabulary.effects import Prompt
from eca_nvim.chat.vocabulary.events import Addressed, NoticeReceived, TextReceived, TitleChanged
from eca_nvim.chat.vocabulary.turn_events import TurnEnded

pytestmark = pytest.mark.anyio

OLD = agent.SESSION
KEPT = f"chat of {OLD}"


async def test_both_sessions_stay_open_and_the_chat_has_the_one_that_is_chosen(
    scripted_acp: PrepareScript, tmp_path: Path
) -> None:
    late = agent.text("late", session_id=OLD)
    server = scripted_acp(
        agent.handshake(**agent.can("close")), agent.session(), agent.turn(),
        agent.session("new"), agent.turn(late), agent.turn(), agent.turn(),
    )  # fmt: skip
    memory = remembering()
    async with running(make_agent(server.command, tmp_path, memory=memory)) as client:
        archive = client.agent.archive
        await client.say("hi")
        assert await archive.branch(CHAT, None) == KEPT
        client.agent.prompt(Prompt(CHAT, "hi there", recap="said"))
        await client.until(lambda: len(client.all(TurnEnded)) == 2)
        assert memory.kept.session_of(CHAT) == "new"
        assert memory.kept.session_of(KEPT) == OLD
        assert client.all(TitleChanged) == [TitleChanged("hi")]
        assert [title for _, _, title, _ in memory.kept.used()] == ["hi", "hi"]
        await archive.exchange(CHAT, KEPT)
        await client.say("to the first")
        assert memory.kept.session_of(CHAT) == OLD
        assert memory.kept.session_of(KEPT) == "new"
        await archive.exchange(CHAT, KEPT)
        await client.say("to the second")
        texts = [it for it in client.events if isinstance(it, Addressed)]
        told = {it.chat_id for it in texts if isinstance(it.event, TextReceived)}
        assert told == {KEPT}
        assert client.all(NoticeReceived) == []
    prompts = [it["params"]["sessionId"] for it in server.received("session/prompt")]
    assert prompts == [OLD, "new", OLD, "new"]


async def test_a_session_that_ended_with_its_process_is_opened_again(
    scripted_acp: PrepareScript, tmp_path: Path
) -> None:
    memory = remembering({CHAT: "new", KEPT: OLD}, shown=True)
    server = scripted_acp(
        agent.handshake(**agent.can("resume")), opens("session/resume"), agent.turn()
    )
    async with running(make_agent(server.command, tmp_path, memory=memory)) as client:
        await client.agent.archive.exchange(CHAT, KEPT)
        await client.say("to the first")
    assert sent(server) == ["resume", "prompt"]
    assert server.received("session/prompt")[0]["params"]["sessionId"] == OLD


@pytest.mark.parametrize("can", [agent.can("resume"), agent.can(load=False)])
async def test_a_session_that_is_lost_is_not_begun_anew(
    scripted_acp: PrepareScript, tmp_path: Path, can: dict[str, object]
) -> None:
    memory = remembering({CHAT: "new", KEPT: OLD}, shown=True)
    refusals = [*refuses("session/resume", -32603, "no"), *refuses("session/load", -32603, "no")]
    is_able = "sessionCapabilities" in str(can) and "resume" in str(can)
    server = scripted_acp(agent.handshake(**can), *([refusals] if is_able else []))
    async with running(make_agent(server.command, tmp_path, memory=memory)) as client:
        with pytest.raises(AgentRefused, match=r"could not be loaded|cannot open saved chats"):
            await client.agent.archive.exchange(CHAT, KEPT)
        with pytest.raises(AgentRefused, match="no longer has the session"):
            await client.agent.archive.exchange(CHAT, "unknown")
        with pytest.raises(AgentLacks):
            await client.agent.archive.branch(CHAT, "u1")
        assert memory.kept.session_of(CHAT) == "new"
        assert memory.kept.session_of(KEPT) == OLD
        assert client.all(NoticeReceived) == []
    assert "new" not in sent(server)
