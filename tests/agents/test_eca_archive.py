"""The chats that a server keeps, over a connection."""

from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
from tests.agents.client import Client, make_agent, running
from tests.support import script
from tests.support.factories import PrepareScript
from tests.support.screen import Value
from tests.support.servers import ScriptedServer

from eca_nvim.agents import recap
from eca_nvim.agents.abilities import (
    AgentLacks,
    AgentRefused,
    Archive,
    ChatSummary,
    ChatUnknown,
    CursorExpired,
)
from eca_nvim.agents.eca import server as server_module
from eca_nvim.agents.eca.prompts import Selection
from eca_nvim.chat.user_actions.earlier_messages import Page
from eca_nvim.chat.vocabulary.contexts import FileContext
from eca_nvim.chat.vocabulary.effects import Prompt
from eca_nvim.chat.vocabulary.events import (
    Addressed,
    ChatCleared,
    ChatOpened,
    FlagReceived,
    NoticeReceived,
    Role,
    TextReceived,
    ToolRejected,
)
from eca_nvim.chat.vocabulary.options import ALL_ABILITIES, AbilitiesChanged, Ability
from eca_nvim.protocol.eca import Request, chats

pytestmark = pytest.mark.anyio

CHAT = "our-1"


def user(text: str, content_id: str, chat: str = "$chat") -> Value:
    """Make a user's message as it is replayed."""
    content = {"type": "text", "text": f"\n{text}", "contentId": content_id}
    return {"chatId": chat, "role": "user", "content": content}


def flag(text: str, content_id: str) -> Value:
    """Make a bookmark as it is replayed."""
    content = {"type": "flag", "text": text, "contentId": content_id}
    return {"chatId": "$chat", "role": "system", "content": content}


def replayed(*contents: Value) -> script.Steps:
    """Send contents after the word that clears the chat."""
    steps = script.send("chat/cleared", {"chatId": "$chat", "messages": True})
    for content in contents:
        steps += script.send("chat/contentReceived", content)
    return steps


def served(method: str, *steps: script.Steps, answer: Value = None) -> list[script.Steps]:
    """Answer a request after some steps."""
    said = [step for part in steps for step in part]
    return [script.handshake(), script.expect(method), said, script.reply(method, answer or {})]


async def asked(
    server: ScriptedServer, folder: Path, ask: Callable[[Archive], Coroutine[Any, Any, Value]]
) -> tuple[Value, Client]:
    """Ask the archive of a server that is ready for something."""
    async with running(make_agent(server.command, folder)) as client:
        await client.until(client.ready.is_set)
        return await ask(client.agent.archive), client


async def refused(
    server: ScriptedServer, folder: Path, ask: Callable[[Archive], Coroutine[Any, Any, Value]]
) -> AgentRefused:
    """Ask for something that cannot be, and return what is raised."""

    async def attempt(archive: Archive) -> AgentRefused:
        with pytest.raises(AgentRefused) as raised:
            await ask(archive)
        return raised.value

    fault, _ = await asked(server, folder, attempt)
    assert isinstance(fault, AgentRefused)
    return fault


async def test_chats_are_listed(scripted_server: PrepareScript, tmp_path: Path) -> None:
    told = [
        {"id": "a", "title": "Fix", "status": "running", "messageCount": 3, "updatedAt": 7},
        {"id": "b", "title": None, "status": "idle", "messageCount": 0, "createdAt": 5},
        {"id": "c"},
        {"id": "d", "kind": "inline"},
    ]
    server = scripted_server(*served("chat/list", answer={"chats": told}))
    chats, _ = await asked(server, tmp_path, lambda it: it.list_chats(9))
    assert chats == [
        ChatSummary("a", "Fix", None, 3, None, 7, running=True),
        ChatSummary("b", None, None, 0, 5, None, running=False),
        ChatSummary("c"),
    ]
    assert server.received("chat/list")[0]["params"] == {"limit": 9}


