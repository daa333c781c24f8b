"""The life of a server as an agent: start, end and failures."""

import json
import os
import sys
from pathlib import Path

import anyio
import pytest
from tests.agents.client import TIMEOUT, Client, FakeEditor, make_agent, running
from tests.support import script
from tests.support.factories import PrepareScript
from tests.support.generations.prepared import GENERATIONS, prepare
from tests.support.on_the_wire import on_the_wire
from tests.support.wire import encode as frame

from eca_nvim.agents.base import AgentFault, Workspace
from eca_nvim.agents.eca import agent as eca
from eca_nvim.agents.eca.agent import EcaAgent, EcaOptions
from eca_nvim.agents.eca.contents import ALWAYS_ID
from eca_nvim.agents.eca.introduction import introduction
from eca_nvim.chat.vocabulary.agent_events import MessageShown
from eca_nvim.chat.vocabulary.effects import Prompt
from eca_nvim.chat.vocabulary.events import ChatOpened, TextReceived
from eca_nvim.guardian import CLOSE_S, EXIT_S, GOODBYE_S, GRACE_S
from eca_nvim.path_risks import Folders

pytestmark = pytest.mark.anyio

FOR_EVER = "eca_nvim.agents.eca.introduction.SILENCE_SECONDS"


async def start(agent: EcaAgent) -> AgentFault:
    """Run an agent that cannot start, and return its complaint."""
    with anyio.fail_after(TIMEOUT), pytest.raises(AgentFault) as fault:
        await Client(agent).run()
    assert "\n" not in str(fault.value)
    return fault.value


def test_we_say_who_and_where_we_are_and_what_we_can_do() -> None:
    workspace = Workspace(Folders(("/home/me/a b", "/ü#")), "Neovim 0.12.4", 4711)
    assert on_the_wire(introduction(workspace, "plan")) == {
        "processId": 4711,
        "clientInfo": {"name": "Neovim", "version": "0.12.4"},
        "initializationOptions": {"chatAgent": "plan"},
        "capabilities": {
            "codeAssistant": {
                "chat": True,
                "rewrite": True,
                "editor": {"diagnostics": True, "definition": True, "references": True},
                "chatCapabilities": {"askQuestion": True},
            }
        },
        "workspaceFolders": [
            {"uri": "file:///home/me/a%20b", "name": "a b"},
            {"uri": "file:///%C3%BC%23", "name": "ü#"},
        ],
    }


def test_the_root_folder_has_a_name() -> None:
    [folder] = introduction(Workspace(Folders(("/",)), "Neovim", 1)).workspace_folders
    assert (folder.uri, folder.name) == ("file:///", "/")


async def test_added_folders_are_told_apart_from_those_of_the_start(
    scripted_server: PrepareScript, tmp_path: Path
) -> None:
    method, other = "workspace/didChangeWorkspaceFolders", tmp_path / "other project"
    other.mkdir()
    (tmp_path / "first").mkdir()
    opened = script.send("chat/opened", {"chatId": "1"})
    told = [script.expect(method), opened]
    server = scripted_server(script.handshake(), *told, *told)
    folders = Folders((str(tmp_path / "first"),))
    folders.add(str(other))
    agent = EcaAgent(EcaOptions(server.command), Workspace(folders, "Neovim", 1), FakeEditor())
    async with running(agent) as client:
        await client.until(lambda: client.all(ChatOpened))
        assert agent.folder_changed(folders.drop(str(other)), removed=True) is None
        await client.until(lambda: len(client.all(ChatOpened)) == 2)
    [started] = server.received("initialize")
    assert [it["name"] for it in started["params"]["workspaceFolders"]] == ["first"]
    named = [{"uri": other.as_uri(), "name": "other project"}]
    assert [it["params"]["event"] for it in server.received(method)] == [
        {"added": named, "removed": []},
        {"added": [], "removed": named},
    ]


