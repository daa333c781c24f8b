"""What the server gets when the user does something."""

from pathlib import Path

import pytest
from tests.agents.client import Client, make_agent, running
from tests.support import script
from tests.support.factories import PrepareScript
from tests.support.screen import Value
from tests.support.servers import ScriptedServer

from eca_nvim.agents.eca.contents import ALWAYS_ID
from eca_nvim.agents.eca.prompts import Selection
from eca_nvim.agents.eca.turns import REFUSED
from eca_nvim.chat.vocabulary.contexts import FileContext, TextContext
from eca_nvim.chat.vocabulary.effects import Prompt
from eca_nvim.chat.vocabulary.events import Addressed, NoticeReceived, TextReceived
from eca_nvim.chat.vocabulary.requests import ALLOW, REJECT
from eca_nvim.chat.vocabulary.states import TurnEnd
from eca_nvim.chat.vocabulary.turn_events import LoginBegan, TurnBegan, TurnEnded

pytestmark = pytest.mark.anyio

PLAIN = Selection()
CHOSEN = Selection("m", "plan", "high", trust=True)


def answers(client: Client) -> list[TurnBegan | TurnEnded]:
    """Return what was said of turns: the answer to a prompt at least begins or ends one."""
    return [*client.all(TurnBegan), *client.all(TurnEnded)]


async def prompted(client: Client, selection: Selection = PLAIN) -> None:
    """Send a prompt and wait for what its answer says."""
    await client.until(client.ready.is_set)
    before = len(answers(client))
    client.choose("our-1", selection)
    client.agent.prompt(Prompt("our-1", "hello"))
    await client.until(lambda: len(answers(client)) > before)


def sent(server: ScriptedServer, method: str) -> list[Value]:
    """Return the parameters of all messages of one method."""
    return [message["params"] for message in server.received(method)]


async def test_a_prompt_carries_the_whole_selection(
    scripted_server: PrepareScript, tmp_path: Path
) -> None:
    server = scripted_server(script.handshake(), script.turn())
    contexts = (FileContext("/a b", 1, 2), TextContext("*term*", "out"))
    async with running(make_agent(server.command, tmp_path)) as client:
        await client.until(client.ready.is_set)
        client.choose("our-1", CHOSEN)
        client.agent.prompt(Prompt("our-1", "hello\n", contexts))
        await client.until(lambda: "chat/prompt" in client.heard)
    assert sent(server, "chat/prompt") == [
        {
            "chatId": "our-1",
            "message": "hello\n",
            "model": "m",
            "agent": "plan",
            "behavior": "plan",
            "variant": "high",
            "trust": True,
            "contexts": [
                {"type": "file", "path": "/a b", "linesRange": {"start": 1, "end": 2}},
                {"type": "text", "label": "*term*", "content": "out"},
            ],
        }
    ]


async def test_what_is_not_chosen_is_left_to_the_server(
    scripted_server: PrepareScript, tmp_path: Path
) -> None:
    server = scripted_server(script.handshake(), script.turn())
    async with running(make_agent(server.command, tmp_path)) as client:
        await prompted(client, Selection("", "", ""))
    [params] = sent(server, "chat/prompt")
    assert params == {"chatId": "our-1", "message": "hello", "trust": False}


async def test_what_config_answers_is_shown_without_keys(
    scripted_server: PrepareScript, tmp_path: Path
) -> None:
    """The server prints its configuration with what is to be secret in it; other text stays."""
    printed = '{:key "k1",\n :url "u"}'
    said = [
        *script.text("/config\n", role="user"),
        *script.text(printed, role="system"),
        *script.text(printed),
        *script.text("show it\n", role="user"),
        *script.text(printed, printed, role="system"),
    ]
    server = scripted_server(script.handshake(), script.turn(said))
    async with running(make_agent(server.command, tmp_path)) as client:
        await prompted(client)
        await client.until(lambda: len(client.all(TextReceived)) == 7)
        texts = [it.text for it in client.all(TextReceived)][1:]
    hidden = '{:key "[hidden]",\n :url "u"}'
    assert texts == ["/config\n", hidden, printed, "show it\n", printed, printed]


