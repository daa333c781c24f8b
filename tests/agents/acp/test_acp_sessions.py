"""Chats that go on: resumed, loaded, listed, copied and deleted; and agents that refuse it."""

from collections.abc import Sequence
from pathlib import Path

import anyio
import pytest
from tests.agents.acp.acp_client import (
    CHAT,
    AcpClient,
    BoundSessions,
    make_agent,
    remembering,
    running,
)
from tests.agents.acp.conftest import PrepareReplay, PrepareScript
from tests.support import acp_script as agent
from tests.support import script
from tests.support.script import Steps, Value
from tests.support.servers import ScriptedServer

from eca_nvim.agents.acp.archive import NOT_SENT
from eca_nvim.agents.acp.openings import CANNOT_OPEN, ELSEWHERE, GONE, LOST
from eca_nvim.agents.acp.sessions import SLOW
from eca_nvim.agents.archive import AgentLacks, AgentRefused, OpenedChat
from eca_nvim.agents.base import Prompt
from eca_nvim.chat.vocabulary.abilities import AbilitiesChanged, Ability
from eca_nvim.chat.vocabulary.commands import CommandsChanged
from eca_nvim.chat.vocabulary.effects import TellPrompt
from eca_nvim.chat.vocabulary.events import (
    Addressed,
    NoticeReceived,
    ReasoningText,
    TextReceived,
    TitleChanged,
    ToolFinished,
)
from eca_nvim.chat.vocabulary.login import LoginNeeded
from eca_nvim.chat.vocabulary.states import TurnEnd

pytestmark = pytest.mark.anyio

OLD = "session-of-before"
BOUND = {CHAT: OLD}


def opens(method: str, *replayed: Steps, **result: Value) -> Steps:
    """Answer the request that opens a session, after a replay."""
    return [
        *script.expect(method),
        *(step for steps in replayed for step in steps),
        *script.reply(method, result),
    ]


def refuses(method: str, code: int = -32601, message: str = "Method not found") -> Steps:
    return [*script.expect(method), *script.fail(method, code, message)]


def sent(server: ScriptedServer) -> list[str]:
    """Return the methods with which sessions were opened, in order, and the prompts."""
    wanted = ("session/new", "session/resume", "session/load", "session/fork", "session/prompt")
    return [it["method"][8:] for it in server.received() if it.get("method") in wanted]


def texts(opened: OpenedChat) -> list[str]:
    found = (it.event for it in opened.page.events)
    return [it.text for it in found if isinstance(it, (TextReceived, NoticeReceived))]


def notices(client: AcpClient) -> list[str]:
    return [it.text for it in client.all(NoticeReceived)]


async def refused(client: AcpClient, chat: str = CHAT) -> str:
    with pytest.raises(AgentRefused) as fault:
        await client.agent.archive.open_chat(chat, 100)
    return str(fault.value)


@pytest.mark.parametrize(
    ("methods", "load", "answers", "ways", "line"),
    [
        ("resume", True, opens("session/resume"), ["resume", "prompt"], []),
        (
            "resume",
            True,
            [
                *refuses("session/resume"),
                *opens("session/load", agent.said("old", "shown already", OLD)),
            ],
            ["resume", "load", "prompt"],
            [],
        ),
        (
            "resume",
            True,
            [
                *refuses("session/resume", -32603, "gone"),
                *refuses("session/load", -32002, "no such session"),
                *agent.session(OLD),
            ],
            ["resume", "load", "new", "prompt"],
            [LOST],
        ),
        ("", False, agent.session(OLD), ["new", "prompt"], [LOST]),
    ],
    ids=["resumed", "loaded", "refused", "neither"],
)
async def test_a_chat_goes_on_in_the_next_process(
    scripted_acp: PrepareScript, tmp_path: Path, methods: str, load: bool, answers: Steps,
    ways: list[str], line: list[str],
) -> None:  # fmt: skip
    server = scripted_acp(
        agent.handshake(**agent.can(*methods.split(), load=load)), answers,
        agent.turn(agent.text("I go on.", session_id=OLD)),
    )  # fmt: skip
    memory = remembering(BOUND, shown=True)
    async with running(make_agent(server.command, tmp_path, memory=memory)) as client:
        client.agent.open_chat(CHAT)
        assert (await client.say("go on")).end is TurnEnd.DONE
        assert client.text == "I go on."
        assert notices(client) == line
    assert sent(server) == ways
    assert server.received("session/prompt")[0]["params"]["sessionId"] == OLD
    assert memory.session_of(CHAT) == OLD