async def test_the_session_of_the_server_is_guarded(
    scripted_server: PrepareScript, tmp_path: Path
) -> None:
    guarded: list[int] = []
    server = scripted_server(script.handshake())
    async with running(make_agent(server.command, tmp_path, guard=guarded.append)) as client:
        await client.until(client.ready.is_set)
        [session] = guarded
        assert os.getsid(session) == session


async def test_a_polite_end_is_expected(scripted_server: PrepareScript, tmp_path: Path) -> None:
    server = scripted_server(script.handshake())
    async with running(make_agent(server.command, tmp_path)) as client:
        await client.until(client.ready.is_set)
    assert client.exit is not None
    assert (client.exit.expected, client.exit.code) == (True, 0)
    assert client.exit.reason == "the server was stopped, exit code 0"
    assert [message["method"] for message in server.received()][-2:] == ["shutdown", "exit"]


@pytest.mark.usefixtures("impatient")
async def test_a_stubborn_server_is_ended(scripted_server: PrepareScript, tmp_path: Path) -> None:
    server = scripted_server(script.handshake(), script.stubborn())
    async with running(make_agent(server.command, tmp_path)) as client:
        await client.until(client.ready.is_set)
    assert client.exit is not None
    assert client.exit.expected
    assert "signal 9" in client.exit.reason
    assert GOODBYE_S + EXIT_S + 2 * GRACE_S < CLOSE_S


@pytest.mark.parametrize("name", GENERATIONS)
async def test_a_server_has_time_to_end_its_own_servers(name: str, tmp_path: Path) -> None:
    server = prepare(name, tmp_path, "slow-end")
    async with running(make_agent(server.command, tmp_path)) as client:
        await client.until(client.ready.is_set)
    assert [it["method"] for it in server.received()][-3:] == ["shutdown", "(ended)", "exit"]
    assert client.exit is not None
    assert client.exit.code == 0


@pytest.mark.parametrize("is_seen_off", [True, False])
@pytest.mark.usefixtures("impatient")
async def test_a_server_ends_after_us_if_somebody_sees_it_off(
    tmp_path: Path, is_seen_off: bool
) -> None:
    server = prepare("behaviors", tmp_path, "slow-end")
    agent = make_agent(server.command, tmp_path, see_off=lambda: is_seen_off)
    async with running(agent) as client:
        await client.until(client.ready.is_set)
        agent.leave()
        await client.until(lambda: client.exit)
    ended = "(ended)" in [it["method"] for it in server.received()]
    assert ended is is_seen_off


async def test_a_death_is_told_with_the_last_words(
    scripted_server: PrepareScript, tmp_path: Path
) -> None:
    last_words = script.stderr("one\nout of memory\n")
    server = scripted_server(script.handshake(), last_words, script.leave(3))
    async with running(make_agent(server.command, tmp_path)) as client:
        await client.until(lambda: client.exit)
    assert client.exit is not None
    assert (client.exit.expected, client.exit.code) == (False, 3)
    remedy = "your next prompt or :Eca restart starts it again"
    assert client.exit.reason == (
        f"the server ended, exit code 3: {remedy}\nIt wrote: out of memory"
    )
    assert client.exit.stderr_tail == ("one", "out of memory")


async def test_after_the_end_nothing_said_does_harm(
    scripted_server: PrepareScript, tmp_path: Path
) -> None:
    server = scripted_server(script.handshake(), script.leave(0))
    async with running(make_agent(server.command, tmp_path)) as client:
        await client.until(lambda: client.exit)
        client.agent.prompt(Prompt("our-1", "hello"))
        client.agent.stop("our-1")
        client.agent.answer("q", "yes")
        client.agent.decide("our-1", "t", ALWAYS_ID)
        client.agent.kill()
    assert client.exit is not None


async def test_before_the_start_there_is_nothing_to_close(tmp_path: Path) -> None:
    agent = make_agent(["never-started"], tmp_path)
    agent.kill()
    await agent.close()
    with pytest.raises(RuntimeError, match="is not running yet"):
        agent.stop("our-1")