async def test_a_chat_is_opened(scripted_server: PrepareScript, tmp_path: Path) -> None:
    answer = {
        "found": True,
        "title": "Fix",
        "selection": {
            "model": None,
            "agent": "plan",
            "variant": None,
            "variants": [],
            "trust": True,
        },
        "meta": {"total": 9, "returned": 2, "beforeCursor": "older", "afterCursor": None},
    }
    opened = script.send("chat/opened", {"chatId": "$chat", "title": "Fix"})
    steps = served("chat/open", replayed(user("hi", "u1")), opened, answer=answer)
    server = scripted_server(*steps)
    chat, client = await asked(server, tmp_path, lambda it: it.open_chat(CHAT, 2))
    assert chat.page == Page(
        [
            Addressed(CHAT, ChatCleared()),
            Addressed(CHAT, TextReceived(Role.USER, "\nhi", "u1")),
            Addressed(CHAT, ChatOpened("Fix")),
        ],
        older="older",
        total=9,
        returned=2,
    )
    assert chat.title == "Fix"
    assert client.selection(CHAT).agent == "plan"
    assert not client.all(TextReceived)


async def test_what_a_resumed_chat_names_is_named_in_the_message(
    scripted_server: PrepareScript, tmp_path: Path
) -> None:
    """Its first prompt, whose contexts the server reads, was in an earlier session."""
    steps = served("chat/open", answer={"found": True})
    server = scripted_server(*steps, script.turn())
    async with running(make_agent(server.command, tmp_path)) as client:
        await client.until(client.ready.is_set)
        await client.agent.archive.open_chat(CHAT)
        client.agent.prompt(Prompt(CHAT, "see @a", (FileContext("/w/a", token="@a"),)))
        await client.until(lambda: "chat/prompt" in client.heard)
    [params] = [it["params"] for it in server.received("chat/prompt")]
    assert params["message"] == "see @a\n<contexts>\n@/w/a\n</contexts>"
    assert "contexts" not in params


async def test_a_resumed_chat_can_be_told_of_a_choice(
    scripted_server: PrepareScript, tmp_path: Path
) -> None:
    server = scripted_server(*served("chat/open", answer={"found": True}))
    async with running(make_agent(server.command, tmp_path)) as client:
        await client.until(client.ready.is_set)
        await client.agent.archive.open_chat(CHAT)
        client.choose(CHAT, Selection(model="m"))
    [message] = server.received("chat/selectedModelChanged")
    assert message["params"] == {"chatId": CHAT, "model": "m"}


@pytest.mark.parametrize("cursor", [None, ""])
async def test_a_page_of_the_history(
    cursor: str | None, scripted_server: PrepareScript, tmp_path: Path
) -> None:
    told = f"{recap.wrap('## User')}\n\nyo"
    contents = [user("hi <x>", "u1", CHAT), user(told, "u2", CHAT)]
    meta = {"total": 9, "returned": 2, "beforeCursor": cursor}
    steps = served("chat/history", answer={"contents": contents, "meta": meta})
    server = scripted_server(*steps)
    page, _ = await asked(server, tmp_path, lambda it: it.history(CHAT, "cursor", 2))
    events = [
        TextReceived(Role.USER, "\nhi <x>", "u1"),
        NoticeReceived("## User", title=recap.HEADING),
        TextReceived(Role.USER, "yo", "u2"),
    ]
    assert page == Page([Addressed(CHAT, it) for it in events], None, 9, 2)
    params = {"chatId": CHAT, "before": "cursor", "limit": 2}
    assert server.received("chat/history")[0]["params"] == params


FAULTS = [
    (script.fail("chat/history", "cursor_expired", "gone"), CursorExpired, "gone"),
    (script.fail("chat/history", "chat_not_found", "no\nchat"), ChatUnknown, "no chat"),
    (script.fail("chat/history", -32603, "Internal"), AgentRefused, "Internal"),
    (script.fail("chat/history", -32601, "?"), AgentLacks, "does not know chat/history"),
    (
        script.reply("chat/history", {"error": {"code": "cursor_expired", "message": "gone"}}),
        CursorExpired,
        "gone",
    ),
    (script.reply("chat/history", ["?"]), AgentRefused, "is malformed"),
    (script.leave(3), AgentRefused, "gone"),
]


