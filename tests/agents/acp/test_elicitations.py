"""Elicitations of ACP agents on the wire: every one gets its answer, in every way it can end."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio
import pytest
from tests.agents.acp.acp_client import CHAT, AcpClient, make_agent, running
from tests.agents.acp.conftest import PrepareScript
from tests.support import acp_script as agent
from tests.support import script
from tests.support.script import Steps
from tests.support.servers import ScriptedServer

from eca_nvim.agents.acp.requests.forms import MOST_LINK, MOST_OPEN
from eca_nvim.chat.vocabulary.effects import Prompt
from eca_nvim.chat.vocabulary.events import (
    Addressed,
    NoticeReceived,
    QuestionAsked,
    QuestionClosed,
)

pytestmark = pytest.mark.anyio

FORM: dict[str, Any] = {
    "mode": "form",
    "message": "Which?",
    "requestedSchema": {"type": "object", "properties": {"n": {"type": "integer"}}},
}
LINK: dict[str, Any] = {
    "mode": "url",
    "message": "Sign in",
    "elicitationId": "e1",
    "url": "https://a.example/",
}
IN_SESSION = {"sessionId": agent.SESSION}
COMPLETE = script.send("elicitation/complete", {"elicitationId": "e1"})


def asks(number: int, params: dict[str, Any], *, waits: bool = True) -> Steps:
    """Ask in the session unless it says where."""
    where = {} if "requestId" in params else IN_SESSION
    send = script.ask if waits else script.request
    return send("elicitation/create", where | params, number)


def prepare(scripted_acp: PrepareScript, *steps: Steps) -> ScriptedServer:
    return scripted_acp(agent.handshake(), agent.session(), agent.turn(*steps))


async def asked(client: AcpClient, count: int = 1) -> Sequence[QuestionAsked]:
    """Prompt, and return the questions once they were asked."""
    client.agent.prompt(Prompt(CHAT, "go"))
    await client.until(lambda: len(client.all(QuestionAsked)) >= count)
    return client.all(QuestionAsked)


def results(server: ScriptedServer) -> list[Any]:
    """Return the answers that the agent got, errors by their codes."""
    return [it.get("result") or it["error"]["code"] for it in server.answers()]


async def test_forms_and_links_get_the_answers_of_the_user(
    scripted_acp: PrepareScript, tmp_path: Path
) -> None:
    server = prepare(
        scripted_acp,
        *(asks(number, FORM, waits=False) for number in (1, 2, 3)),
        *(asks(number, LINK, waits=False) for number in (4, 5)),
        script.expect("x/all"),
        COMPLETE,
        COMPLETE,
    )
    async with running(make_agent(server.command, tmp_path)) as client:
        form, declined, cancelled, link, refused = await asked(client, 5)
        assert form.form is not None
        assert (form.question, [it.name for it in form.form]) == ("Which?", ["n"])
        assert (link.question, link.link) == ("Sign in", "https://a.example/")
        client.agent.answer_form(form.id, {"n": 3})
        client.agent.answer_form(form.id, {"n": 4})
        client.agent.answer_form(declined.id, None)
        client.agent.answer(cancelled.id, None)
        client.agent.answer_form(link.id, {})
        client.agent.answer_form(refused.id, None)
        client.notify("x/all")
        await client.until(lambda: client.ends)
        assert client.all(QuestionClosed) == [QuestionClosed(link.id, is_done=True)]
    assert results(server) == [
        {"action": "accept", "content": {"n": 3}},
        {"action": "decline"},
        {"action": "cancel"},
        {"action": "accept"},
        {"action": "decline"},
    ]


async def test_what_cannot_be_asked_is_declined_with_a_line(
    scripted_acp: PrepareScript, tmp_path: Path
) -> None:
    strange: dict[str, Any] = {"properties": {"o": {"type": "object"}}, "required": ["o"]}
    links = ("javascript:alert(1)", "file:///etc/passwd", "https://", "http://[", "no", "",
             "https://a.example/\x1b[2J", "https://bänk.example/", "https://a.example/ b",
             r"https://evil.example\@bank.example/",
             f"https://a.example/{'x' * MOST_LINK}")  # fmt: skip
    bad = [LINK | {"url": url} for url in links]
    bad += [
        FORM | {"requestedSchema": strange},
        FORM | {"requestedSchema": 7},
        FORM | {"mode": "_fax"},
    ]
    server = prepare(scripted_acp, *(asks(number, it) for number, it in enumerate(bad, 1)))
    async with running(make_agent(server.command, tmp_path)) as client:
        await client.say("go")
        notices = client.all(NoticeReceived)
        assert client.all(QuestionAsked) == []
    assert results(server) == [{"action": "decline"}] * len(bad)
    assert len(notices) == len(bad)
    assert all(it.text.isprintable() and "declined: it" in it.text for it in notices)


async def test_an_optional_field_of_an_unknown_type_is_left_out(
    scripted_acp: PrepareScript, tmp_path: Path
) -> None:
    schema = {"properties": {"o": {"type": "object"}, "n": {"type": "integer"}}}
    server = prepare(scripted_acp, asks(1, FORM | {"requestedSchema": schema}))
    async with running(make_agent(server.command, tmp_path)) as client:
        [form] = await asked(client)
        assert [it.text for it in client.all(NoticeReceived)] == [
            "The agent's form is asked without 'o'."
        ]
        client.agent.answer_form(form.id, {})
        await client.until(lambda: client.ends)
    assert results(server) == [{"action": "accept", "content": {}}]


async def test_a_stop_and_the_end_of_the_turn_cancel(
    scripted_acp: PrepareScript, tmp_path: Path
) -> None:
    stopped = [*asks(1, FORM), *script.expect("session/cancel"), *asks(2, FORM)]
    server = scripted_acp(
        *(agent.handshake(), agent.session(), agent.turn(stopped)),
        agent.turn(asks(3, LINK, waits=False)),
    )
    async with running(make_agent(server.command, tmp_path)) as client:
        await asked(client)
        client.agent.stop(CHAT)
        await client.until(lambda: client.ends)
        await client.say("again")
        closed = {it.id for it in client.all(QuestionClosed)}
        assert closed == {it.id for it in client.all(QuestionAsked)}
    assert results(server) == [{"action": "cancel"}] * 3


async def test_one_that_is_withdrawn_or_completed_elsewhere_leaves(
    scripted_acp: PrepareScript, tmp_path: Path
) -> None:
    server = prepare(
        scripted_acp,
        *(asks(1, FORM, waits=False), asks(2, LINK, waits=False)),
        script.send("$/cancel_request", {"requestId": 1}),
        COMPLETE,
    )
    async with running(make_agent(server.command, tmp_path)) as client:
        form, link = await asked(client, 2)
        await client.until(lambda: client.ends)
        closed = client.all(QuestionClosed)
        assert closed == [QuestionClosed(form.id), QuestionClosed(link.id, is_done=True)]
        client.agent.answer_form(form.id, {"n": 3})
    assert results(server) == [-32800, {"action": "cancel"}], "the user has not opened the link"


async def test_a_form_is_completed_by_the_user_alone(
    scripted_acp: PrepareScript, tmp_path: Path
) -> None:
    server = prepare(scripted_acp, asks(1, FORM | {"elicitationId": "e1"}, waits=False), COMPLETE)
    async with running(make_agent(server.command, tmp_path)) as client:
        await asked(client)
        await client.until(lambda: client.ends)
        assert [it.is_done for it in client.all(QuestionClosed)] == [False]
    assert results(server) == [{"action": "cancel"}]


async def test_one_about_no_session_is_answered_even_before_the_agent_is_ready(
    scripted_acp: PrepareScript, tmp_path: Path
) -> None:
    early = [*script.expect("initialize"), *asks(1, FORM | {"requestId": 1})]
    server = scripted_acp(early, script.reply("initialize", {"protocolVersion": 1}))
    client = AcpClient(make_agent(server.command, tmp_path))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(client.run)
        await client.until(lambda: client.all(QuestionAsked))
        [question] = client.all(QuestionAsked)
        client.agent.answer_form(question.id, {"n": 1})
        await client.until(client.ready.is_set)
        await client.agent.close()
    assert Addressed(None, question) in client.events
    assert results(server) == [{"action": "accept", "content": {"n": 1}}]


async def test_a_chat_that_is_forgotten_leaves_no_request_open(
    scripted_acp: PrepareScript, tmp_path: Path
) -> None:
    server = prepare(scripted_acp, asks(1, FORM))
    async with running(make_agent(server.command, tmp_path)) as client:
        await asked(client)
        client.agent.forget(CHAT)
    assert results(server) == [{"action": "cancel"}]


async def test_open_questions_are_bounded(scripted_acp: PrepareScript, tmp_path: Path) -> None:
    count = MOST_OPEN + 10
    steps = [asks(number, FORM, waits=False) for number in range(1, count + 1)]
    server = prepare(scripted_acp, *steps)
    async with running(make_agent(server.command, tmp_path)) as client:
        await client.say("go")
        assert len(client.all(QuestionAsked)) == MOST_OPEN
    assert results(server) == [{"action": "cancel"}] * count
