"""What a server offers to complete a prompt, over a connection."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

import pytest
from tests.agents.client import make_agent, running
from tests.support import script
from tests.support.factories import PrepareScript
from tests.support.recording import read_recording
from tests.support.screen import Value
from tests.support.servers import RECORDINGS, ScriptedServer

from eca_nvim.agents.abilities import (
    AgentLacks,
    AgentRefused,
    FoundCommand,
    FoundPath,
    FoundResource,
    Queries,
)
from eca_nvim.chat.vocabulary.completion import Argument, ItemKind
from eca_nvim.jsonrpc import METHOD_NOT_FOUND

pytestmark = pytest.mark.anyio

Result = TypeVar("Result")
CONTEXT, FILES, COMMANDS = "chat/queryContext", "chat/queryFiles", "chat/queryCommands"
CALC = FoundPath("/workspace/src/calc.py")


def recorded(name: str, method: str, query: str) -> Value:
    """Return what the real server answered to a query."""
    events = [event.message for event in read_recording(RECORDINGS / f"{name}.jsonl")]
    asked = [it for it in events if it.get("method") == method]
    number = next(it["id"] for it in asked if it["params"].get("query") == query)
    return next(it["result"] for it in events if it.get("id") == number and "result" in it)


def answering(method: str, answer: Value) -> list[script.Steps]:
    return [script.handshake(), script.expect(method), script.reply(method, answer)]


async def asked(
    server: ScriptedServer, folder: Path, ask: Callable[[Queries], Awaitable[Result]]
) -> Result:
    async with running(make_agent(server.command, folder)) as client:
        await client.until(client.ready.is_set)
        assert client.agent.queries is not None
        return await ask(client.agent.queries)


async def test_contexts(scripted_server: PrepareScript, tmp_path: Path) -> None:
    server = scripted_server(*answering(CONTEXT, recorded("queries", CONTEXT, "calc")))
    found = await asked(server, tmp_path, lambda it: it.contexts("new", "calc"))
    assert found == [FoundPath("/workspace"), CALC]
    # The server does not know a chat that was never prompted.
    assert server.received(CONTEXT)[0]["params"] == {"query": "calc", "contexts": []}


async def test_resources(scripted_server: PrepareScript, tmp_path: Path) -> None:
    server = scripted_server(*answering(CONTEXT, recorded("mcp", CONTEXT, "r1")))
    *_, resource = await asked(server, tmp_path, lambda it: it.contexts("new", "r1"))
    assert resource == FoundResource("mock://r1", "r1", "Resource one", "mockmcp")


async def test_files(scripted_server: PrepareScript, tmp_path: Path) -> None:
    server = scripted_server(*answering(FILES, recorded("queries", FILES, "./")))
    found = await asked(server, tmp_path, lambda it: it.files("new", "./"))
    names = ("/workspace/.git", "/workspace/src", "/workspace/.gitignore", "/workspace/README.md")
    assert found == [FoundPath(name) for name in names]
    assert server.received(FILES)[0]["params"] == {"query": "./"}


async def test_commands(scripted_server: PrepareScript, tmp_path: Path) -> None:
    server = scripted_server(*answering(COMMANDS, recorded("queries", COMMANDS, "")))
    found = {it.name: it for it in await asked(server, tmp_path, lambda it: it.commands("new"))}
    assert list(found)[:2] == ["init", "login"]
    assert found["login"].arguments == (Argument("provider-id"),)
    assert found["skill-create"].arguments[0] == Argument("name", "The skill name", required=True)
    assert found["costs"] == FoundCommand(
        "costs", description="Total costs of the current chat session."
    )
    assert (found["eca-info"].kind, found["eca-info"].arguments) == (ItemKind.SKILL, ())
    # A query without its text is an error.
    assert server.received(COMMANDS)[0]["params"] == {"query": ""}


async def test_prompts_of_tool_servers(scripted_server: PrepareScript, tmp_path: Path) -> None:
    server = scripted_server(*answering(COMMANDS, recorded("mcp", COMMANDS, "greet")))
    (greet,) = await asked(server, tmp_path, lambda it: it.commands("new"))
    who = Argument("who", "Who", required=True)
    assert greet == FoundCommand("mockmcp:greet", ItemKind.PROMPT, "Greets someone", (who,))


@pytest.mark.parametrize(
    "answer", [script.reply(CONTEXT, []), script.fail(CONTEXT, -32603, "Internal\nerror")]
)
async def test_a_refusal_is_one_line(
    answer: script.Steps, scripted_server: PrepareScript, tmp_path: Path
) -> None:
    server = scripted_server(script.handshake(), script.expect(CONTEXT), answer)

    async def ask(queries: Queries) -> str:
        with pytest.raises(AgentRefused) as raised:
            await queries.contexts("new", "")
        return str(raised.value)

    line = await asked(server, tmp_path, ask)
    assert line.startswith(f"{CONTEXT} failed: ")
    assert "\n" not in line


async def test_an_unknown_method_is_sent_once(
    scripted_server: PrepareScript, tmp_path: Path
) -> None:
    refusal = script.fail(FILES, METHOD_NOT_FOUND, "Method not found")
    server = scripted_server(script.handshake(), script.expect(FILES), refusal)

    async def ask(queries: Queries) -> None:
        with pytest.raises(AgentRefused):
            await queries.files("new", "")
        with pytest.raises(AgentLacks):
            await queries.files("new", "")

    await asked(server, tmp_path, ask)
    assert len(server.received(FILES)) == 1
