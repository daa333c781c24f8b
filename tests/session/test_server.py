"""The server is started when needed, ended, and restarted; chats and prompts stay."""

import anyio
import pytest
from tests.session.rig import FakeAgent, Rig

from eca_nvim.agents.base import AgentExit, AgentFault
from eca_nvim.chat.vocabulary.events import Role, TextReceived
from eca_nvim.chat.vocabulary.intents import (
    OpenChat,
    QuitServer,
    SendPrompt,
    StartServer,
    StopTurn,
    ToggleBlock,
)
from eca_nvim.chat.vocabulary.ops import Emit, Notify, OpenBlock, SetInput, SetServer
from eca_nvim.chat.vocabulary.states import TurnEnd
from eca_nvim.chat.vocabulary.turn_events import TurnBegan, TurnEnded

pytestmark = pytest.mark.anyio

CRASH = AgentExit("the server ended, exit code 3", 3, stderr_tail=("first", "out of memory"))


async def test_the_server_starts_with_the_first_chat(rig: Rig) -> None:
    await rig.done()
    assert rig.agents == []
    await rig.ready()
    assert rig.states() == ["starting", "starting", "ready"]
    assert rig.named == ["eca"]
    assert rig.status()["server"] == "ready"


async def test_a_second_chat_starts_no_second_server(rig: Rig) -> None:
    await rig.ready()
    rig.do(OpenChat("b"), SendPrompt("b", "hi"))
    await rig.done()
    assert len(rig.agents) == 1


async def test_early_prompts_are_shown_at_once_and_sent_in_order_when_ready(rig: Rig) -> None:
    rig.do(SendPrompt("a", "one"), SendPrompt("a", "two"), SendPrompt("b", "three"))
    agent = await rig.starting()
    await rig.done()
    assert "one" in rig.view.text()
    assert rig.status()["state"] == "running"
    assert agent.told == []
    agent.ready()
    assert agent.told == [("prompt", "a", "one"), ("steer", "a", "two"), ("prompt", "b", "three")]


async def test_stopping_before_the_server_is_ready_takes_the_prompt_back(rig: Rig) -> None:
    rig.do(SendPrompt("a", "one"), StopTurn("a"))
    agent = await rig.starting()
    await rig.done()
    assert rig.view.of(SetInput) == [SetInput("a", "one")]
    assert rig.status()["state"] == "idle"
    agent.ready()
    assert agent.told == []
    rig.do(SendPrompt("a", "again"))
    await rig.done()
    agent.say("a", TurnEnded(TurnEnd.FAILED, "no model"))
    assert rig.status()["state"] == "idle", "the answer was for the second prompt"


async def test_a_crash_is_an_entry_in_every_chat_and_ends_its_turn(rig: Rig) -> None:
    agent = await rig.ready()
    rig.do(OpenChat("b"), SendPrompt("a", "hi"))
    await rig.done()
    rig.view.ops.clear()
    agent.end(CRASH)
    await rig.view.until(lambda: rig.view.text().count("the server ended") == 2)
    assert "out of memory" not in rig.view.text()
    logs = [op for op in rig.view.of(OpenBlock) if op.header and "log" in op.header[0][0]]
    rig.do(ToggleBlock("a", next(log.block for log in logs if log.chat == "a"), open=True))
    await rig.done()
    assert "first\nout of memory" in rig.view.text()
    assert rig.states() == ["failed"]
    assert (rig.status("a")["state"], rig.status("a")["server"]) == ("idle", "failed")


