"""An agent that asks for more than can be kept is refused, and the user gets one line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.agents.acp.acp_client import CHAT, AcpClient, make_agent, running
from tests.agents.acp.conftest import PrepareScript
from tests.agents.acp.file_turns import Run, read, write
from tests.agents.acp.no_process import NoProcess
from tests.agents.acp.scripted import Scripted
from tests.agents.acp.terminal_turns import READ, WAIT, asks, chatting, create, request
from tests.agents.acp.test_official_sdk import requested
from tests.support import acp_script as agent

from eca_nvim.agents.acp import link
from eca_nvim.agents.acp.link import EXCESS, UNREAD
from eca_nvim.agents.acp.requests import files
from eca_nvim.agents.acp.requests.permissions import MOST_ASKED
from eca_nvim.chat.vocabulary.agent_events import MessageShown
from eca_nvim.chat.vocabulary.call_details import FileUsed
from eca_nvim.chat.vocabulary.events import ToolRequested
from eca_nvim.transport import open_connection

pytestmark = pytest.mark.anyio


def lines(client: AcpClient) -> list[str]:
    return [it.text for it in client.events if isinstance(it, MessageShown)]


def errors(answered: list[Any]) -> list[str]:
    return [it["error"] for it in answered if "error" in it]


async def test_not_more_than_some_questions_of_the_agent_wait(
    scripted_acp: PrepareScript, tmp_path: Path
) -> None:
    asked = (agent.permission(f"t{it}", it, waits=False) for it in range(1, MOST_ASKED + 4))
    server = scripted_acp(agent.handshake(), agent.session(), agent.turn(*asked))
    async with running(make_agent(server.command, tmp_path)) as client:
        await client.say("go")
        assert len([it for it in client.all(ToolRequested) if it.needs_approval]) == MOST_ASKED
        assert lines(client) == [EXCESS]
    refused = [it["error"]["message"] for it in server.answers() if "error" in it]
    assert refused == [f"{MOST_ASKED} questions wait for the user already"] * 3


@pytest.mark.parametrize("old", ["", "12345678"])
async def test_texts_that_wait_for_the_user_have_a_limit(
    run: Run, monkeypatch: pytest.MonkeyPatch, old: str
) -> None:
    """Those that an agent wants to write, and those that they would replace."""
    new = "x" * (10 - len(old))
    monkeypatch.setattr(files, "MOST_HELD", 22)
    for number in range(3):
        (run.folder / str(number)).write_text(old)
    turn = [{"all": [write(run.folder / str(it), new)["request"] for it in range(3)]}]
    async with run.start(turn, [write(run.folder / "0", new)]) as client:
        client.agent.open_chat(CHAT)
        client.prompt("go")
        await requested(client, 2)
        await client.first(MessageShown)
        client.agent.stop(CHAT)
        await client.until(lambda: client.ends)
        client.prompt("again")
        await requested(client, 3)
        assert lines(client) == [EXCESS]
    assert run.refusals.count("too many requests wait") == 1


async def test_an_agent_that_does_not_read_gets_no_further_text(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = run.folder / "a.txt"
    file.write_text("a")
    monkeypatch.setattr(link, "MOST_UNREAD", -1)
    async with run.start([read(file), read(file), read(run.folder / "none")]) as client:
        client.agent.open_chat(CHAT)
        await client.say("go")
        assert lines(client) == [EXCESS]
        assert client.all(FileUsed) == []
    assert run.refusals[:2] == [UNREAD] * 2
    assert "there is no such file" in run.refusals[2]


async def test_the_output_of_a_command_is_such_a_text(
    scripted: Scripted, tmp_path: Path, marker: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(link, "MOST_UNREAD", -1)
    scripted.play([asks("echo a"), create("echo a"), request(WAIT), request(READ)])
    async with running(make_agent(scripted.command, tmp_path)) as client:
        chat = await chatting(client, scripted)
        await chat.answer()
        answered = await chat.ends()
        assert lines(client) == [EXCESS]
    assert answered[2] == {"exitCode": 0}
    assert errors(answered[3:]) == [UNREAD]


async def test_what_a_process_has_not_read_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(link, "MOST_UNREAD", 1 << 20)
    async with open_connection(["sh", "-c", "cat >/dev/null"], lambda _batch: None) as connection:
        answer = NoProcess(connection)
        for number in range(3):
            assert answer.is_full is (number == 2)
            connection.notify("x", "x" * (1 << 19))
        assert connection.unread > 3 << 19
        await connection.aclose(60)
        assert connection.unread == 0
    assert answer.emitted == []
