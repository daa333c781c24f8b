"""Another answer to a prompt from an ECA server: each answer is a chat of the server."""

from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.agents.client import Client, make_agent, running
from tests.agents.test_eca_archive import CHAT, replayed, user
from tests.support import script
from tests.support.factories import PrepareScript
from tests.support.servers import ScriptedServer

from eca_nvim.agents.abilities import AgentRefused
from eca_nvim.agents.eca.agent import EcaAgent
from eca_nvim.chat.vocabulary.effects import Prompt
from eca_nvim.chat.vocabulary.events import Addressed, TextReceived
from eca_nvim.chat.vocabulary.turn_events import TurnEnded

pytestmark = pytest.mark.anyio

COPIED = [
    *script.expect("chat/fork"),
    *script.send("chat/opened", {"chatId": "copy", "title": "Hi (2)"}),
    *script.send("chat/contentReceived", user("hi", "u1", "copy")),
    *script.text("Chat forked to: Hi (2)", role="system"),
    *script.reply("chat/fork", {}),
]
BACK = [*script.expect("chat/rollback"), *script.reply("chat/rollback", {})]


async def say(client: Client, text: str, recap: str | None = None) -> None:
    await client.until(client.ready.is_set)
    count = len(client.all(TurnEnded))
    client.agent.prompt(Prompt(CHAT, text, recap=recap))
    await client.until(lambda: len(client.all(TurnEnded)) > count)


def chats(server: ScriptedServer, method: str) -> list[str]:
    return [it["params"]["chatId"] for it in server.received(method)]


async def test_a_copy_without_the_prompt_is_the_chat_from_now_on(
    scripted_server: PrepareScript, tmp_path: Path
) -> None:
    found = {"found": True, "title": "Hi"}
    opened = [*script.expect("chat/open"), *script.reply("chat/open", found)]
    answers = [script.turn(script.text(f"answer {number}")) for number in range(4)]
    server = scripted_server(
        *(script.handshake(), answers[0], COPIED, BACK, answers[1], opened, answers[2]),
        *(opened, answers[3]),
    )
    async with running(make_agent(server.command, tmp_path)) as client:
        await client.until(client.ready.is_set)
        archive = client.agent.archive
        await say(client, "hi")
        assert await archive.branch(CHAT, "u1") == "copy"
        await say(client, "hi again")
        await archive.exchange(CHAT, "copy")
        await say(client, "to the first")
        await archive.exchange(CHAT, "copy")
        await say(client, "to the second")
        told = [it for it in client.events if isinstance(it, Addressed)]
        assert {it.chat_id for it in told} == {CHAT}
        assert not any("forked" in it.text for it in client.all(TextReceived))
    assert chats(server, "chat/rollback") == ["copy"]
    assert chats(server, "chat/prompt") == [CHAT, "copy", CHAT, "copy"]
    assert chats(server, "chat/open") == [CHAT, "copy"]


async def test_a_chat_has_its_copy_in_the_next_process_too(
    scripted_server: PrepareScript, tmp_path: Path
) -> None:
    first = scripted_server(script.handshake(), script.turn(), COPIED, BACK)
    agent = make_agent(first.command, tmp_path)
    async with running(agent) as client:
        await say(client, "hi")
        await client.agent.archive.branch(CHAT, "u1")
    second = scripted_server(script.handshake(), script.turn(script.text("hi")))
    options = replace(agent._options, command=second.command)
    again = EcaAgent(options, agent._workspace, agent._services)
    async with running(again) as client:
        await say(client, "hi again")
        told = [it for it in client.events if isinstance(it, Addressed)]
        assert {it.chat_id for it in told} == {CHAT}
    assert chats(second, "chat/prompt") == ["copy"]


async def test_a_copy_that_cannot_go_back_is_removed(
    scripted_server: PrepareScript, tmp_path: Path
) -> None:
    stays = replayed(user("hi", "u1", "copy"))
    knows_not = [*script.expect("chat/rollback"), *stays, *script.reply("chat/rollback", {})]
    for step in knows_not:
        step.get("params", {})["chatId"] = "copy"
    removed = [*script.expect("chat/delete"), *script.reply("chat/delete", {})]
    server = scripted_server(script.handshake(), COPIED, knows_not, removed, script.turn())
    async with running(make_agent(server.command, tmp_path)) as client:
        await client.until(client.ready.is_set)
        with pytest.raises(AgentRefused, match="did not roll back"):
            await client.agent.archive.branch(CHAT, "u1")
        await say(client, "goes on")
    assert chats(server, "chat/delete") == ["copy"]
    assert chats(server, "chat/prompt") == [CHAT]


async def test_a_first_prompt_begins_a_chat_and_what_is_gone_stays_gone(
    scripted_server: PrepareScript, tmp_path: Path
) -> None:
    gone = [*script.expect("chat/open"), *script.reply("chat/open", {"found": False})]
    turns = [script.turn(script.text("hi")) for _ in range(3)]
    server = scripted_server(script.handshake(), turns[0], turns[1], gone, turns[2])
    async with running(make_agent(server.command, tmp_path)) as client:
        await say(client, "hi")
        kept = await client.agent.archive.branch(CHAT, None)
        await say(client, "hi again", recap="")
        with pytest.raises(AgentRefused, match="no longer has this chat"):
            await client.agent.archive.exchange(CHAT, kept)
        await say(client, "goes on")
    first, second, third = chats(server, "chat/prompt")
    assert first == CHAT != second
    assert third == second
    assert chats(server, "chat/open") == [CHAT]
