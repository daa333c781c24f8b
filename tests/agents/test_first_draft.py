"""What only servers of the protocol's first draft do, mainly proposing changes."""

import os
from pathlib import Path

import pytest
from tests.agents.client import make_agent, running
from tests.agents.turns import CHAT, addressed, ended, ends, notices, requested, say, sent, talk
from tests.support.generations.prepared import prepare
from tests.support.servers import ScriptedServer
from tests.support.workspace import FILES

from eca_nvim.chat.vocabulary.call_details import PartialWrite
from eca_nvim.chat.vocabulary.events import ProgressChanged, ToolFinished, ToolRequested
from eca_nvim.chat.vocabulary.requests import ALLOW, REJECT
from eca_nvim.chat.vocabulary.states import TurnEnd
from eca_nvim.chat.vocabulary.turn_events import TurnEnded, UsageReported

pytestmark = pytest.mark.anyio


def fill(path: Path, text: str) -> None:
    path.write_text(text)


@pytest.fixture
def server(tmp_path: Path) -> ScriptedServer:
    """Prepare a server of the first draft."""
    return prepare("first_draft", tmp_path)


async def test_a_refusal_is_told(server: ScriptedServer, workspace: Path) -> None:
    async with running(make_agent(server.command, workspace)) as client:
        await say(client, "fail")
        end = await client.first(TurnEnded)
        assert end == TurnEnded(TurnEnd.FAILED, "No route to gpt-4")
        assert await talk(client, "stream") == "One, two, three.\n"
    assert [it.get("chatId") for it in sent(server, "chat/prompt")] == [None, "draft-1"]


async def test_an_answer_may_begin_before_the_prompt_is_answered(tmp_path: Path) -> None:
    server = prepare("first_draft", tmp_path, "early")
    async with running(make_agent(server.command, tmp_path)) as client:
        assert await talk(client, "stream") == "Early. One, two, three.\n"
        assert addressed(client) == {CHAT}


async def test_tokens_add_up(server: ScriptedServer, workspace: Path) -> None:
    async with running(make_agent(server.command, workspace)) as client:
        await talk(client, "stream")
        await talk(client, "stream")
        used = [it.session_tokens for it in client.all(UsageReported)]
        await client.agent.archive.clear(CHAT)
        await talk(client, "stream")
        used.append(client.all(UsageReported)[-1].session_tokens)
    assert used == [120, 240, 120]


async def test_what_the_answer_to_a_prompt_says_is_shown(
    server: ScriptedServer, workspace: Path
) -> None:
    async with running(make_agent(server.command, workspace)) as client:
        await talk(client, "stream")
        assert client.all(ProgressChanged) == [ProgressChanged("Prompt sent")]


async def test_what_needs_no_approval_is_written_inside_the_workspace(
    server: ScriptedServer, workspace: Path
) -> None:
    async with running(make_agent(server.command, workspace)) as client:
        await talk(client, "write")
        requested = client.all(ToolRequested)
        assert [it.needs_approval for it in requested] == [False]
        assert requested[0].call.name == "write_file"
    assert (workspace / "new/notes.txt").read_text() == "one\ntwo\n"


async def test_outside_of_it_the_user_is_asked(
    server: ScriptedServer, workspace: Path, tmp_path: Path
) -> None:
    (workspace / "way").symlink_to(tmp_path)
    async with running(make_agent(server.command, workspace)) as client:
        for number, path in enumerate((f"{tmp_path}/x", "../x", "way/x"), 1):
            await say(client, f"outside {path}")
            asked = await requested(client, number)
            assert asked.needs_approval
            client.agent.decide(CHAT, asked.call.id, REJECT.id)
            await ended(client, number)
    assert not (tmp_path / "x").exists()


async def test_what_is_allowed_in_part_is_written_so(
    server: ScriptedServer, workspace: Path
) -> None:
    file = workspace / "src/calc.py"
    before = file.read_text()
    for allowed in ("a part\n", None):
        fill(file, before)
        async with running(make_agent(server.command, workspace)) as client:
            await say(client, "edit")
            asked = await client.first(ToolRequested)
            (change,) = asked.call.changes or ()
            assert change.by_us
            part = PartialWrite(str(file), str(file), before, "all of it\n", allowed)
            client.agent.decide(CHAT, asked.call.id, ALLOW.id, asked.call, [part])
            assert not (await client.first(ToolFinished)).failed
        assert file.read_text() == (allowed or before)


async def test_a_file_that_has_changed_meanwhile_stays(
    server: ScriptedServer, workspace: Path
) -> None:
    async with running(make_agent(server.command, workspace)) as client:
        await say(client, "edit")
        asked = await client.first(ToolRequested)
        (workspace / "src/calc.py").write_text("other\n")
        client.agent.decide(CHAT, asked.call.id, ALLOW.id)
        finished = await client.first(ToolFinished)
        assert finished.failed
        assert "does not fit the file" in finished.outputs[0]
    assert (workspace / "src/calc.py").read_text() == "other\n"


async def test_a_proposal_that_makes_no_sense_has_failed(
    server: ScriptedServer, workspace: Path
) -> None:
    (workspace / "src/calc.py").write_bytes(b"\xff\xfe")
    async with running(make_agent(server.command, workspace)) as client:
        await talk(client, "edit")
        assert client.all(ToolFinished)[0].failed
        assert await talk(client, "stream") == "One, two, three.\n"


async def test_a_proposal_for_a_pipe_has_failed(server: ScriptedServer, workspace: Path) -> None:
    os.mkfifo(workspace / "pipe")
    async with running(make_agent(server.command, workspace)) as client:
        await talk(client, f"outside {workspace}/pipe")
        finished = await client.first(ToolFinished)
        assert finished.failed
        assert finished.outputs == ("it is not a regular file",)


async def test_a_turn_ends_with_its_last_proposal(server: ScriptedServer, workspace: Path) -> None:
    async with running(make_agent(server.command, workspace)) as client:
        await say(client, "two")
        await client.until(lambda: len(client.all(ToolRequested)) == 2)
        first, second = client.all(ToolRequested)
        client.agent.decide(CHAT, second.call.id, ALLOW.id)
        await client.first(ToolFinished)
        assert ends(client) == 0
        client.agent.decide(CHAT, first.call.id, REJECT.id)
        await client.until(lambda: ends(client) == 1)
    assert (workspace / "two.txt").exists()


async def test_a_stop_drops_what_waits(server: ScriptedServer, workspace: Path) -> None:
    async with running(make_agent(server.command, workspace)) as client:
        await say(client, "two")
        await client.until(lambda: len(client.all(ToolRequested)) == 2)
        client.agent.stop(CHAT)
        await client.until(lambda: ends(client) == 1)
        assert notices(client) == []
        assert await talk(client, "stream") == "One, two, three.\n"
    assert (workspace / "src/calc.py").read_text() == FILES["src/calc.py"]
