"""Stops, and requests for permission: each has one answer."""

from pathlib import Path

import pytest
from tests.agents.acp.acp_client import CHAT, AcpClient, make_agent, running
from tests.agents.acp.conftest import PrepareScript
from tests.support import acp_script as agent
from tests.support import script
from tests.support.servers import ScriptedServer
from tests.support.wire import Message

from eca_nvim.chat.vocabulary.effects import Prompt
from eca_nvim.chat.vocabulary.events import (
    ApprovalWithdrawn,
    NoticeReceived,
    SteerTaken,
    TextReceived,
    TitleChanged,
    ToolRequested,
)
from eca_nvim.chat.vocabulary.options import AbilitiesChanged, Ability
from eca_nvim.chat.vocabulary.states import TurnEnd
from eca_nvim.chat.vocabulary.turn_events import TurnBegan, TurnEnded

pytestmark = pytest.mark.anyio

STEER = "_session/steering"
CAN_STEER = agent.handshake(_meta={"steering": {"supported": True}})
"""As claude-agent-acp 0.101.0 and codex-acp 2.6.0 announce it."""
CANCELLED = {"outcome": {"outcome": "cancelled"}}


def selected(option: str) -> Message:
    return {"outcome": {"outcome": "selected", "optionId": option}}


def results(server: ScriptedServer) -> list[object]:
    return [answer.get("result", answer.get("error")) for answer in server.answers()]


async def asked(client: AcpClient, number: int = 1) -> ToolRequested:
    await client.until(lambda: len(client.all(ToolRequested)) >= number)
    return client.all(ToolRequested)[number - 1]


@pytest.mark.parametrize(
    ("choice", "answer"), [("o1", "o1"), ("o3", "o3"), ("o4", "o4"), (None, "o4"), ("odd", "o4")]
)
async def test_an_answer_is_one_of_the_agents(
    scripted_acp: PrepareScript, tmp_path: Path, choice: str | None, answer: str
) -> None:
    server = scripted_acp(agent.handshake(), agent.session(), agent.turn(agent.permission("t1")))
    async with running(make_agent(server.command, tmp_path)) as client:
        client.agent.prompt(Prompt(CHAT, "hi"))
        request = await asked(client)
        assert [it.id for it in request.choices] == ["o1", "o2", "o3", "o4"]
        for _ in "twice":
            client.agent.decide(CHAT, request.call.id, choice)
        await client.until(lambda: client.ends == [TurnEnd.DONE])
    assert results(server) == [selected(answer)]


async def test_the_first_prompt_is_the_title_until_the_agent_gives_one(
    scripted_acp: PrepareScript, tmp_path: Path
) -> None:
    named = agent.update("session_info_update", title="Greeting")
    server = scripted_acp(
        agent.handshake(), agent.session(), agent.turn(), agent.turn(), agent.turn(named)
    )
    async with running(make_agent(server.command, tmp_path)) as client:
        await client.say("hi\nthere")
        await client.say("again")
        assert client.all(TitleChanged) == [TitleChanged("hi there")]
        await client.say("more")
        assert client.all(TitleChanged)[1:] == [TitleChanged("Greeting")]


async def test_a_stop_answers_what_is_open_and_what_comes_before_the_end(
    scripted_acp: PrepareScript, tmp_path: Path
) -> None:
    server = scripted_acp(
        agent.handshake(), agent.session(),
        agent.turn(agent.permission("t1", 1), agent.permission("t2", 2), ends="cancelled"),
        agent.turn(agent.permission("t3", 3)),
    )  # fmt: skip
    async with running(make_agent(server.command, tmp_path)) as client:
        client.agent.prompt(Prompt(CHAT, "hi"))
        await asked(client)
        client.agent.stop(CHAT)
        await client.until(lambda: client.ends == [TurnEnd.STOPPED])
        assert len(client.all(ToolRequested)) == 1
        client.agent.prompt(Prompt(CHAT, "again"))
        client.agent.decide(CHAT, (await asked(client, 2)).call.id, "o1")
        await client.until(lambda: len(client.ends) == 2)
    assert results(server) == [CANCELLED, CANCELLED, selected("o1")]
    methods = [it.get("method") for it in server.received()]
    stop = methods.index("session/cancel")
    assert methods[stop + 1] is None, "the answer comes after the stop"
    assert len(server.received("session/cancel")) == 1