async def test_odd_text_arrives(scripted_server: PrepareScript, tmp_path: Path) -> None:
    odd = "日本 👩‍👧 \u2028 \x00 \x1b[31m \udcff"
    server = scripted_server(script.handshake(), script.turn())
    async with running(make_agent(server.command, tmp_path)) as client:
        await client.until(client.ready.is_set)
        client.agent.prompt(Prompt("our-1", odd))
        await client.until(lambda: "chat/prompt" in client.heard)
    assert sent(server, "chat/prompt")[0]["message"] == odd


async def test_words_of_the_turn(scripted_server: PrepareScript, tmp_path: Path) -> None:
    server = scripted_server(script.handshake(), script.turn(script.expect("chat/promptStop")))
    async with running(make_agent(server.command, tmp_path)) as client:
        await prompted(client)
        client.agent.steer("our-1", "faster")
        client.agent.unsteer("our-1")
        client.agent.decide("our-1", "t-1", ALLOW.id)
        client.agent.decide("our-1", "t-2", ALWAYS_ID)
        client.agent.decide("our-1", "t-3", REJECT.id)
        client.agent.stop("our-1")
        await client.until(lambda: client.all(TurnEnded))
    chat = {"chatId": "our-1"}
    assert [(it["method"], it["params"]) for it in server.received()[3:9]] == [
        ("chat/promptSteer", {**chat, "message": "faster"}),
        ("chat/promptSteerRemove", chat),
        ("chat/toolCallApprove", {**chat, "toolCallId": "t-1"}),
        ("chat/toolCallApprove", {**chat, "toolCallId": "t-2", "save": "session"}),
        ("chat/toolCallReject", {**chat, "toolCallId": "t-3"}),
        ("chat/promptStop", chat),
    ]


async def test_a_login_is_given_its_words_alone(
    scripted_server: PrepareScript, tmp_path: Path
) -> None:
    key = "/sk-1 @src/a.py:1-2"
    login = [*script.expect("chat/prompt"), *script.reply("chat/prompt", {"status": "login"})]
    server = scripted_server(script.handshake(), script.turn(), login, login)
    async with running(make_agent(server.command, tmp_path)) as client:
        await client.until(client.ready.is_set)
        client.prefer("our-1", Selection("", "", ""))
        client.agent.prompt(Prompt("our-1", "/login", (FileContext("/a.py", token="@a.py"),)))
        await client.until(lambda: "chat/prompt" in client.heard)
        client.agent.answer_login("our-1", key)
        client.agent.answer_login("our-1", None)
        await client.until(lambda: len(server.received("chat/prompt")) == 3)
        assert not client.all(LoginBegan), "it says so itself"
    assert sent(server, "chat/prompt")[1:] == [
        {"chatId": "our-1", "message": key, "trust": False},
        {"chatId": "our-1", "message": "cancel", "trust": False},
    ]


async def test_an_answer_names_the_model(scripted_server: PrepareScript, tmp_path: Path) -> None:
    server = scripted_server(script.handshake(), script.turn())
    async with running(make_agent(server.command, tmp_path)) as client:
        await prompted(client)
        assert client.selection("our-1").model == script.MODEL


@pytest.mark.parametrize(
    ("answer", "ours"),
    [
        (
            script.fail("chat/prompt", -32603, "Internal\n  error"),
            TurnEnded(TurnEnd.FAILED, "chat/prompt failed: Internal error; :Eca log may say why"),
        ),
        (
            script.fail("chat/prompt", -32601, "?"),
            TurnEnded(TurnEnd.FAILED, "this server does not know chat/prompt"),
        ),
        (
            script.reply("chat/prompt", {"model": "error", "status": "error"}),
            TurnEnded(TurnEnd.FAILED, "the server refused the prompt without a reason"),
        ),
        (
            script.reply("chat/prompt", {"status": "connection-error", "resultMessage": "No net"}),
            TurnEnded(TurnEnd.FAILED, "No net"),
        ),
        (script.reply("chat/prompt", {"status": "idle"}), TurnBegan()),
        (script.reply("chat/prompt", ["?"]), TurnBegan()),
    ],
)
async def test_a_prompt_may_be_refused(
    answer: script.Steps,
    ours: TurnBegan | TurnEnded,
    scripted_server: PrepareScript,
    tmp_path: Path,
) -> None:
    server = scripted_server(script.handshake(), script.expect("chat/prompt"), answer)
    async with running(make_agent(server.command, tmp_path)) as client:
        await prompted(client)
    assert answers(client) == [ours]


