"""Saved chats and histories with servers of every generation."""

from pathlib import Path

import pytest
from tests.agents.client import Client, make_agent, running
from tests.agents.turns import CHAT, addressed, sent, talk
from tests.support.generations.prepared import GENERATIONS, prepare, strange
from tests.support.servers import ScriptedServer

from eca_nvim.agents import recap
from eca_nvim.agents.abilities import AgentLacks
from eca_nvim.chat.vocabulary.effects import Prompt
from eca_nvim.chat.vocabulary.events import Addressed, TextReceived
from eca_nvim.chat.vocabulary.turn_events import TurnEnded

pytestmark = pytest.mark.anyio

every = pytest.mark.parametrize("name", GENERATIONS)
older = pytest.mark.parametrize("name", GENERATIONS[:3])


@pytest.fixture
def server(name: str, tmp_path: Path) -> ScriptedServer:
    """Prepare the server of the generation that is asked for."""
    return prepare(name, tmp_path)


@older
async def test_histories_are_refused_in_words(server: ScriptedServer, workspace: Path) -> None:
    async with running(make_agent(server.command, workspace)) as client:
        await talk(client, "stream")
        archive = client.agent.archive
        for attempt, words in (
            (archive.list_chats, "cannot list its saved chats: it does not know chat/list"),
            (archive.list_chats, "cannot list its saved chats: it does not know chat/list"),
            (lambda: archive.open_chat(CHAT), "cannot open a chat again"),
            (lambda: archive.rename(CHAT, "T"), "cannot rename chats"),
            (
                lambda: archive.rollback(CHAT, "c", messages=True, tools=True),
                "cannot roll back messages",
            ),
            (lambda: archive.fork(CHAT, "c"), "cannot fork chats"),
            (lambda: archive.add_flag(CHAT, "c", "T"), "cannot set flags"),
        ):
            with pytest.raises(AgentLacks, match=words):
                await attempt()
        assert await talk(client, "stream") == "One, two, three.\n"
    assert strange(server) == []


@every
async def test_a_chat_is_emptied_and_deleted(server: ScriptedServer, workspace: Path) -> None:
    async with running(make_agent(server.command, workspace)) as client:
        await talk(client, "stream")
        await client.agent.archive.clear(CHAT)
        await talk(client, "stream")
        await client.agent.archive.delete(CHAT)
        await talk(client, "stream")
        assert addressed(client) == {CHAT}
    if server.journal.stem != "today":
        assert not any("chatId" in it for it in sent(server, "chat/prompt"))


def ends_of_chat(client: Client) -> int:
    """Return how many turns of the chat have ended."""
    told = [it for it in client.events if isinstance(it, Addressed) and it.chat_id == CHAT]
    return sum(isinstance(it.event, TurnEnded) for it in told)


@every
async def test_a_chat_goes_on_in_a_new_one_of_the_server(
    server: ScriptedServer, workspace: Path
) -> None:
    async with running(make_agent(server.command, workspace)) as client:
        await talk(client, "stream")
        await client.agent.archive.begin_again(CHAT)
        before = ends_of_chat(client)
        client.agent.prompt(Prompt(CHAT, "stream", recap="## User\n\nstream"))
        await client.until(lambda: ends_of_chat(client) > before)
        await talk(client, "stream")
        # The end of the first turn may come late: it is of the server's chat that was left.
        told = [it for it in client.events if isinstance(it, Addressed)]
        assert {it.chat_id for it in told if isinstance(it.event, TextReceived)} == {CHAT}
    prompts = sent(server, "chat/prompt")
    assert [it["message"].startswith(recap.BEGIN) for it in prompts] == [False, True, False]
    ids = [it.get("chatId") for it in prompts]
    assert ids[1] != ids[0] or ids[0] is None
    assert ids[2] == ids[1] or ids[1] is None