async def test_a_stop_that_is_ignored_is_sent_again_and_the_turn_can_be_left(
    scripted_acp: PrepareScript, tmp_path: Path
) -> None:
    end = script.answer(3, {"stopReason": "cancelled"})
    server = scripted_acp(
        agent.handshake(), agent.session(), script.expect("session/prompt"),
        script.expect("session/cancel"), script.expect("session/cancel"),
        script.expect("session/prompt"), end, agent.text("of the second"),
        script.reply("session/prompt", {"stopReason": "end_turn"}),
    )  # fmt: skip
    async with running(make_agent(server.command, tmp_path)) as client:
        client.agent.prompt(Prompt(CHAT, "first"))
        await client.first(TurnBegan)
        client.agent.stop(CHAT)
        client.agent.stop(CHAT)
        client.agent.prompt(Prompt(CHAT, "second"))
        await client.until(lambda: client.ends)
        assert client.ends == [TurnEnd.DONE]
        assert client.text == "of the second"


async def test_a_request_may_be_withdrawn(scripted_acp: PrepareScript, tmp_path: Path) -> None:
    server = scripted_acp(
        agent.handshake(), agent.session(), script.expect("session/prompt"),
        agent.permission("t1", 5, waits=False),
        script.send("$/cancel_request", {"requestId": 5}),
        script.send("$/cancel_request", {"requestId": "another"}),
        script.reply("session/prompt", {"stopReason": "end_turn"}),
    )  # fmt: skip
    async with running(make_agent(server.command, tmp_path)) as client:
        client.agent.prompt(Prompt(CHAT, "hi"))
        withdrawn = await client.first(ApprovalWithdrawn)
        assert withdrawn.call.id == (await asked(client)).call.id
        client.agent.decide(CHAT, withdrawn.call.id, "o1")
        await client.until(lambda: client.ends == [TurnEnd.DONE])
    [answer] = results(server)
    assert answer == {"code": -32800, "message": "the request was cancelled"}


async def test_a_second_request_about_a_call_closes_the_first(
    scripted_acp: PrepareScript, tmp_path: Path
) -> None:
    first = agent.permission("t1", 5, waits=False)
    server = scripted_acp(
        agent.handshake(), agent.session(), agent.turn(first, agent.permission("t1", 6))
    )
    async with running(make_agent(server.command, tmp_path)) as client:
        client.agent.prompt(Prompt(CHAT, "hi"))
        request = await asked(client, 2)
        client.agent.decide(CHAT, request.call.id, "o2")
        await client.until(lambda: client.ends == [TurnEnd.DONE])
    assert results(server) == [CANCELLED, selected("o2")]


async def test_a_request_that_is_open_at_the_end_is_answered(
    scripted_acp: PrepareScript, tmp_path: Path
) -> None:
    open_ = agent.permission("t1", 5, waits=False)
    server = scripted_acp(
        agent.handshake(), agent.session(), agent.turn(open_), agent.turn(agent.text("on"))
    )
    async with running(make_agent(server.command, tmp_path)) as client:
        await client.say("hi")
        await client.say("go on")
        assert client.all(TextReceived)
    assert results(server) == [CANCELLED]


async def test_an_error_after_a_stop_is_a_stop(scripted_acp: PrepareScript, tmp_path: Path) -> None:
    server = scripted_acp(
        agent.handshake(), agent.session(), script.expect("session/prompt"),
        script.expect("session/cancel"), script.fail("session/prompt", -32603, "aborted"),
    )  # fmt: skip
    async with running(make_agent(server.command, tmp_path)) as client:
        client.agent.prompt(Prompt(CHAT, "first"))
        await client.first(TurnBegan)
        client.agent.stop(CHAT)
        await client.until(lambda: client.ends)
        [end] = client.all(TurnEnded)
        assert end == TurnEnded(TurnEnd.STOPPED, "the prompt failed: aborted")