async def test_a_login_is_needed_before_another_way_is_tried(
    scripted_acp: PrepareScript, tmp_path: Path
) -> None:
    server = scripted_acp(
        agent.handshake(**agent.can("resume")),
        refuses("session/resume", -32000, "Authentication required"),
        opens("session/resume"),
        agent.turn(),
    )
    memory = remembering(BOUND, shown=True)
    async with running(make_agent(server.command, tmp_path, memory=memory)) as client:
        client.agent.prompt(Prompt(CHAT, "hi"))
        assert (await client.first(LoginNeeded)).prompt == TellPrompt(CHAT, "hi")
        assert (await client.say("again")).end is TurnEnd.DONE
    assert sent(server) == ["resume", "resume", "prompt"]


async def test_a_chat_is_loaded_with_its_newest_messages_and_older_ones_by_page(
    scripted_acp: PrepareScript, tmp_path: Path
) -> None:
    many = [step for n in range(125) for step in agent.said(f"p{n}", f"a{n}", OLD)]
    call = {"toolCallId": "t", "kind": "execute", "rawInput": {"command": "ls"}}
    commands = agent.update("available_commands_update", OLD, availableCommands=[{"name": "plan"}])
    title = agent.update("session_info_update", OLD, title="An old chat")
    server = scripted_acp(
        agent.handshake(**agent.can("list")),
        opens(
            "session/load", many, commands, title,
            agent.update("tool_call", OLD, **call, status="in_progress"),
            agent.update("agent_thought_chunk", OLD, content={"type": "text", "text": "hm"}),
            agent.update("tool_call_update", OLD, toolCallId="t", status="completed"),
        ),
        agent.text("live", session_id=OLD),
        agent.turn(agent.text(" and more", session_id=OLD)),
    )  # fmt: skip
    memory = remembering(BOUND)
    async with running(make_agent(server.command, tmp_path, memory=memory)) as client:
        client.agent.open_chat(CHAT)  # waits for what needs it
        opened = await client.agent.archive.open_chat(CHAT, 100)
        assert texts(opened)[0] == "p76"
        assert texts(opened)[-1] == "a124"
        assert (opened.page.total, opened.page.returned, opened.page.older) == (252, 100, "152")
        kinds = [type(it.event) for it in opened.page.events]
        assert kinds.index(ToolFinished) < kinds.index(ReasoningText)
        older = await client.agent.archive.history(CHAT, "152", 100)
        oldest = await client.agent.archive.history(CHAT, older.older or "", 100)
        assert texts(OpenedChat(older))[0] == "p26"
        assert (texts(OpenedChat(oldest))[0], oldest.older) == ("p0", None)
        await client.until(lambda: client.text == "live")
        await client.first(CommandsChanged)
        assert client.all(TitleChanged) == [TitleChanged("An old chat")]
        assert client.all(ToolFinished) == []
        await client.say("and now")
        assert client.text == "live and more"
    assert sent(server) == ["load", "prompt"]


async def test_an_edit_of_the_past_has_the_diff_of_its_texts(
    scripted_acp: PrepareScript, tmp_path: Path
) -> None:
    (tmp_path / "io.py").write_text("another text by now\n")
    path = str(tmp_path / "io.py")
    diff = {"type": "diff", "path": path, "oldText": "one\ntwo\n", "newText": "one\n2\n"}
    call = {"toolCallId": "t", "kind": "edit", "status": "completed", "content": [diff]}
    server = scripted_acp(
        agent.handshake(**agent.can("list")),
        opens("session/load", agent.update("tool_call", OLD, **call)),
    )
    memory = remembering(BOUND)
    async with running(make_agent(server.command, tmp_path, memory=memory)) as client:
        opened = await client.agent.archive.open_chat(CHAT, 100)
    ends = [it.event for it in opened.page.events if isinstance(it.event, ToolFinished)]
    [change] = ends[0].call.changes or ()
    assert change.diff == "@@ -1,2 +1,2 @@\n one\n-two\n+2"
    assert (change.path, change.added, change.removed, change.placed) == (path, 1, 1, False)


