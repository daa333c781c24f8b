"""The life of an ACP agent: start, sessions, turns, end and failures."""

import logging
import os
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest
from tests.agents.acp.acp_client import CHAT, AcpClient, make_agent, remembering, running
from tests.agents.acp.conftest import PrepareScript
from tests.agents.client import TIMEOUT
from tests.support import acp_script as agent
from tests.support import processes, script
from tests.support.servers import PROGRAM

from eca_nvim.agents.acp.sessions import LOST, SLOW, TAKEN
from eca_nvim.agents.base import AgentFault
from eca_nvim.chat.vocabulary.effects import Prompt
from eca_nvim.chat.vocabulary.events import Addressed, NoticeReceived
from eca_nvim.chat.vocabulary.login import LoginNeeded
from eca_nvim.chat.vocabulary.options import AbilitiesChanged, OptionsChanged
from eca_nvim.chat.vocabulary.states import TurnEnd
from eca_nvim.chat.vocabulary.turn_events import TurnEnded
from eca_nvim.guardian import CLOSE_S, EXIT_S, GRACE_S
from eca_nvim.redaction import Redactor

pytestmark = pytest.mark.anyio

CLOSING: dict[str, Any] = {"agentCapabilities": {"sessionCapabilities": {"close": {}}}}
KEY = "sk-ant-api03-0123456789abcdef0123456789abcdef"
LOGIN: dict[str, Any] = {
    "authMethods": [{"id": "key", "name": "API key", "description": "Run `agent login`"}]
}


async def start(command: list[str], folder: Path) -> str:
    """Run an agent that cannot start, and return its complaint."""
    with anyio.fail_after(TIMEOUT), pytest.raises(AgentFault) as fault:
        await AcpClient(make_agent(command, folder)).run()
    assert "\n" not in str(fault.value)
    return str(fault.value)


async def test_what_it_cannot_do_is_said_when_it_is_ready(
    scripted_acp: PrepareScript, tmp_path: Path
) -> None:
    server = scripted_acp(agent.handshake())
    async with running(make_agent(server.command, tmp_path)) as client:
        assert client.all(AbilitiesChanged) == [AbilitiesChanged(frozenset())]
    assert client.exit is not None
    assert (client.exit.code, client.exit.expected) == (0, True)


async def test_another_version_is_one_line(scripted_acp: PrepareScript, tmp_path: Path) -> None:
    server = scripted_acp(agent.handshake(protocolVersion=2))
    fault = await start(server.command, tmp_path)
    assert "speaks version 2 of the Agent Client Protocol, and this client version 1" in fault


async def test_a_refusal_to_start_is_in_its_words(
    scripted_acp: PrepareScript, tmp_path: Path
) -> None:
    refusal = script.fail("initialize", -32603, "no\nluck")
    server = scripted_acp(script.expect("initialize"), refusal)
    assert "refused to start: no luck" in await start(server.command, tmp_path)


async def test_an_end_at_the_start_has_its_last_words(
    scripted_acp: PrepareScript, tmp_path: Path
) -> None:
    server = scripted_acp(script.expect("initialize"), script.stderr("no key\n"), script.leave(3))
    fault = await start(server.command, tmp_path)
    assert "ended before it could be used, exit code 3: no key" in fault