@pytest.mark.parametrize(("answer", "fault", "words"), FAULTS)
async def test_a_history_may_be_refused(
    answer: script.Steps,
    fault: type[AgentRefused],
    words: str,
    scripted_server: PrepareScript,
    tmp_path: Path,
) -> None:
    server = scripted_server(script.handshake(), script.expect("chat/history"), answer)
    raised = await refused(server, tmp_path, lambda it: it.history(CHAT, "cursor"))
    assert type(raised) is fault
    assert words in str(raised)
    assert "\n" not in str(raised)


async def test_a_chat_may_be_gone(scripted_server: PrepareScript, tmp_path: Path) -> None:
    server = scripted_server(*served("chat/open", answer={"found": False}))
    assert type(await refused(server, tmp_path, lambda it: it.open_chat(CHAT))) is ChatUnknown


async def test_what_has_no_answer_for_long_is_given_up(
    scripted_server: PrepareScript, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Prompts wait for these answers, so the wait must end."""
    monkeypatch.setattr("eca_nvim.agents.eca.server.ANSWER_SECONDS", 0)
    server = scripted_server(script.handshake(), script.expect("chat/clear"))
    raised = await refused(server, tmp_path, lambda it: it.clear(CHAT))
    assert str(raised) == "chat/clear failed: no answer after 0 s"


async def test_what_a_server_does_not_know_is_asked_once(
    scripted_server: PrepareScript, tmp_path: Path
) -> None:
    refusal = script.fail("chat/list", -32601, "?")
    server = scripted_server(script.handshake(), script.expect("chat/list"), refusal)
    async with running(make_agent(server.command, tmp_path)) as client:
        await client.until(client.ready.is_set)
        for _ in range(2):
            with pytest.raises(AgentRefused, match="does not know chat/list"):
                await client.agent.archive.list_chats()
    assert len(server.received("chat/list")) == 1


async def test_what_a_server_turns_out_not_to_know_is_no_ability(
    scripted_server: PrepareScript, tmp_path: Path
) -> None:
    of_today = script.send("chat/opened", {"chatId": "1"})
    refusal = [*script.expect("chat/fork"), *script.fail("chat/fork", -32601, "?")]
    server = scripted_server(script.handshake(), of_today, refusal)
    async with running(make_agent(server.command, tmp_path)) as client:
        await client.until(client.ready.is_set)
        await client.until(lambda: client.all(ChatOpened))
        with pytest.raises(AgentLacks):
            await client.agent.archive.fork(CHAT, "c")
    told = [it.abilities for it in client.events if isinstance(it, AbilitiesChanged)]
    assert told[-1] == ALL_ABILITIES - {Ability.FORK}


async def test_plain_requests(scripted_server: PrepareScript, tmp_path: Path) -> None:
    methods = ("chat/update", "chat/clear", "chat/delete", "chat/removeFlag")
    answers = [[*script.expect(method), *script.reply(method, {})] for method in methods]
    server = scripted_server(script.handshake(), *answers)
    async with running(make_agent(server.command, tmp_path)) as client:
        await client.until(client.ready.is_set)
        archive = client.agent.archive
        await archive.rename(CHAT, "New")
        await archive.clear(CHAT)
        await archive.delete(CHAT)
        await archive.remove_flag(CHAT, "f1")
    assert [server.received(method)[0]["params"] for method in methods] == [
        {"chatId": CHAT, "title": "New"},
        {"chatId": CHAT, "messages": True},
        {"chatId": CHAT},
        {"chatId": CHAT, "contentId": "f1"},
    ]


def test_each_method_has_words_for_a_server_without_it() -> None:
    kinds = [it for it in vars(chats).values() if isinstance(it, type) and issubclass(it, Request)]
    methods = {it.method for it in kinds if it is not Request}
    assert methods <= set(server_module._FEATURES)


class TestRollback:
    """The server replays what is left."""

    async def test_what_is_left_is_not_told_as_news(
        self, scripted_server: PrepareScript, tmp_path: Path
    ) -> None:
        server = scripted_server(*served("chat/rollback", replayed(user("hi", "u1"))))
        _, client = await asked(
            server, tmp_path, lambda it: it.rollback(CHAT, "u2", messages=True, tools=False)
        )
        assert not client.all(ChatCleared)
        params = {"chatId": CHAT, "contentId": "u2", "include": ["messages"]}
        assert server.received("chat/rollback")[0]["params"] == params

    async def test_one_that_did_not_happen_is_told(
        self, scripted_server: PrepareScript, tmp_path: Path
    ) -> None:
        server = scripted_server(*served("chat/rollback", replayed(user("hi", "u1"))))
        fault = await refused(
            server, tmp_path, lambda it: it.rollback(CHAT, "u1", messages=True, tools=True)
        )
        assert "does not know this message" in str(fault)


class TestFlags:
    """The id of a flag is in the replay only."""

    async def test_the_newest_of_two_alike(
        self, scripted_server: PrepareScript, tmp_path: Path
    ) -> None:
        contents = (
            flag("here", "f0"),
            user("a", "u1"),
            flag("other", "f1"),
            flag("here", "f2"),
            flag("here", "f3"),
        )
        server = scripted_server(*served("chat/addFlag", replayed(*contents)))
        found, client = await asked(server, tmp_path, lambda it: it.add_flag(CHAT, "u1", "here"))
        assert found == "f2"
        assert not client.all(FlagReceived)

    async def test_none_was_set(self, scripted_server: PrepareScript, tmp_path: Path) -> None:
        server = scripted_server(*served("chat/addFlag"))
        fault = await refused(server, tmp_path, lambda it: it.add_flag(CHAT, "u1", "here"))
        assert "set no flag" in str(fault)


class TestFork:
    """The server replays the new chat."""

    async def test_the_new_chat_comes_back(
        self, scripted_server: PrepareScript, tmp_path: Path
    ) -> None:
        opened = script.send("chat/opened", {"chatId": "new-1", "title": "Copy (2)"})
        copied = script.send("chat/contentReceived", user("hi", "u1", "new-1"))
        note = script.text("Chat forked to: Copy (2)", role="system")
        server = scripted_server(*served("chat/fork", opened, copied, note))
        (chat_id, chat), client = await asked(server, tmp_path, lambda it: it.fork(CHAT, "u1"))
        assert (chat_id, chat.title) == ("new-1", "Copy (2)")
        assert chat.page.events[1:] == [Addressed("new-1", TextReceived(Role.USER, "\nhi", "u1"))]
        assert [it.text for it in client.all(TextReceived)] == ["Chat forked to: Copy (2)"]

    async def test_none_was_made(self, scripted_server: PrepareScript, tmp_path: Path) -> None:
        server = scripted_server(*served("chat/fork"))
        fault = await refused(server, tmp_path, lambda it: it.fork(CHAT, "u1"))
        assert "did not fork" in str(fault)


async def test_a_rejected_call_is_replayed_as_rejected(
    scripted_server: PrepareScript, tmp_path: Path
) -> None:
    nothing = dict.fromkeys(("name", "server", "origin", "summary", "details", "error"))
    called: Value = {
        **nothing,
        "type": "toolCalled",
        "id": "t1",
        "outputs": [],
        "totalTimeMs": None,
    }
    content = {"chatId": CHAT, "role": "assistant", "content": called}
    words = "\nI rejected one or more tool calls with the following reason"
    said = {"chatId": CHAT, "role": "user", "content": {"type": "text", "text": words}}
    server = scripted_server(*served("chat/history", answer={"contents": [content, said]}))
    page, client = await asked(server, tmp_path, lambda it: it.history(CHAT, "c"))
    rejected, told = (it.event for it in page.events)
    assert isinstance(rejected, ToolRejected)
    assert told == NoticeReceived(words.strip())
    assert not client.all(NoticeReceived)