async def test_a_chat_that_cannot_be_loaded_is_not_lost(
    scripted_acp: PrepareScript, tmp_path: Path
) -> None:
    server = scripted_acp(
        agent.handshake(**agent.can()),
        refuses("session/load", -32603, "the disk\nis full"),
        opens("session/load", agent.said("old", "text", OLD)),
        agent.turn(),
    )
    memory = remembering(BOUND)
    async with running(make_agent(server.command, tmp_path, memory=memory)) as client:
        assert await refused(client) == "the chat could not be loaded: the disk is full"
        assert memory.session_of(CHAT) == OLD
        assert (await client.say("hi")).end is TurnEnd.DONE
        assert (notices(client), client.text) == ([], "")
        assert await refused(client, "unknown") == "the agent does not have this chat"
    assert sent(server) == ["load", "load", "prompt"]


async def test_a_chat_is_resumed_if_it_cannot_be_loaded(
    scripted_acp: PrepareScript, tmp_path: Path
) -> None:
    server = scripted_acp(
        agent.handshake(**agent.can("resume")), refuses("session/load"), opens("session/resume")
    )
    async with running(make_agent(server.command, tmp_path, memory=remembering(BOUND))) as client:
        opened = await client.agent.archive.open_chat(CHAT, 100)
        assert texts(opened) == [NOT_SENT]


async def test_an_agent_that_cannot_open_chats_says_so(
    scripted_acp: PrepareScript, tmp_path: Path
) -> None:
    server = scripted_acp(agent.handshake(**agent.can(load=False)))
    async with running(make_agent(server.command, tmp_path, memory=remembering(BOUND))) as client:
        assert await refused(client) == CANNOT_OPEN
        for ability in (
            client.agent.archive.list_chats(),
            client.agent.archive.rename(CHAT, "x"),
            client.agent.archive.clear(CHAT),
        ):
            with pytest.raises(AgentRefused):
                await ability
        assert client.all(AbilitiesChanged) == [AbilitiesChanged(frozenset())]


async def test_an_agent_that_dies_in_a_load_ends_the_wait(
    scripted_acp: PrepareScript, tmp_path: Path
) -> None:
    server = scripted_acp(
        agent.handshake(**agent.can()), script.expect("session/load"),
        agent.said("half", "of it", OLD), script.leave(3),
    )  # fmt: skip
    memory = remembering(BOUND)
    async with running(make_agent(server.command, tmp_path, memory=memory)) as client:
        assert await refused(client) == GONE
        assert memory.session_of(CHAT) == OLD
        assert client.text == ""


async def test_a_prompt_waits_for_a_slow_load_and_a_stop_takes_it_back(
    scripted_acp: PrepareScript, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("eca_nvim.agents.acp.sessions.SLOW_SECONDS", 0.01)
    server = scripted_acp(
        agent.handshake(**agent.can()), script.expect("session/load"), script.expect("$/go"),
        agent.said("old", "text", OLD), script.reply("session/load", None),
        agent.turn(agent.text("answered", session_id=OLD)),
    )  # fmt: skip
    async with running(make_agent(server.command, tmp_path, memory=remembering(BOUND))) as client:
        opened: list[OpenedChat] = []

        async def load() -> None:
            opened.append(await client.agent.archive.open_chat(CHAT, 100))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(load)
            assert (await client.first(NoticeReceived)).text == SLOW
            client.agent.prompt(Prompt(CHAT, "not this"))
            client.agent.stop(CHAT)
            assert client.ends == [TurnEnd.STOPPED]
            client.agent.prompt(Prompt(CHAT, "this"))
            client.notify("$/go")
        await client.until(lambda: client.ends == [TurnEnd.STOPPED, TurnEnd.DONE])
        assert texts(opened[0]) == ["old", "text"]
        assert client.text == "answered"
    assert [it["params"]["prompt"][0]["text"] for it in server.received("session/prompt")] == [
        "this"
    ]


async def test_another_neovim_with_the_same_chat_is_noticed_once(
    scripted_acp: PrepareScript, tmp_path: Path
) -> None:
    server = scripted_acp(
        agent.handshake(**agent.can()),
        opens("session/load", agent.said("old", "text", OLD)),
        agent.turn(),
    )
    memory = remembering(BOUND)
    assert isinstance(memory.kept, BoundSessions)
    memory.kept.other = 4712
    async with running(make_agent(server.command, tmp_path, memory=memory)) as client:
        opened = await client.agent.archive.open_chat(CHAT, 100)
        assert texts(opened) == ["old", "text", ELSEWHERE.format(4712)]
        await client.say("hi")
        assert notices(client) == []


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
