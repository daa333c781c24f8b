"""Chats that an agent keeps: listed, deleted, copied and renamed."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.agents.acp.acp_client import (
    CHAT,
    BoundSessions,
    make_agent,
    remembering,
    running,
)
from tests.agents.acp.conftest import PrepareReplay, PrepareScript
from tests.agents.acp.session_turns import BOUND, OLD, opens, refuses, texts
from tests.support import acp_script as agent
from tests.support import script
from tests.support.script import Steps, Value

from eca_nvim.agents.abilities import AgentLacks, AgentRefused
from eca_nvim.agents.acp.archive import NOT_SENT
from eca_nvim.agents.acp.memory import Memory
from eca_nvim.chat.vocabulary.effects import Prompt
from eca_nvim.chat.vocabulary.events import (
    Addressed,
    TextReceived,
    TitleChanged,
    ToolFinished,
)
from eca_nvim.chat.vocabulary.options import AbilitiesChanged, Ability
from eca_nvim.chat.vocabulary.states import TurnEnd

pytestmark = pytest.mark.anyio


def page(*sessions: Value, cursor: str | None = None) -> Steps:
    result = {"sessions": list(sessions)} | ({"nextCursor": cursor} if cursor else {})
    return opens("session/list", **result)


async def test_all_pages_of_this_folder_are_listed(
    scripted_acp: PrepareScript, tmp_path: Path
) -> None:
    here, link = {"cwd": str(tmp_path)}, tmp_path / "link"
    link.symlink_to(tmp_path)
    many = [{"sessionId": f"s{n}", **here, "updatedAt": "2026-01-01T00:00:00Z"} for n in range(99)]
    newest = {"sessionId": "b", **here, "title": "b\x1b[31m\n", "updatedAt": "2026-11-20T10:00:00"}
    server = scripted_acp(
        agent.handshake(**agent.can("list")),
        page({"sessionId": OLD, **here}, {"sessionId": "x", "cwd": "/else"}, None, cursor="2"),
        page(
            *({"sessionId": "n", "cwd": "\0"}, {"sessionId": "linked", "cwd": f"{link}/"}, newest),
            *({"sessionId": OLD, **here, "title": "twice"}, {"cwd": "no id"}), cursor="3",
        ),
        page(*many, {"sessionId": "late", **here, "updatedAt": "yesterday"}, cursor="2"),
        refuses("session/list", -32603, "no disk"),
        refuses("session/list"),
    )  # fmt: skip
    async with running(make_agent(server.command, tmp_path, memory=remembering(BOUND))) as client:
        archive = client.agent.archive
        listed = await archive.list_chats()
        assert len(listed) == 103
        assert (listed[0].id, listed[0].updated_ms) == ("chat of b", 1_795_168_800_000)
        assert [it.title for it in listed if it.id == CHAT] == ["twice"]
        with pytest.raises(AgentRefused, match=r"^session/list failed: no disk$"):
            await archive.list_chats()
        with pytest.raises(AgentLacks):
            await archive.list_chats()
        assert client.all(AbilitiesChanged) == [
            AbilitiesChanged(frozenset({Ability.LIST})),
            AbilitiesChanged(frozenset()),
        ]
    asked = [it["params"] for it in server.received("session/list")]
    assert asked[:3] == [here, here | {"cursor": "2"}, here | {"cursor": "3"}]


async def test_an_agent_that_loads_and_cannot_list_has_what_we_remember(
    scripted_acp: PrepareScript, tmp_path: Path
) -> None:
    server = scripted_acp(
        agent.handshake(**agent.can()), opens("session/load", agent.said("old", "text", OLD)),
        agent.session(), agent.turn(),
    )  # fmt: skip
    memory = remembering({**BOUND, "later": "another"})
    async with running(make_agent(server.command, tmp_path, memory=memory)) as client:
        assert client.all(AbilitiesChanged) == [AbilitiesChanged(frozenset({Ability.LIST}))]
        archive = client.agent.archive
        listed = await archive.list_chats()
        assert [(it.id, it.updated_ms) for it in listed] == [("later", 1000), (CHAT, 0)]
        assert [it.id for it in await archive.list_chats(1)] == ["later"]
        assert texts(await archive.open_chat(CHAT, 100)) == ["old", "text"]
        await client.say(" first\nprompt ", "new")
        assert [it.title for it in await archive.list_chats()] == ["first prompt", None, None]
    assert server.received("session/list") == []


async def test_the_title_of_the_agent_counts_more_than_the_one_we_remember(
    scripted_acp: PrepareScript, tmp_path: Path
) -> None:
    titled = agent.update("session_info_update", OLD, title="of the agent")
    server = scripted_acp(
        agent.handshake(**agent.can()), opens("session/load", agent.said("old", "text", OLD)),
        opens("session/load", agent.said("old", "text", OLD), titled),
    )  # fmt: skip
    kept = BoundSessions({"plain": "another", CHAT: OLD})
    kept.titles = dict.fromkeys(kept.by_chat, "first prompt")
    async with running(make_agent(server.command, tmp_path, memory=Memory(kept))) as client:
        archive = client.agent.archive
        await archive.list_chats()
        assert (await archive.open_chat("plain")).title == "first prompt"
        assert (await archive.open_chat(CHAT)).title == "of the agent"


async def test_a_list_without_an_end_is_cut(
    scripted_acp: PrepareScript, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("eca_nvim.agents.acp.archive.MOST_LISTED", 10)
    pages = [
        page(*({"sessionId": f"{n} {m}", "cwd": str(tmp_path)} for m in range(4)), cursor=f"c{n}")
        for n in range(9)
    ]
    server = scripted_acp(agent.handshake(**agent.can("list")), *pages)
    async with running(make_agent(server.command, tmp_path)) as client:
        assert len(await client.agent.archive.list_chats()) == 10
    assert len(server.received("session/list")) == 3


async def test_a_chat_is_deleted_in_the_middle_of_its_turn(
    scripted_acp: PrepareScript, tmp_path: Path
) -> None:
    server = scripted_acp(
        agent.handshake(**agent.can("delete", "close")), agent.session(),
        script.expect("session/prompt"), agent.text("I begin."),
        agent.permission("t1", 1, waits=False, title="Run"), script.expect("session/delete"),
        script.reply("session/delete", {}), agent.text("still at it"),
        script.reply("session/prompt", {"stopReason": "cancelled"}), script.expect("$/go"),
        refuses("session/delete", -32603, "it is in use"),
    )  # fmt: skip
    memory = remembering()
    async with running(make_agent(server.command, tmp_path, memory=memory)) as client:
        client.agent.prompt(Prompt(CHAT, "hi"))
        await client.until(lambda: client.text == "I begin.")
        await client.agent.archive.delete(CHAT)
        count = len(client.events)
        assert memory.session_of(CHAT) is None
        client.notify("$/go")
        assert isinstance(memory.kept, BoundSessions)
        memory.kept.by_chat["other"] = OLD
        with pytest.raises(AgentRefused, match=r"^session/delete failed: it is in use$"):
            await client.agent.archive.delete("other")
        assert client.events[count:] == []
        assert memory.session_of("other") == OLD
    assert server.answers()[0]["result"] == {"outcome": {"outcome": "cancelled"}}
    assert [it["params"] for it in server.received("session/cancel")] == [
        {"sessionId": agent.SESSION}
    ]


REPLAYED = agent.said("old", "text", "copy")


COPIED = opens("session/fork", sessionId="copy")


@pytest.mark.parametrize(
    ("answers", "shown"),
    [
        (opens("session/fork", REPLAYED, sessionId="copy"), ["old", "text"]),
        ([*COPIED, *opens("session/load", REPLAYED)], ["old", "text"]),
        ([*COPIED, *refuses("session/load", -32002)], [NOT_SENT]),
    ],
    ids=["replayed", "loaded", "unsent"],
)
async def test_a_chat_is_copied_with_what_was_said(
    scripted_acp: PrepareScript, tmp_path: Path, answers: Steps, shown: Sequence[str]
) -> None:  # fmt: skip
    server = scripted_acp(
        agent.handshake(**agent.can("fork")), agent.session(), agent.turn(), answers,
        agent.turn(agent.text("both go on", session_id="copy")),
    )  # fmt: skip
    memory = remembering()
    async with running(make_agent(server.command, tmp_path, memory=memory)) as client:
        await client.say("hi")
        chat, opened = await client.agent.archive.fork(CHAT, None)
        assert texts(opened) == shown
        assert memory.session_of(chat) == "copy"
        assert (await client.say("go on", chat)).end is TurnEnd.DONE
        assert Addressed(chat, client.all(TextReceived)[-1]) in client.events
        assert client.text == "both go on"
        with pytest.raises(AgentLacks):
            await client.agent.archive.fork(CHAT, "up to here")


async def test_a_copy_that_is_refused_leaves_nothing(
    scripted_acp: PrepareScript, tmp_path: Path
) -> None:
    server = scripted_acp(
        agent.handshake(**agent.can("fork")), agent.session(),
        refuses("session/fork", -32603, "no"),
        opens("session/fork", sessionId=agent.SESSION), agent.turn(),
    )  # fmt: skip
    async with running(make_agent(server.command, tmp_path)) as client:
        for reason in ("the chat could not be copied: no", "no session: the agent has given it"):
            with pytest.raises(AgentRefused, match=reason):
                await client.agent.archive.fork(CHAT, None)
        assert (await client.say("hi")).end is TurnEnd.DONE


async def test_a_chat_is_renamed(scripted_acp: PrepareScript, tmp_path: Path) -> None:
    server = scripted_acp(
        agent.handshake(**agent.can("title")), agent.session(),
        opens("session/set_title", title="shorter"), opens("session/set_title"),
        refuses("session/set_title"),
    )  # fmt: skip
    async with running(make_agent(server.command, tmp_path)) as client:
        await client.agent.archive.rename(CHAT, "long")
        await client.agent.archive.rename(CHAT, "mine")
        assert client.all(TitleChanged) == [TitleChanged("shorter"), TitleChanged("mine")]
        with pytest.raises(AgentLacks, match=r"^this agent cannot rename chats$"):
            await client.agent.archive.rename(CHAT, "no")
    assert server.received("session/set_title")[0]["params"] == {
        "sessionId": agent.SESSION,
        "title": "long",
    }


@pytest.mark.parametrize("name", ["claudezed-sessions", "codexzed-sessions", "qwen-sessions"])
async def test_sessions_of_real_agents_are_listed_loaded_and_gone_on_with(
    replay_acp: PrepareReplay, tmp_path: Path, name: str
) -> None:
    recording = replay_acp(name, "--life", "2")
    async with running(make_agent(recording.command, tmp_path)) as client:
        archive = client.agent.archive
        await archive.list_chats()  # the recorded client listed all folders, then this one
        listed = await archive.list_chats()
        chat = listed[0].id
        assert listed[0].title
        opened = await archive.open_chat(chat, 100)
        assert texts(opened)[0].startswith("Please do this.")
        assert texts(opened)[-1] == "remember this"
        events = [it.event for it in opened.page.events]
        assert len({it.call.id for it in events if isinstance(it, ToolFinished)}) == 1
        assert opened.title == listed[0].title
        assert client.text == ""
        assert (await client.say("after load", chat)).end is TurnEnd.DONE
        assert client.text == "after load"
        with pytest.raises(AgentRefused):
            await archive.delete(chat)
    report = recording.report()
    assert report is not None
    assert {it["key"] for it in report["different"]} <= {"prompt"}