async def test_an_error_told_in_the_chat_is_not_told_twice(
    scripted_server: PrepareScript, tmp_path: Path
) -> None:
    said = script.text("Error: no model", role="system")
    refusal = script.reply("chat/prompt", {"model": "error", "status": "error"})
    server = scripted_server(script.handshake(), script.expect("chat/prompt"), said, refusal)
    async with running(make_agent(server.command, tmp_path)) as client:
        await prompted(client)
    assert client.all(TurnEnded) == [TurnEnded(TurnEnd.FAILED, REFUSED)]
    assert client.all(TextReceived)[0].text == "Error: no model"


class TestChoosing:
    """A choice is sent when the server can keep it."""

    async def test_a_chat_that_was_never_prompted_waits(
        self, scripted_server: PrepareScript, tmp_path: Path
    ) -> None:
        server = scripted_server(script.handshake())
        async with running(make_agent(server.command, tmp_path)) as client:
            await client.until(client.ready.is_set)
            client.choose("our-1", CHOSEN)
        assert [it["method"] for it in server.received()] == [
            *("initialize", "initialized", "shutdown", "exit")
        ]

    async def test_only_what_changed_is_told(
        self, scripted_server: PrepareScript, tmp_path: Path
    ) -> None:
        server = scripted_server(script.handshake(), script.turn())
        async with running(make_agent(server.command, tmp_path)) as client:
            await prompted(client, Selection("m", "code"))
            client.choose("our-1", Selection("m", "code"))
            client.choose("our-1", Selection("m", "plan"))
            client.choose("our-1", Selection("n", "plan"))
            client.choose("our-1", Selection("n", "plan", "low"))
        chat = {"chatId": "our-1"}
        assert sent(server, "chat/selectedAgentChanged") == [{**chat, "agent": "plan"}]
        assert sent(server, "chat/selectedModelChanged") == [
            {**chat, "model": "n"},
            {**chat, "model": "n", "variant": "low"},
        ]
        assert server.received("chat/update") == []

    async def test_an_older_server_hears_of_behaviors(
        self, scripted_server: PrepareScript, tmp_path: Path
    ) -> None:
        answer = {"models": ["m"], "chatBehaviors": ["agent", "plan"]}
        old = [*script.expect("initialize"), *script.reply("initialize", answer)]
        server = scripted_server(old, script.turn())
        async with running(make_agent(server.command, tmp_path)) as client:
            await prompted(client)
            client.choose("our-1", Selection(agent="plan"))
        assert sent(server, "chat/selectedBehaviorChanged") == [{"behavior": "plan"}]
        assert server.received("chat/selectedAgentChanged") == []

    async def test_trust_holds_at_once(
        self, scripted_server: PrepareScript, tmp_path: Path
    ) -> None:
        update = [*script.expect("chat/update"), *script.reply("chat/update", {})]
        server = scripted_server(script.handshake(), script.turn(), update)
        async with running(make_agent(server.command, tmp_path)) as client:
            await prompted(client)
            client.choose("our-1", Selection(trust=True))
        assert sent(server, "chat/update") == [{"chatId": "our-1", "trust": True}]
        assert client.all(NoticeReceived) == []

    async def test_a_feature_that_is_absent_is_said_once(
        self, scripted_server: PrepareScript, tmp_path: Path
    ) -> None:
        unknown = [*script.expect("chat/update"), *script.fail("chat/update", -32601, "?")]
        server = scripted_server(script.handshake(), script.turn(), unknown)
        async with running(make_agent(server.command, tmp_path)) as client:
            await prompted(client)
            client.choose("our-1", Selection(trust=True))
            notice = await client.first(NoticeReceived)
            client.choose("our-1", Selection(trust=False))
        assert (
            notice.text
            == "this server does not know chat/update; trust is sent with the next prompt"
        )
        assert not notice.is_error
        assert len(server.received("chat/update")) == 1

    async def test_a_failed_update_is_told(
        self, scripted_server: PrepareScript, tmp_path: Path
    ) -> None:
        failing = [*script.expect("chat/update"), *script.fail("chat/update", "busy", "Later")]
        server = scripted_server(script.handshake(), script.turn(), failing)
        async with running(make_agent(server.command, tmp_path)) as client:
            await prompted(client)
            client.choose("our-1", Selection(trust=True))
            notice = await client.first(NoticeReceived)
        assert notice == NoticeReceived("chat/update failed: Later", is_error=True)