async def test_silence_at_the_start_is_a_fault(
    scripted_acp: PrepareScript, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("eca_nvim.agents.acp.agent.INTRODUCTION_SECONDS", 0.2)
    server = scripted_acp(script.expect("initialize"))
    assert "has not answered after 0 s" in await start(server.command, tmp_path)
    [cancel] = server.received("$/cancel_request")
    assert cancel["params"] == {"requestId": 1}


async def test_a_prompt_waits_for_its_session_and_its_updates_do_not(
    scripted_acp: PrepareScript, tmp_path: Path
) -> None:
    early, late = agent.text("early "), agent.text(" late")
    server = scripted_acp(
        agent.handshake(), script.expect("session/new"), early,
        script.reply("session/new", {"sessionId": agent.SESSION}),
        agent.turn(agent.text("in time")), late,
    )  # fmt: skip
    async with running(make_agent(server.command, tmp_path)) as client:
        assert (await client.say("hi")).end is TurnEnd.DONE
        await client.until(lambda: client.text == "early in time late")
    [made], [prompt] = server.received("session/new"), server.received("session/prompt")
    assert made["params"] == {"cwd": str(tmp_path), "mcpServers": []}
    assert prompt["params"]["prompt"] == [{"type": "text", "text": "hi"}]


async def test_a_prompt_that_waits_for_its_session_can_be_stopped(
    scripted_acp: PrepareScript, tmp_path: Path
) -> None:
    server = scripted_acp(
        agent.handshake(), script.expect("session/new"), script.expect("$/go"),
        script.reply("session/new", {"sessionId": agent.SESSION}), agent.turn(),
    )  # fmt: skip
    async with running(make_agent(server.command, tmp_path)) as client:
        client.agent.prompt(Prompt(CHAT, "never sent"))
        client.agent.stop(CHAT)
        assert client.ends == [TurnEnd.STOPPED]
        client.notify("$/go")
        assert (await client.say("sent")).end is TurnEnd.DONE
    [prompt] = server.received("session/prompt")
    assert prompt["params"]["prompt"][0]["text"] == "sent"
    assert server.received("session/cancel") == []


async def test_each_chat_has_a_session_until_it_is_forgotten(
    scripted_acp: PrepareScript, tmp_path: Path
) -> None:
    server = scripted_acp(
        agent.handshake(**CLOSING), agent.session("one"), agent.session("two"),
        agent.turn(agent.text("for two", session_id="two")), agent.turn(),
        script.expect("session/close"), agent.text("too late", session_id="one"),
        script.reply("session/close", {}),
    )  # fmt: skip
    async with running(make_agent(server.command, tmp_path)) as client:
        client.agent.open_chat("a")
        client.agent.open_chat("b")
        client.agent.open_chat("a")
        await client.say("to b", "b")
        await client.say("to a", "a")
        client.agent.forget("a")
        client.agent.forget("never opened")
        assert client.text == "for two"
    asked = [it["params"]["sessionId"] for it in server.received("session/prompt")]
    assert asked == ["two", "one"]
    closed = [it["params"]["sessionId"] for it in server.received("session/close")]
    assert closed == ["one", "two"]  # `two` when the agent was closed
    assert client.text == "for two"


async def test_a_login_that_is_needed_is_reported_with_the_prompt_and_the_next_one_tries_again(
    scripted_acp: PrepareScript, tmp_path: Path
) -> None:
    refused = [*script.expect("session/new"), *script.fail("session/new", -32000, "Auth required")]
    server = scripted_acp(
        agent.handshake(**LOGIN), refused, refused, agent.session(),
        script.expect("session/prompt"), script.fail("session/prompt", -32000, "Auth required"),
    )  # fmt: skip
    async with running(make_agent(server.command, tmp_path)) as client:
        client.agent.open_chat(CHAT)
        needed = await client.first(LoginNeeded)
        assert needed == LoginNeeded(CHAT, f"{PROGRAM} needs a login: Auth required")
        for text in "first", "second":
            client.agent.prompt(Prompt(CHAT, text))
            told = Prompt(CHAT, text)
            await client.until(partial(lambda it: client.all(LoginNeeded)[-1].prompt == it, told))
        assert len(client.all(LoginNeeded)) == 3
        assert not client.ends
        assert not client.all(NoticeReceived)
    assert len(server.received("session/new")) == 3


@pytest.mark.parametrize(
    ("reason", "end"),
    [
        ("end_turn", TurnEnd.DONE),
        ("max_tokens", TurnEnd.LIMIT),
        ("max_turn_requests", TurnEnd.LIMIT),
        ("refusal", TurnEnd.DECLINED),
        ("cancelled", TurnEnd.STOPPED),
        ("of tomorrow", TurnEnd.DONE),
    ],
)
async def test_a_turn_ends_as_the_agent_says(
    scripted_acp: PrepareScript, tmp_path: Path, reason: str, end: TurnEnd
) -> None:
    server = scripted_acp(agent.handshake(), agent.session(), agent.turn(ends=reason))
    async with running(make_agent(server.command, tmp_path)) as client:
        assert (await client.say("hi")).end is end


async def test_errors_are_in_the_agents_words(scripted_acp: PrepareScript, tmp_path: Path) -> None:
    answer = {"error": {"code": 400, "message": "Internal error", "data": {"details": "no\nquota"}}}
    server = scripted_acp(
        agent.handshake(), agent.session(), script.expect("session/prompt"),
        [{"do": "reply", "method": "session/prompt", "answer": answer}],
        script.expect("session/prompt"), script.reply("session/prompt", {}), agent.turn(),
    )  # fmt: skip
    async with running(make_agent(server.command, tmp_path)) as client:
        end = await client.say("hi")
        assert end == TurnEnded(TurnEnd.FAILED, "the prompt failed: Internal error: no quota")
        unreadable = await client.say("hi")
        assert "sent an answer that cannot be read" in (unreadable.message or "")
        assert (await client.say("hi")).end is TurnEnd.DONE


async def test_two_chats_never_have_one_session(
    scripted_acp: PrepareScript, tmp_path: Path
) -> None:
    server = scripted_acp(
        agent.handshake(), agent.session(), agent.session(),
        agent.turn(agent.text("for the first")),
    )  # fmt: skip
    async with running(make_agent(server.command, tmp_path)) as client:
        client.agent.open_chat(CHAT)
        await client.first(OptionsChanged)
        refused = await client.say("hi", "a second chat")
        assert (refused.end, refused.message) == (TurnEnd.FAILED, TAKEN)
        client.agent.forget("a second chat")
        assert (await client.say("hi")).end is TurnEnd.DONE
        assert client.text == "for the first"


async def test_garbage_and_strangers_change_nothing(
    scripted_acp: PrepareScript, tmp_path: Path
) -> None:
    server = scripted_acp(
        agent.handshake(), agent.session(),
        agent.turn(
            script.raw(b"Loading ...\n\n\xff\xfe{\n[1]\n"),
            script.send("qwen/notify/session/mode-update", {"sessionId": agent.SESSION}),
            script.send("session/update", {"sessionId": "stranger", "update": None}),
            agent.text("for nobody", session_id="stranger"),
            script.ask("craft/drainMidTurnQueue", {}, 7),
            script.ask("session/request_permission", {"sessionId": "stranger"}, 8),
            agent.update("_of_tomorrow", what=[None]),
            agent.text("x" * 600_000),
        ),
    )  # fmt: skip
    async with running(make_agent(server.command, tmp_path)) as client:
        assert (await client.say("hi")).end is TurnEnd.DONE
        assert client.text == "x" * 600_000
    assert [it["error"]["code"] for it in server.answers()] == [-32601, -32602]


async def test_a_death_in_mid_turn_is_told(scripted_acp: PrepareScript, tmp_path: Path) -> None:
    server = scripted_acp(
        agent.handshake(), agent.session(), script.expect("session/prompt"), agent.text("I was"),
        script.stderr("out of memory\n"), script.leave(9),
    )  # fmt: skip
    async with running(make_agent(server.command, tmp_path)) as client:
        client.agent.prompt(Prompt(CHAT, "hi"))
        await client.until(lambda: client.exit)
        client.agent.prompt(Prompt(CHAT, "to nobody"))
        client.agent.stop(CHAT)
        client.agent.forget(CHAT)
        client.agent.open_chat("another", is_needed=True)  # before the chats have heard of the end
        client.agent.prompt(Prompt("another", "to nobody"))
    assert client.exit is not None
    assert (client.exit.code, client.exit.expected) == (9, False)
    assert client.exit.stderr_tail == ("out of memory",)
    assert client.text == "I was"


@pytest.mark.usefixtures("impatient")
async def test_nothing_stays_of_an_agent_that_stays(
    scripted_acp: PrepareScript, tmp_path: Path
) -> None:
    guarded: list[int] = []
    server = scripted_acp(script.offspring(), script.stubborn(), agent.handshake())
    async with running(make_agent(server.command, tmp_path, guard=guarded.append)) as client:
        [group] = guarded
        assert os.getsid(group) == group
        family = processes.descendants(group)
        assert len(family) == 2
    assert client.exit is not None
    assert client.exit.expected
    assert processes.wait_gone(family, TIMEOUT) == set()
    assert EXIT_S + 2 * GRACE_S + 1 < CLOSE_S


async def test_the_log_has_the_traffic_but_no_key(
    scripted_acp: PrepareScript, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "eca_nvim.transport.connection")
    server = scripted_acp(agent.handshake(), agent.session(), agent.turn(agent.text(KEY)))
    async with running(make_agent(server.command, tmp_path)) as client:
        await client.say(f"my key is {KEY}")
    logged = Redactor().redact(caplog.text)
    assert KEY in caplog.text
    assert KEY not in logged
    for method in "initialize", "session/new", "session/prompt", "session/update", "stopReason":
        assert method in logged


async def test_a_process_does_not_know_what_was_said_before(
    scripted_acp: PrepareScript, tmp_path: Path
) -> None:
    server = scripted_acp(
        agent.handshake(), agent.session(), agent.session("two"), agent.turn(), agent.turn()
    )
    memory = remembering({CHAT: "old"}, shown=True)
    agent_of_two = make_agent(server.command, tmp_path, memory=memory)
    async with running(agent_of_two) as client:
        client.agent.open_chat(CHAT)
        client.agent.open_chat("another")
        for _ in "twice":
            await client.say("hi")
    lost = [it for it in client.events if Addressed(CHAT, NoticeReceived(LOST)) == it]
    assert len(client.all(NoticeReceived)) == len(lost) == 1


@pytest.mark.parametrize("is_seen_off", [True, False])
async def test_an_agent_ends_after_us_if_somebody_sees_it_off(
    scripted_acp: PrepareScript, tmp_path: Path, is_seen_off: bool
) -> None:
    server = scripted_acp(agent.handshake(**CLOSING), agent.session(), agent.text("open"))
    made = make_agent(server.command, tmp_path, see_off=lambda: is_seen_off)
    async with running(made) as client:
        client.agent.open_chat(CHAT)
        await client.until(lambda: client.text == "open")
        client.agent.leave()
        if not is_seen_off:
            await client.until(lambda: client.exit)
    assert [it["params"] for it in server.received("session/close")][:1] == [
        {"sessionId": agent.SESSION}
    ]


async def test_a_session_that_is_not_made_is_told_and_waited_for(
    scripted_acp: PrepareScript, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("eca_nvim.agents.acp.sessions.SLOW_SECONDS", 0.01)
    server = scripted_acp(
        agent.handshake(agentInfo={"name": "a", "title": "An\nagent", "version": "7.1"}),
        script.expect("session/new"), script.expect("$/go"),
        script.reply("session/new", {"sessionId": agent.SESSION}), agent.turn(),
    )  # fmt: skip
    async with running(make_agent(server.command, tmp_path)) as client:
        assert client.agent.title == "An agent 7.1"
        client.agent.prompt(Prompt(CHAT, "hi"))
        assert (await client.first(NoticeReceived)).text == SLOW
        client.notify("$/go")
        await client.until(lambda: client.ends == [TurnEnd.DONE])
        assert len(client.all(NoticeReceived)) == 1


async def test_a_refused_session_is_told_once(scripted_acp: PrepareScript, tmp_path: Path) -> None:
    refused = [*script.expect("session/new"), *script.fail("session/new", -32000, "Auth required")]
    server = scripted_acp(agent.handshake(), refused)
    async with running(make_agent(server.command, tmp_path)) as client:
        client.agent.open_chat(CHAT)
        client.agent.prompt(Prompt(CHAT, "hi"))
        assert (await client.first(LoginNeeded)).prompt == Prompt(CHAT, "hi")
        assert client.all(NoticeReceived) == []
        assert not client.ends