async def test_a_message_steers_the_turn_of_an_agent_that_announces_it(
    scripted_acp: PrepareScript, tmp_path: Path
) -> None:
    injects = [*script.expect(STEER), *script.reply(STEER, {"outcome": "injected"})]
    server = scripted_acp(
        CAN_STEER, agent.session(), agent.turn(agent.text("long"), injects, agent.text("short"))
    )
    async with running(make_agent(server.command, tmp_path)) as client:
        assert Ability.STEER in (await client.first(AbilitiesChanged)).abilities
        client.prompt("hi")
        for _ in "twice":  # as the chat does that withdraws another message
            client.agent.steer(CHAT, "be brief")
        await client.until(lambda: client.ends == [TurnEnd.DONE])
        assert client.all(SteerTaken) == [SteerTaken("be brief")]
    [sent] = server.received(STEER)
    assert sent["params"] == {
        "sessionId": agent.SESSION,
        "prompt": [{"type": "text", "text": "be brief"}],
        "_meta": {"steering": {"idleBehavior": "promptRequired"}},
    }


@pytest.mark.parametrize("outcome", ["promptRequired", "failed", "of tomorrow", None])
async def test_a_turn_ends_when_its_messages_are_answered_and_what_was_not_taken_is_not(
    scripted_acp: PrepareScript, tmp_path: Path, outcome: str | None
) -> None:
    """The end of the turn makes a prompt of what the agent has not taken."""
    refusal = script.fail(STEER, -32603, "no images")
    server = scripted_acp(
        CAN_STEER, agent.session(), agent.turn(script.expect(STEER)),
        agent.text("between"), script.reply(STEER, {"outcome": outcome}) if outcome else refusal,
    )  # fmt: skip
    async with running(make_agent(server.command, tmp_path)) as client:
        client.prompt("hi")
        await client.first(TurnBegan)
        client.agent.steer(CHAT, "be brief")
        await client.until(lambda: client.ends == [TurnEnd.DONE])
        assert client.text == "between", "it came before the end"
        assert client.all(SteerTaken) == []
        told = ["your prompt waits for the turn's end: no images"] if outcome is None else []
        assert [it.text for it in client.all(NoticeReceived)] == told


async def test_a_message_that_is_never_answered_holds_no_turn_once_the_user_has_stopped(
    scripted_acp: PrepareScript, tmp_path: Path
) -> None:
    late = script.answer(4, {"outcome": "injected"})
    server = scripted_acp(
        CAN_STEER, agent.session(), agent.turn(script.expect(STEER)), agent.text("answered"),
        script.expect("session/cancel"), agent.turn(script.expect(STEER)),
        script.reply(STEER, {"outcome": "injected"}), agent.turn(), late,
        agent.text(", late"),
    )  # fmt: skip
    async with running(make_agent(server.command, tmp_path)) as client:
        client.prompt("hi")
        await client.first(TurnBegan)
        client.agent.steer(CHAT, "be brief")
        await client.until(lambda: client.text == "answered")
        assert client.ends == []
        client.agent.stop(CHAT)
        assert client.ends == [TurnEnd.DONE]
        client.prompt("again")
        client.agent.steer(CHAT, "be brief")
        await client.until(lambda: len(client.ends) == 2)
        assert client.all(SteerTaken) == [SteerTaken("be brief")]
        await client.say("more")
        await client.until(lambda: client.text == "answered, late")
        assert len(client.all(SteerTaken)) == 1


async def test_an_agent_that_does_not_announce_it_is_not_steered(
    scripted_acp: PrepareScript, tmp_path: Path
) -> None:
    server = scripted_acp(agent.handshake(), agent.session(), agent.turn())
    async with running(make_agent(server.command, tmp_path)) as client:
        assert Ability.STEER not in (await client.first(AbilitiesChanged)).abilities