async def test_a_chat_id_of_the_server_is_used_towards_it(
    scripted_server: PrepareScript, tmp_path: Path
) -> None:
    minted = {"chatId": "minted", "role": "system", "content": {"type": "text", "text": "Hi"}}
    answer = {"chatId": "minted", "model": "m", "status": "prompting"}
    server = scripted_server(
        script.handshake(),
        script.expect("chat/prompt"),
        script.send("chat/contentReceived", minted),
        script.reply("chat/prompt", answer),
        script.expect("chat/promptStop"),
        script.send("chat/statusChanged", {"chatId": "minted", "status": "idle"}),
    )
    async with running(make_agent(server.command, tmp_path)) as client:
        await prompted(client)
        client.agent.stop("our-1")
        await client.until(lambda: client.all(TurnEnded))
    assert sent(server, "chat/promptStop") == [{"chatId": "minted"}]
    assert {it.chat_id for it in client.events if isinstance(it, Addressed)} == {"our-1"}


async def test_a_chat_that_is_forgotten_leaves_nothing_behind(
    scripted_server: PrepareScript, tmp_path: Path
) -> None:
    """Neither what was sent nor lines about it; a late answer is no fault."""
    large = tmp_path / "large"
    large.write_text("x" * 1_000_001)
    asked = Prompt("our-1", "hello", (FileContext(str(large)),))
    server = scripted_server(script.handshake(), script.turn(), script.turn())
    async with running(make_agent(server.command, tmp_path)) as client:
        await client.until(client.ready.is_set)
        for number in (1, 2):
            client.agent.prompt(asked)
            client.agent.forget("our-1")
            await client.until(lambda: len(client.all(TurnEnded)) == number)  # noqa: B023
        outbox = client.agent._running.outbox
        assert (outbox._sent, outbox._mentions._chats) == ({}, {})
    assert len(client.all(NoticeReceived)) == 2


async def test_a_question_in_place_goes_to_an_inline_chat(
    scripted_server: PrepareScript, tmp_path: Path
) -> None:
    method = "chat/inlinePrompt"
    prompting = {"chatId": "$chat", "model": "m", "status": "prompting"}
    told = [*script.send("chat/opened", {"chatId": "$chat", "title": "inline: why?"})]
    told += [*script.status("running"), *script.text("So.")]
    ends = [*script.reply(method, prompting), *script.status("idle"), *script.progress("finished")]
    server = scripted_server(script.handshake(), script.expect(method), told, ends)
    async with running(make_agent(server.command, tmp_path)) as client:
        await client.until(client.ready.is_set)
        client.choose("our-1", CHOSEN)
        client.agent.prompt_in_place(Prompt("our-1", "why?", (FileContext("/a", 1, 2),)))
        await client.until(lambda: client.all(TurnEnded))
    [params] = sent(server, method)
    assert params["contexts"][0]["path"] == "/a"
    named = {key: value for key, value in params.items() if key != "contexts"}
    assert named == {"chatId": "our-1", "message": "why?", "agent": "plan"}
    assert not server.received("chat/prompt")


async def test_a_server_without_inline_chats_is_prompted_and_asked_once(
    scripted_server: PrepareScript, tmp_path: Path
) -> None:
    method = "chat/inlinePrompt"
    unknown = [*script.expect(method), *script.fail(method, -32601, "unknown")]
    server = scripted_server(script.handshake(), unknown, script.turn(), script.turn())
    contexts = (TextContext("*term*", "out"),)
    async with running(make_agent(server.command, tmp_path)) as client:
        await client.until(client.ready.is_set)
        for count in (1, 2):
            client.agent.prompt_in_place(Prompt("our-1", "why?", contexts))
            await client.until(lambda: len(client.all(TurnEnded)) == count)  # noqa: B023 - at once
    assert [it["message"] for it in sent(server, "chat/prompt")] == ["why?", "why?"]
    assert sent(server, "chat/prompt")[0]["contexts"]
    assert len(sent(server, method)) == 1