@pytest.mark.usefixtures("impatient")
async def test_killing_needs_no_event_loop(scripted_server: PrepareScript, tmp_path: Path) -> None:
    server = scripted_server(script.handshake(), script.stubborn())
    editor = FakeEditor()
    async with running(make_agent(server.command, tmp_path, editor)) as client:
        await client.until(client.ready.is_set)
        client.agent.kill()
        await client.until(lambda: client.exit)
    assert client.exit is not None
    assert client.exit.code is None


async def test_a_missing_program_is_named(tmp_path: Path) -> None:
    fault = await start(make_agent(["/no/such/eca", "server"], tmp_path))
    assert str(fault) == "'/no/such/eca' does not exist: correct the path"


async def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    fault = await start(make_agent([sys.executable], tmp_path / "gone"))
    assert "gone" in str(fault)


async def test_a_program_that_ends_at_once_is_quoted(tmp_path: Path) -> None:
    complain = "import sys; sys.exit('bad option')"
    fault = await start(make_agent([sys.executable, "-c", complain], tmp_path))
    assert "ended before it could be used, exit code 1: bad option" in str(fault)
    assert ":Eca log" in str(fault)


async def test_a_program_that_says_nothing_is_given_up(
    scripted_server: PrepareScript, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(eca, "INTRODUCTION_SECONDS", 0.2)
    server = scripted_server(script.expect("initialize"), script.expect("never"))
    fault = await start(make_agent(server.command, tmp_path))
    assert "has not answered after 0 s; is it an ECA server?" in str(fault)


async def test_a_refusal_is_quoted(scripted_server: PrepareScript, tmp_path: Path) -> None:
    refusal = script.fail("initialize", -32603, "no\nlicence")
    server = scripted_server(script.expect("initialize"), refusal)
    fault = await start(make_agent(server.command, tmp_path))
    assert "refused to start: no licence (-32603)" in str(fault)


async def test_leaving_during_the_introduction_is_no_fault(
    scripted_server: PrepareScript, tmp_path: Path
) -> None:
    server = scripted_server(script.expect("initialize"), script.expect("never"))
    started = anyio.Event()
    agent = make_agent(server.command, tmp_path, guard=lambda _: started.set())
    async with running(agent) as client:
        with anyio.fail_after(TIMEOUT):
            await started.wait()
    assert client.exit is not None
    assert client.exit.expected


async def test_what_cannot_be_read_is_skipped(
    scripted_server: PrepareScript, tmp_path: Path
) -> None:
    noise = [
        *script.raw(b'Content-Length: 9\r\n\r\n{"broken"'),
        *script.send("chat/contentReceived", {"chatId": "c", "role": "user"}),
        *script.send("chat/statusChanged", {"status": "running"}),
        *script.send("chat/statusChanged", {"chatId": "c", "status": "sleepy"}),
        *script.send("no/suchNotification", {"a": 1}),
        *script.send("chat/cleared", {"chatId": None}),
        *script.send("providers/updated", {"id": "anthropic"}),
        *script.send("jobs/updated", {"jobs": []}),
    ]
    server = scripted_server(script.handshake(), noise, script.turn(script.text("still here")))
    async with running(make_agent(server.command, tmp_path)) as client:
        await client.until(client.ready.is_set)
        client.agent.prompt(Prompt("our-1", "hello"))
        await client.until(lambda: TextReceived in map(type, client.all(TextReceived)[1:]))
    assert client.all(TextReceived)[1].text == "still here"


async def test_a_word_nobody_knows_is_shown_in_its_chat(
    scripted_server: PrepareScript, tmp_path: Path
) -> None:
    strange = script.send("chat/sang", {"chatId": "c", "text": "la la"})
    server = scripted_server(script.handshake(), strange)
    async with running(make_agent(server.command, tmp_path)) as client:
        await client.until(lambda: any("la la" in str(it) for it in client.events))
    assert "UnknownReceived(kind='chat/sang', text='la la'" in str(client.events[-1])


async def test_one_read_is_one_batch(scripted_server: PrepareScript, tmp_path: Path) -> None:
    server = scripted_server(script.handshake(), script.turn(script.stream(512)))
    async with running(make_agent(server.command, tmp_path)) as client:
        await client.until(client.ready.is_set)
        client.agent.prompt(Prompt("our-1", "hello"))
        await client.until(lambda: len(client.all(TextReceived)) == 513)
    assert len(client.batches) < 200


class TestReadiness:
    """A prompt is sent as soon as the server can take it."""

    async def test_models_make_ready(
        self,
        scripted_server: PrepareScript,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        monkeypatch.setattr(FOR_EVER, 3600.0)
        server = scripted_server(script.handshake())
        async with running(make_agent(server.command, tmp_path)) as client:
            await client.until(client.ready.is_set)
            assert client.selection("c").model == script.MODEL

    async def test_an_older_servers_models_make_ready(
        self,
        scripted_server: PrepareScript,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        monkeypatch.setattr(FOR_EVER, 3600.0)
        answer = {"models": ["m"], "chatBehaviors": ["agent"]}
        server = scripted_server(script.expect("initialize"), script.reply("initialize", answer))
        async with running(make_agent(server.command, tmp_path)) as client:
            await client.until(client.ready.is_set)
            client.agent.open_chat("c")
            assert [it.value for it in client.option("c", "model").offers] == ["m"]
            assert [it.value for it in client.option("c", "agent").offers] == ["agent"]

    async def test_no_models_make_ready_when_their_loading_ends(
        self, scripted_server: PrepareScript, tmp_path: Path
    ) -> None:
        task = {"taskId": "models", "title": "Syncing models"}
        server = scripted_server(
            script.expect("initialize"),
            script.reply("initialize", {}),
            script.send("$/progress", {"type": "start", **task}),
            script.send("$/progress", {"type": "finish", **task}),
        )
        async with running(make_agent(server.command, tmp_path)) as client:
            await client.until(client.ready.is_set)

    async def test_what_comes_with_it_is_heard_with_it(
        self,
        scripted_server: PrepareScript,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        monkeypatch.setattr(FOR_EVER, 3600.0)
        finish = {"type": "finish", "taskId": "models", "title": "Syncing models"}
        shown = {"type": "info", "message": "later"}
        notifications = (("$/progress", finish), ("$/showMessage", shown))
        messages = [{"jsonrpc": "2.0", "method": it, "params": of} for it, of in notifications]
        together = b"".join(frame(json.dumps(message)) for message in messages)
        server = scripted_server(
            script.expect("initialize"),
            script.reply("initialize", {}),
            script.expect("initialized"),
            script.raw(together),
        )
        async with running(make_agent(server.command, tmp_path)) as client:
            await client.first(MessageShown)
            assert client.batches[-1][-1] == MessageShown("info", "later")
            await client.until(client.ready.is_set)

    async def test_silence_makes_ready_in_the_end(
        self, scripted_server: PrepareScript, tmp_path: Path
    ) -> None:
        server = scripted_server(script.expect("initialize"), script.reply("initialize", {}))
        async with running(make_agent(server.command, tmp_path)) as client:
            await client.until(client.ready.is_set)

    async def test_models_that_load_for_ever_make_ready_in_the_end(
        self,
        scripted_server: PrepareScript,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        monkeypatch.setattr("eca_nvim.agents.eca.introduction.LOADING_SECONDS", 0.1)
        server = scripted_server(
            script.expect("initialize"),
            script.reply("initialize", {}),
            script.send("$/progress", {"type": "start", "taskId": "models"}),
        )
        async with running(make_agent(server.command, tmp_path)) as client:
            await client.until(client.ready.is_set)
