"""Servers of every generation, each a process that checks that we follow its protocol."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.agents.client import FakeEditor, make_agent, running
from tests.agents.turns import CHAT, addressed, ended, ends, notices, requested, say, sent, talk
from tests.support.generations.prepared import GENERATIONS, prepare, strange
from tests.support.screen import Value
from tests.support.servers import ScriptedServer
from tests.support.workspace import FILES

from eca_nvim.agents.base import Diagnostic
from eca_nvim.agents.eca.contents import ALWAYS_ID
from eca_nvim.agents.eca.prompts import Selection
from eca_nvim.chat.vocabulary.agent_events import Welcomed
from eca_nvim.chat.vocabulary.contexts import (
    CursorContext,
    DirectoryContext,
    FileContext,
    Position,
    TextContext,
    WebContext,
)
from eca_nvim.chat.vocabulary.events import (
    ChatOpened,
    TextReceived,
    TitleChanged,
    ToolFinished,
    ToolPreparing,
    ToolRejected,
    ToolRequested,
    ToolRunning,
)
from eca_nvim.chat.vocabulary.options import OptionsChanged
from eca_nvim.chat.vocabulary.requests import ALLOW, REJECT
from eca_nvim.chat.vocabulary.states import TurnEnd
from eca_nvim.chat.vocabulary.turn_events import LoginBegan, StopRefused, TurnEnded, UsageReported

pytestmark = pytest.mark.anyio

MODELS = ("anthropic/claude-sonnet-4", "openai/gpt-5")
WITH_TOOLS = GENERATIONS[1:]
OLDER = GENERATIONS[:3]
PLUS = "def plus(a, b):\n    return a + b\n"
ADDED = FILES["src/calc.py"].replace("def add(a, b):\n    return a + b\n", PLUS)

every = pytest.mark.parametrize("name", GENERATIONS)
with_tools = pytest.mark.parametrize("name", WITH_TOOLS)
older = pytest.mark.parametrize("name", OLDER)
draft = pytest.mark.parametrize("name", ["first_draft"])


@pytest.fixture
def server(name: str, tmp_path: Path) -> ScriptedServer:
    """Prepare the server of the generation that is asked for."""
    return prepare(name, tmp_path)


@every
async def test_a_conversation(server: ScriptedServer, workspace: Path) -> None:
    async with running(make_agent(server.command, workspace)) as client:
        assert await talk(client, "stream") == "One, two, three.\n"
        assert await talk(client, "stream") == "One, two, three.\n"
        assert {it.end for it in client.all(TurnEnded)} == {TurnEnd.DONE}
        assert addressed(client) == {CHAT}
        assert client.all(ChatOpened) == [ChatOpened()]  # new only the first time
    assert notices(client) == []
    assert strange(server) == []
    assert client.exit is not None
    assert client.exit.code == 0


@every
async def test_two_chats_at_once(server: ScriptedServer, workspace: Path) -> None:
    async with running(make_agent(server.command, workspace)) as client:
        for count in (2, 4):
            await say(client, "stream", chat="one")
            await say(client, "stream", chat="two")
            await ended(client, count)
        assert addressed(client) == {"one", "two"}
    [first, second, again, last] = sent(server, "chat/prompt")
    if server.journal.stem == "today":
        assert (first["chatId"], second["chatId"]) == ("one", "two")
    else:
        assert "chatId" not in first | second
        assert again["chatId"] != last["chatId"]


@with_tools
async def test_choices(server: ScriptedServer, workspace: Path) -> None:
    async with running(make_agent(server.command, workspace)) as client:
        await client.until(client.ready.is_set)
        client.agent.open_chat(CHAT)
        models = client.option(CHAT, "model")
        assert (tuple(it.value for it in models.offers), models.value) == (MODELS, MODELS[0])
        agents = [it.value for it in client.option(CHAT, "agent").offers]
        chosen = Selection(MODELS[1], agents[1])
        key = "agent" if server.journal.stem == "today" else "behavior"
        heard = await talk(client, "ask", selection=chosen)
        assert f"'model': '{MODELS[1]}'" in heard
        assert f"'{key}': 'plan'" in heard
        client.choose(CHAT, Selection(MODELS[0], agents[0]))
        await talk(client, "stream")
    assert strange(server) == []
    word = "Agent" if server.journal.stem == "today" else "Behavior"
    [*_, told_choice] = sent(server, f"chat/selected{word}Changed")
    assert told_choice[word.lower()] == agents[0]


@pytest.mark.parametrize("name", GENERATIONS[1:3])
async def test_a_behavior_is_told_before_the_first_prompt(
    server: ScriptedServer, workspace: Path
) -> None:
    async with running(make_agent(server.command, workspace)) as client:
        await client.until(client.ready.is_set)
        for agent in ("plan", "plan", "agent"):
            client.choose(CHAT, Selection(agent=agent))
        await talk(client, "stream", selection=Selection(agent="agent"))
    told = [it["behavior"] for it in sent(server, "chat/selectedBehaviorChanged")]
    assert told == ["plan", "agent"]
    assert strange(server) == []


@pytest.mark.parametrize("name", ["behaviors"])
async def test_choices_in_the_answer_to_initialize(name: str, tmp_path: Path) -> None:
    server = prepare(name, tmp_path, "early-result")
    async with running(make_agent(server.command, tmp_path, agent="plan")) as client:
        await client.until(client.ready.is_set)
        client.agent.open_chat(CHAT)
        models, agents = client.option(CHAT, "model"), client.option(CHAT, "agent")
        assert (tuple(it.value for it in models.offers), models.value) == (MODELS, MODELS[0])
        assert ([it.value for it in agents.offers], agents.value) == (["agent", "plan"], "agent")
        assert client.all(Welcomed) == [Welcomed("Welcome of old!")]
        await talk(client, "stream")
        client.choose(CHAT, Selection(agent="plan"))
        await talk(client, "stream")
    assert sent(server, "chat/selectedBehaviorChanged") == [{"behavior": "plan"}]


@draft
async def test_a_model_is_named_to_a_server_that_tells_none(
    server: ScriptedServer, workspace: Path
) -> None:
    async with running(make_agent(server.command, workspace)) as client:
        assert "'model': 'gpt-4'" in await talk(client, "ask", selection=Selection("gpt-4"))
        client.choose(CHAT, Selection("gpt-4", "plan"))
        client.choose(CHAT, Selection("gpt-4", "plan"))
        assert notices(client) == ["this server has no agents to choose from"]
        assert client.selection(CHAT).agent == ""


@every
@pytest.mark.parametrize("approved", [True, False])
async def test_an_approval_and_a_file_change(
    server: ScriptedServer, workspace: Path, approved: bool
) -> None:
    async with running(make_agent(server.command, workspace)) as client:
        await say(client, "edit")
        asked = await client.first(ToolRequested)
        assert asked.needs_approval
        assert asked.call.changes is not None
        assert "+def plus(a, b):" in asked.call.changes[0].diff
        assert (workspace / "src/calc.py").read_text() == FILES["src/calc.py"]
        decide: Callable[[], None] = (
            (lambda: client.agent.decide(CHAT, asked.call.id, ALLOW.id))
            if approved
            else (lambda: client.agent.decide(CHAT, asked.call.id, REJECT.id))
        )
        assert ends(client) == 0
        decide()
        await client.first(ToolFinished if approved else ToolRejected)
        await client.until(lambda: ends(client) == 1)
        await talk(client, "stream")
    assert (workspace / "src/calc.py").read_text() == ADDED if approved else FILES["src/calc.py"]
    assert notices(client) == []
    assert strange(server) == []


@with_tools
async def test_a_tool_call_from_its_first_word_on(server: ScriptedServer, workspace: Path) -> None:
    async with running(make_agent(server.command, workspace)) as client:
        await say(client, "edit")
        asked = await client.first(ToolRequested)
        client.agent.decide(CHAT, asked.call.id, ALLOW.id)
        await client.until(lambda: ends(client) == 1)
        prepared = "".join(it.arguments_text for it in client.all(ToolPreparing))
        assert prepared == f'{{"path": "{workspace}/src/calc.py"}}'
        assert client.all(ToolRunning)[0].call.name == "edit_file"
        finished = client.all(ToolFinished)[0]
        assert finished.outputs == ("Edited.",)
        assert finished.call.arguments in (None, {"path": f"{workspace}/src/calc.py"})
        usage = await client.first(UsageReported)
        assert (usage.session_tokens, usage.context_limit) == (1234, 200_000)
        titled = [it.title for it in client.all(TitleChanged)]
        assert bool(titled) is (server.journal.stem != "behaviors")


@with_tools
async def test_an_approval_is_remembered_where_that_can_be(
    server: ScriptedServer, workspace: Path
) -> None:
    async with running(make_agent(server.command, workspace)) as client:
        for turn in (1, 2):
            await say(client, "edit")
            asked = await requested(client, turn)
            if asked.needs_approval:
                client.agent.decide(CHAT, asked.call.id, ALWAYS_ID)
            await ended(client, turn)
        asks = [it.needs_approval for it in client.all(ToolRequested)]
    forgets = server.journal.stem == "behaviors"
    assert asks == [True, forgets]
    lack = "this server cannot allow always: it will ask again"
    assert notices(client) == ([lack] if forgets else [])


@with_tools
async def test_a_turn_is_stopped(server: ScriptedServer, workspace: Path) -> None:
    async with running(make_agent(server.command, workspace)) as client:
        await say(client, "wait")
        await client.until(lambda: "I wait" in str(client.all(TextReceived)))
        client.agent.stop(CHAT)
        await client.until(lambda: ends(client) == 1)
        assert await talk(client, "stream") == "One, two, three.\n"
    assert strange(server) == []


@draft
async def test_the_first_draft_cannot_be_stopped(server: ScriptedServer, workspace: Path) -> None:
    async with running(make_agent(server.command, workspace)) as client:
        await talk(client, "stream")
        await say(client, "stream")
        client.agent.stop(CHAT)
        client.agent.stop(CHAT)
        await ended(client, 2)
    told = [it.message for it in client.all(StopRefused)]
    assert told == ["this server cannot stop a turn: it runs to its end"] * 2
    assert strange(server) == []


@older
async def test_what_older_servers_lack_is_said_once(
    server: ScriptedServer, workspace: Path
) -> None:
    async with running(make_agent(server.command, workspace)) as client:
        for _ in (1, 2):
            await talk(client, "stream")
            client.agent.steer(CHAT, "faster")
            client.agent.unsteer(CHAT)
        client.agent.open_chat(CHAT)
    assert notices(client) == []
    assert "trust" not in [it.id for it in client.all(OptionsChanged)[-1].options]
    assert strange(server) == []
    assert [it["trust"] for it in sent(server, "chat/prompt")] == [False, False]


CONTEXTS = (
    FileContext("/a", 2, 3, token="@a:2-3"),
    CursorContext("/a", Position(1, 2), Position(1, 2)),
    CursorContext("/a", Position(1, 2), Position(3, 4)),
    WebContext("https://example.org"),
    TextContext("*term*", "out"),
    DirectoryContext("/d", token="@d"),
)


@every
async def test_contexts_in_the_words_of_the_time(server: ScriptedServer, workspace: Path) -> None:
    async with running(make_agent(server.command, workspace)) as client:
        await talk(client, "ask @a:2-3", contexts=CONTEXTS)
        await talk(client, "ask @a:2-3", contexts=CONTEXTS)
    first, second = sent(server, "chat/prompt")
    lacks = {
        "first_draft": ["this server does not accept folders with a prompt: they are not sent"],
        "today": [],
    }
    texts = "this server accepts only files with a prompt: text that is in no file is not sent"
    assert notices(client) == lacks.get(server.journal.stem, [texts])
    kinds = [it["type"] for it in first["contexts"]]
    if server.journal.stem == "today":
        assert kinds == ["file", "cursor", "cursor", "web", "text", "directory"]
        return
    assert second["message"] == "ask @a:2-3"
    if server.journal.stem == "first_draft":
        assert "contexts" not in second
        assert (
            first["context"]
            == second["context"]
            == [
                {"type": "file", "path": "/a", "selection": {"startLine": 2, "endLine": 3}},
                {"type": "file", "path": "/a", "cursor": {"line": 1, "character": 2}},
                {
                    "type": "file",
                    "path": "/a",
                    "selection": {"startLine": 1, "endLine": 3},
                    "cursor": {"line": 1, "character": 2},
                },
                {"type": "web", "url": "https://example.org"},
                {"type": "code", "content": "out", "language": "text", "description": "*term*"},
            ]
        )
    else:
        assert kinds == ["file", "cursor", "cursor", "web", "directory", "repoMap"]
        has_title = server.journal.stem == "tool_servers"  # which shows that it needs no map
        assert second["contexts"] == first["contexts"][: 5 if has_title else 6]
        assert "context" not in first


@with_tools
async def test_diagnostics_count_from_one(server: ScriptedServer, workspace: Path) -> None:
    place = str(workspace / "src/calc.py")
    editor = FakeEditor(found=[Diagnostic(place, 0, 4, 0, 7, "error", "no")])
    async with running(make_agent(server.command, workspace, editor)) as client:
        said = await talk(client, "look")
    found = "{'start': {'line': 1, 'character': 5}, 'end': {'line': 1, 'character': 8}}"
    assert said == f"I see [[{found}], [{found}], -32602]."
    assert editor.asked == [("diagnostics", None), ("diagnostics", place)]


@pytest.mark.parametrize("name", ["behaviors", "tool_servers"])
async def test_a_login_waits_for_a_prompt(server: ScriptedServer, workspace: Path) -> None:
    async with running(make_agent(server.command, workspace)) as client:
        await say(client, "login")
        await client.first(LoginBegan)
        client.agent.answer_login(CHAT, "login again")
        await client.until(lambda: len(client.all(LoginBegan)) == 2)
        assert not client.all(TurnEnded)
        client.agent.answer_login(CHAT, "stream")
        await ended(client, 1)
        assert await talk(client, "stream") == "One, two, three.\n"


@pytest.mark.parametrize(
    ("name", "params", "complaint"),
    [
        ("first_draft", {"context": [{"type": "directory"}]}, "is no context"),
        ("first_draft", {"chatId": "x"}, "was never made"),
        ("behaviors", {"behavior": "code"}, "is no behavior"),
        ("tool_servers", {"contexts": [{"type": "file"}]}, "path is missing"),
        ("today", {"message": None}, "message is None"),
    ],
)
async def test_the_servers_hold_their_clients_to_the_protocol(
    server: ScriptedServer, workspace: Path, params: Value, complaint: str
) -> None:
    async with running(make_agent(server.command, workspace)) as client:
        await client.until(client.ready.is_set)
        connection = client.agent._connection
        assert connection is not None
        connection.start_request("chat/prompt", {"message": "stream", **params})
        await client.until(lambda: client.exit)
    assert client.exit is not None
    assert client.exit.code == 3
    assert complaint in "".join(client.exit.stderr_tail)