async def test_a_server_that_does_not_become_ready_is_told_and_waited_for(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("eca_nvim.session.server.SLOW_START", 0.01)
    said = "cannot reach example.org\nwith sk-ant-api03-0123456789abcdef0123456789abcdef"
    monkeypatch.setattr(FakeAgent, "last_words", said)
    rig.do(SendPrompt("a", "hi"))
    agent = await rig.starting()
    await rig.view.until(lambda: "is not ready after 0.01 s" in rig.view.text())
    assert "It last wrote: cannot reach example.org with sk-[hidden]" in rig.view.text()
    assert ":Eca stop gives a prompt back, :Eca restart starts it again" in rig.view.text()
    assert rig.states()[-1] == "starting"
    assert rig.status()["state"] == "running"
    agent.ready()
    assert agent.told == [("prompt", "a", "hi")]


async def test_after_a_crash_the_next_prompt_starts_the_server(rig: Rig) -> None:
    agent = await rig.ready()
    agent.end(CRASH)
    await rig.view.until(lambda: rig.states()[-1] == "failed")
    rig.do(SendPrompt("a", "once more"))
    second = await rig.starting(2)
    second.ready()
    assert second.told == [("prompt", "a", "once more")]


async def test_restart_ends_the_old_server_first_and_keeps_the_chats(rig: Rig) -> None:
    first = await rig.ready()
    rig.do(SendPrompt("a", "hi"))
    await rig.done()
    first.say("a", TextReceived(Role.ASSISTANT, "hello"))
    rig.do(StartServer(restart=True))
    second = await rig.starting(2)
    assert first.told[-1] == ("close",)
    assert rig.states() == ["starting", "starting", "ready", "starting"]
    second.ready()
    rig.do(SendPrompt("a", "go on"))
    await rig.done()
    assert second.told == [("prompt", "a", "go on")]
    assert "hello" in rig.view.text()


async def test_an_agent_that_is_ready_too_late_gets_no_prompt(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    rig.do(OpenChat("a"))
    first = await rig.starting()

    async def be_ready_first() -> None:
        await anyio.wait_all_tasks_blocked()
        first.ready()
        await FakeAgent.close(first)

    monkeypatch.setattr(first, "close", be_ready_first)
    rig.do(StartServer(restart=True), SendPrompt("a", "hi"))
    second = await rig.starting(2)
    second.ready()
    assert first.told == [("close",)]
    assert second.told == [("prompt", "a", "hi")]


async def test_quit_is_told_in_the_chat_without_stderr(rig: Rig) -> None:
    await rig.ready()
    rig.do(QuitServer())
    await rig.view.until(lambda: "the server was stopped" in rig.view.text())
    assert rig.states()[-1] == "stopped"
    assert rig.status()["state"] == "idle"


async def test_a_server_without_a_chat_that_the_user_stops_is_no_error(rig: Rig) -> None:
    rig.do(StartServer())
    (await rig.starting()).ready()
    rig.do(QuitServer())
    await rig.view.until(lambda: rig.view.of(Notify))
    assert rig.view.of(Notify) == [Notify("info", "the server was stopped")]


async def test_quit_and_start_in_a_row_are_done_in_order(rig: Rig) -> None:
    first = await rig.ready()
    rig.do(QuitServer(), StartServer(), StartServer(restart=True))
    third = await rig.starting(3)
    assert first.told == [("close",)]
    assert rig.agents[1].told == [("close",)]
    assert third.told == []


async def test_the_demo_agent_is_a_server_of_its_own(rig: Rig) -> None:
    first = await rig.ready()
    rig.do(StartServer(server="demo"))
    await rig.starting(2)
    assert first.told == []
    assert rig.named == ["eca", "demo"]


async def test_a_server_that_is_missing_is_told_and_the_prompt_comes_back(rig: Rig) -> None:
    rig.fault = AgentFault("'eca' not found: correct its path")
    rig.do(SendPrompt("a", "hi"))
    await rig.view.until(lambda: "correct its path" in rig.view.text())
    assert rig.view.of(SetInput) == [SetInput("a", "hi")]
    assert rig.states() == ["starting", "failed"]
    assert rig.status()["state"] == "idle"
    rig.fault = None
    rig.do(StartServer(restart=True))
    agent = await rig.starting()
    agent.ready()
    assert rig.states()[-1] == "ready"
    assert agent.told == []


async def test_a_server_that_never_gets_ready_gives_the_prompts_back(rig: Rig) -> None:
    rig.do(SendPrompt("a", "hi"), SendPrompt("a", "steer"))
    agent = await rig.starting()
    await rig.done()
    agent.end(AgentFault("eca ended before it could be used"))
    await rig.view.until(lambda: "before it could be used" in rig.view.text())
    assert rig.view.of(SetInput) == [SetInput("a", "hi")]
    assert len(rig.agents) == 1, "what waited does not start it again"
    assert rig.status()["state"] == "idle"


async def test_a_fault_of_the_agents_code_ends_that_life_only(
    rig: Rig, caplog: pytest.LogCaptureFixture
) -> None:
    agent = await rig.ready()
    agent.end(ValueError("a bug"))  # type: ignore[arg-type]
    agent._ending = None
    await rig.view.until(lambda: "the plugin failed" in rig.view.text())
    assert agent.killed
    assert "AssertionError" in caplog.text
    rig.do(SendPrompt("a", "hi"))
    await rig.starting(2)


async def test_without_a_chat_the_end_is_told_in_a_line(rig: Rig) -> None:
    rig.do(StartServer())
    agent = await rig.starting()
    agent.end(CRASH)
    await rig.view.until(lambda: rig.lines() == [CRASH.reason])


async def test_killing_the_session_kills_the_server(rig: Rig) -> None:
    agent = await rig.ready()
    rig.session.kill()
    assert agent.killed


async def test_a_turn_is_told_when_the_server_ends_in_it(rig: Rig) -> None:
    agent = await rig.ready()
    rig.do(SendPrompt("a", "hi"))
    await rig.done()
    agent.say("a", TurnBegan())
    agent.end(CRASH)
    await rig.view.until(lambda: rig.status()["state"] == "idle")
    finished = [op for op in rig.view.of(Emit) if op.event == "EcaTurnFinished"]
    assert [op.data["reason"] for op in finished] == ["gone"]


async def test_a_prompt_typed_while_the_server_restarts_is_for_the_next_one(rig: Rig) -> None:
    first = await rig.ready()
    rig.do(StartServer(restart=True), SendPrompt("a", "hello"))
    second = await rig.starting(2)
    second.ready()
    assert second.told == [("prompt", "a", "hello")]
    assert ("prompt", "a", "hello") not in first.told
    assert rig.view.of(SetInput) == []
    assert rig.status()["state"] == "running"


async def test_a_prompt_typed_while_the_server_quits_starts_another(rig: Rig) -> None:
    first = await rig.ready()
    rig.do(QuitServer(), SendPrompt("a", "hello"))
    second = await rig.starting(2)
    second.ready()
    assert first.told == [("close",)]
    assert second.told == [("prompt", "a", "hello")]


async def test_a_server_is_shown_as_it_calls_itself(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FakeAgent, "title", "Qwen Code 0.24.4")
    await rig.ready()
    labels = [(op.state, op.label) for op in rig.view.of(SetServer)]
    assert labels[-2:] == [("starting", "/bin/eca"), ("ready", "Qwen Code 0.24.4")]
