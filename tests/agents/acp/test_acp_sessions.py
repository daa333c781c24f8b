"""Chats that go on: resumed or loaded, and agents that refuse it."""

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
from tests.agents.acp.conftest import PrepareScript
from tests.agents.acp.session_turns import BOUND, OLD, notices, opens, refuses, sent, texts
from tests.support import acp_script as agent
from tests.support import script
from tests.support.script import Steps

from eca_nvim.agents.abilities import AgentRefused, OpenedChat
from eca_nvim.agents.acp.archive import NOT_SENT
from eca_nvim.agents.acp.link import GONE
from eca_nvim.agents.acp.sessions import ELSEWHERE, LOST, RESTART, SLOW, SLOW_COPY
from eca_nvim.chat.vocabulary.completion import CommandsChanged
from eca_nvim.chat.vocabulary.effects import Prompt
from eca_nvim.chat.vocabulary.events import (
    NoticeReceived,
    ReasoningText,
    TitleChanged,
    ToolFinished,
)
from eca_nvim.chat.vocabulary.login import LoginNeeded
from eca_nvim.chat.vocabulary.options import AbilitiesChanged
from eca_nvim.chat.vocabulary.states import TurnEnd

CANNOT_OPEN = "this agent cannot open saved chats"
pytestmark = pytest.mark.anyio

UNLOADED = f"the chat could not be loaded: there was no answer{RESTART}"


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
        assert (await client.first(LoginNeeded)).prompt == Prompt(CHAT, "hi")
        assert (await client.say("again")).end is TurnEnd.DONE
    assert sent(server) == ["resume", "resume", "prompt"]


@pytest.mark.parametrize("had_said", [False, True])
async def test_nothing_is_lost_with_a_first_prompt_that_was_refused_for_a_login(
    scripted_acp: PrepareScript, tmp_path: Path, had_said: bool
) -> None:
    said = [agent.turn()] if had_said else []
    refuses_prompt = [
        *script.expect("session/prompt"),
        *script.fail("session/prompt", -32000, "Authentication required"),
    ]
    first = scripted_acp(agent.handshake(), agent.session(), *said, refuses_prompt)
    memory = remembering({}, shown=True)
    async with running(make_agent(first.command, tmp_path, memory=memory)) as client:
        for _ in said:
            await client.say("hi")
        client.agent.prompt(Prompt(CHAT, "go on"))
        await client.first(LoginNeeded)
        assert (memory.session_of(CHAT) is not None) is had_said
    later = scripted_acp(agent.handshake(), agent.session(), agent.turn())
    async with running(make_agent(later.command, tmp_path, memory=memory)) as client:
        client.agent.open_chat(CHAT)
        await client.say("go on")
        assert notices(client) == ([LOST] if had_said else [])
    assert memory.session_of(CHAT) is not None


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
        agent.turn(agent.text("live", session_id=OLD)),
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
        await client.first(CommandsChanged)
        assert client.all(TitleChanged) == [TitleChanged("An old chat")]
        assert client.all(ToolFinished) == []
        await client.say("and now")
        assert client.text == "live"
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


async def test_a_prompt_waits_for_a_load_and_a_stop_takes_it_back(
    scripted_acp: PrepareScript, tmp_path: Path
) -> None:
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
            await anyio.wait_all_tasks_blocked()
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


@pytest.mark.parametrize("shows_text", [False, True])
async def test_a_load_without_an_answer_is_given_up_by_a_stop(
    scripted_acp: PrepareScript, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *,
    shows_text: bool,
) -> None:  # fmt: skip
    """To show the text there is no other way; to go on there is a new session."""
    monkeypatch.setattr("eca_nvim.agents.acp.sessions.SLOW_SECONDS", 0.01)
    server = scripted_acp(
        agent.handshake(**agent.can()), script.expect("session/load"), agent.session(),
        agent.said("old", "late", OLD), agent.turn(agent.text("new")),
    )  # fmt: skip
    memory = remembering(BOUND, shown=not shows_text)
    async with running(make_agent(server.command, tmp_path, memory=memory)) as client:
        faults: list[str] = []

        async def load() -> None:
            faults.append(await refused(client))

        async with anyio.create_task_group() as tasks:
            if shows_text:
                tasks.start_soon(load)
            else:
                client.agent.open_chat(CHAT)
            assert (await client.first(NoticeReceived)).text == SLOW
            monkeypatch.undo()
            client.agent.prompt(Prompt(CHAT, "not this"))
            client.agent.stop(CHAT)
        assert (
            faults == [f"the chat could not be loaded: there was no answer{RESTART}"] * shows_text
        )
        assert memory.session_of(CHAT) == OLD
        assert (await client.say("this")).end is TurnEnd.DONE
        assert client.ends == [TurnEnd.STOPPED, TurnEnd.DONE]
        assert (notices(client), client.text) == ([SLOW, LOST], "new")
        assert memory.session_of(CHAT) == agent.SESSION
    assert sent(server) == ["load", "new", "prompt"]
    assert len(server.received("$/cancel_request")) == 1


async def test_a_load_can_be_given_up_without_a_prompt(
    scripted_acp: PrepareScript, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A prompt that is stopped while the chat is resumed was not sent yet."""
    monkeypatch.setattr("eca_nvim.agents.acp.sessions.SLOW_SECONDS", 0.01)
    server = scripted_acp(agent.handshake(**agent.can()), script.expect("session/load"))
    memory = remembering(BOUND, shown=False)
    async with running(make_agent(server.command, tmp_path, memory=memory)) as client:
        faults: list[str] = []

        async def load() -> None:
            faults.append(await refused(client))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(load)
            assert (await client.first(NoticeReceived)).text == SLOW
            client.agent.give_up(CHAT)
        assert faults == [UNLOADED]
    assert sent(server) == ["load"]


async def test_what_is_never_answered_ends_in_a_line_that_says_what_helps(
    scripted_acp: PrepareScript, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("eca_nvim.agents.acp.sessions.SLOW_SECONDS", 0.01)
    monkeypatch.setattr("eca_nvim.agents.acp.sessions.SILENT_SECONDS", 0.01)
    server = scripted_acp(
        agent.handshake(**agent.can("fork")), script.expect("session/load"), agent.session(),
        agent.turn(agent.text("hi")), script.expect("session/fork"), agent.turn(agent.text("!")),
    )  # fmt: skip
    memory = remembering(BOUND, shown=False)
    async with running(make_agent(server.command, tmp_path, memory=memory)) as client:
        assert await refused(client) == UNLOADED
        await client.say("go on")
        with pytest.raises(AgentRefused, match="could not be copied: there was no answer; nothing"):
            await client.agent.archive.fork(CHAT, None)
        assert notices(client) == [SLOW, LOST, SLOW_COPY]
        await client.say("and on")
        assert client.text == "hi!", "nothing is lost"


async def test_a_new_session_that_is_given_up_is_asked_for_again(
    scripted_acp: PrepareScript, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("eca_nvim.agents.acp.sessions.SLOW_SECONDS", 0.01)
    server = scripted_acp(
        agent.handshake(), script.expect("session/new"), agent.session(), agent.turn()
    )
    async with running(make_agent(server.command, tmp_path)) as client:
        client.agent.open_chat(CHAT)
        await client.first(NoticeReceived)
        monkeypatch.undo()
        client.agent.prompt(Prompt(CHAT, "not this"))
        client.agent.stop(CHAT)
        assert (await client.say("this")).end is TurnEnd.DONE
        assert notices(client) == [SLOW, f"no session: there was no answer{RESTART}"]
    assert sent(server) == ["new", "new", "prompt"]


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
