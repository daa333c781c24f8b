"""How turns of older servers are stopped and told apart, after the documents of their time.

They make the ids of chats, tell them with the first word or with the answer, and may meet a stop
with silence.
"""

from pathlib import Path

import pytest
from tests.agents.client import Client, make_agent, running
from tests.agents.turns import CHAT, addressed, ended, go, notices, say, sent, talk
from tests.support.generations.prepared import GENERATIONS, prepare
from tests.support.servers import ScriptedServer

from eca_nvim.agents.eca.prompts import Selection
from eca_nvim.chat.vocabulary.contexts import FileContext
from eca_nvim.chat.vocabulary.events import Addressed, TextReceived

pytestmark = pytest.mark.anyio

behaving = pytest.mark.parametrize("name", GENERATIONS[1:3])


@pytest.fixture
def server(name: str, tmp_path: Path) -> ScriptedServer:
    """Prepare the server of the generation that is asked for."""
    return prepare(name, tmp_path)


def said_in(client: Client, chat: str) -> str:
    """Return the text of one chat, whoever said it."""
    told = [it.event for it in client.events if isinstance(it, Addressed) and it.chat_id == chat]
    return "".join(it.text for it in told if isinstance(it, TextReceived))


@behaving
async def test_a_prompt_after_a_stop_is_not_stopped(
    server: ScriptedServer, workspace: Path
) -> None:
    async with running(make_agent(server.command, workspace)) as client:
        await say(client, "wait")
        await client.until(lambda: "I wait" in str(client.all(TextReceived)))
        client.agent.stop(CHAT)
        await ended(client, 1)
        assert await talk(client, "stream") == "One, two, three.\n"
    assert len(sent(server, "chat/promptStop")) == 1


@behaving
async def test_a_stop_before_the_first_word_is_sent_with_it(name: str, workspace: Path) -> None:
    server = prepare(name, workspace, "late-words")
    async with running(make_agent(server.command, workspace)) as client:
        await say(client, "wait")
        client.agent.stop(CHAT)
        go(client)
        await ended(client, 1)
        assert await talk(client, "stream") == "One, two, three.\n"
    assert sent(server, "chat/promptStop") == [{"chatId": "old-1"}]


@behaving
async def test_a_stop_before_the_choices_are_told_is_sent(name: str, workspace: Path) -> None:
    server = prepare(name, workspace, "late-config")
    async with running(make_agent(server.command, workspace)) as client:
        await say(client, "wait", [FileContext("/a")], Selection(agent="plan"))
        client.agent.stop(CHAT)
        go(client)
        await ended(client, 1)
    assert notices(client) == []
    assert len(sent(server, "chat/promptStop")) == 1
    assert sent(server, "chat/prompt")[0]["behavior"] == "plan"


@behaving
async def test_two_new_chats_at_once_are_told_apart(name: str, workspace: Path) -> None:
    server = prepare(name, workspace, "crossed")
    async with running(make_agent(server.command, workspace)) as client:
        await say(client, "stream one", chat="one")
        await say(client, "stream two", chat="two")
        await ended(client, 2)
        assert addressed(client) == {"one", "two"}
        for chat in ("one", "two"):
            assert said_in(client, chat) == f"stream {chat}\nOne, two, three.\n"
        await talk(client, "stream", chat="two")
    assert sent(server, "chat/prompt")[-1]["chatId"] == "old-2"
