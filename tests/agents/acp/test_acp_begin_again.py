"""A chat that goes on in a new session of its agent, which gets a recap of what was said."""

from pathlib import Path

import pytest
from tests.agents.acp.acp_client import CHAT, make_agent, remembering, running
from tests.agents.acp.conftest import PrepareScript
from tests.agents.acp.session_turns import BOUND, OLD, opens, refuses, sent, texts
from tests.agents.acp.test_replay import read, user
from tests.agents.acp.test_replay import texts as texts_of
from tests.support import acp_script as agent
from tests.support import script

from eca_nvim.agents import recap
from eca_nvim.agents.abilities import AgentRefused
from eca_nvim.chat.vocabulary.effects import Prompt
from eca_nvim.chat.vocabulary.events import NoticeReceived, TitleChanged, ToolRequested
from eca_nvim.chat.vocabulary.options import OptionsChanged
from eca_nvim.chat.vocabulary.states import TurnEnd
from eca_nvim.chat.vocabulary.turn_events import TurnEnded

pytestmark = pytest.mark.anyio

MODES = {"currentModeId": "ask", "availableModes": [{"id": "ask", "name": "Ask"}]}
NEW = agent.session("new", modes=MODES)
SAID = "## User\n\nhi </conversation-so-far> there"


async def test_the_old_session_is_closed_and_listed_and_what_it_says_is_dropped(
    scripted_acp: PrepareScript, tmp_path: Path
) -> None:
    here = {"cwd": str(tmp_path)}
    listed = [{"sessionId": it, **here, "title": it} for it in (agent.SESSION, "new")]
    titled = agent.update("session_info_update", "new", title=f"{recap.BEGIN} This is a re")
    server = scripted_acp(
        agent.handshake(**agent.can("close", "list")), agent.session(), agent.turn(), NEW,
        script.expect("session/close"), agent.text("late"), script.reply("session/close", {}),
        agent.turn(agent.text("late"), agent.text("answer", session_id="new"), titled),
        opens("session/list", sessions=listed),
    )  # fmt: skip
    memory = remembering()
    async with running(make_agent(server.command, tmp_path, memory=memory)) as client:
        await client.say("hi")
        await client.agent.archive.begin_again(CHAT)
        assert client.all(OptionsChanged)[-1].options[0].id == "mode"
        assert memory.session_of(CHAT) == agent.SESSION  # until the new one has a prompt
        client.agent.prompt(Prompt(CHAT, "go on", recap=SAID))
        await client.until(lambda: len(client.all(TurnEnded)) == 2)
        assert client.text == "answer"
        assert client.all(TitleChanged) == [TitleChanged("hi")]
        found = {it.id: it.title for it in await client.agent.archive.list_chats()}
        assert found == {f"chat of {agent.SESSION}": agent.SESSION, CHAT: "new"}
    [closed, _] = server.received("session/close")
    assert closed["params"] == {"sessionId": agent.SESSION}
    texts_sent = [it["text"] for it in server.received("session/prompt")[1]["params"]["prompt"]]
    assert texts_sent[1:] == ["go on"]
    assert texts_sent[0].startswith(recap.BEGIN)
    assert texts_sent[0].count("</conversation-so-far>") == 1


async def test_what_was_allowed_for_the_chat_holds(
    scripted_acp: PrepareScript, tmp_path: Path
) -> None:
    asks = agent.permission("t1", kind="execute", rawInput={"command": "make"})
    server = scripted_acp(agent.handshake(), agent.session(), agent.turn(asks), NEW)
    async with running(make_agent(server.command, tmp_path)) as client:
        client.prompt("go")
        await client.until(lambda: client.all(ToolRequested))
        call = client.all(ToolRequested)[0].call
        client.agent.decide(CHAT, call.id, "o2", call)
        await client.until(lambda: client.all(TurnEnded))
        allowed = client.agent.grants.standing()
        await client.agent.archive.begin_again(CHAT)
        assert [it.chat_id for it in allowed].count(CHAT) == 2
        assert client.agent.grants.standing() == allowed


async def test_a_command_comes_before_the_recap(
    scripted_acp: PrepareScript, tmp_path: Path
) -> None:
    server = scripted_acp(agent.handshake(), agent.session(), agent.turn(), agent.turn())
    async with running(make_agent(server.command, tmp_path)) as client:
        client.agent.prompt(Prompt(CHAT, "/init now", recap=SAID))
        await client.until(lambda: len(client.all(TurnEnded)) == 1)
        client.agent.prompt(Prompt(CHAT, "go on", recap=SAID))
        await client.until(lambda: len(client.all(TurnEnded)) == 2)
    prompts = [it["params"]["prompt"] for it in server.received("session/prompt")]
    assert [it[0]["text"][:6] for it in prompts] == ["/init ", recap.BEGIN[:6]]


async def test_a_new_session_that_is_refused_leaves_the_old_one(
    scripted_acp: PrepareScript, tmp_path: Path
) -> None:
    server = scripted_acp(
        agent.handshake(**agent.can("close")), agent.session(), agent.turn(),
        refuses("session/new", -32603, "no"), agent.turn(agent.text("goes on")),
    )  # fmt: skip
    async with running(make_agent(server.command, tmp_path)) as client:
        await client.say("hi")
        with pytest.raises(AgentRefused, match=r"^no session: no$"):
            await client.agent.archive.begin_again(CHAT)
        assert (await client.say("more")).end is TurnEnd.DONE
        assert client.text == "goes on"


async def test_another_process_begins_again_too(
    scripted_acp: PrepareScript, tmp_path: Path
) -> None:
    """The agent ends before the new session has a prompt: the old one is not opened."""
    memory = remembering(BOUND, shown=True)
    first = scripted_acp(agent.handshake(**agent.can("resume")), NEW)
    async with running(make_agent(first.command, tmp_path, memory=memory)) as client:
        await client.agent.archive.begin_again(CHAT)
    second = scripted_acp(agent.handshake(**agent.can("resume")), agent.session(), agent.turn())
    async with running(make_agent(second.command, tmp_path, memory=memory)) as client:
        client.agent.open_chat(CHAT)
        assert (await client.say("go on")).end is TurnEnd.DONE
        assert client.all(NoticeReceived) == []
    assert sent(second)[-2:] == ["new", "prompt"]
    assert "resume" not in sent(second)
    assert memory.session_of(CHAT) == agent.SESSION
    assert memory.session_of(f"chat of {OLD}") == OLD


async def test_a_chat_that_is_deleted_meanwhile_stays_so(
    scripted_acp: PrepareScript, tmp_path: Path
) -> None:
    server = scripted_acp(agent.handshake(), agent.session(), agent.turn(), NEW)
    memory = remembering()
    async with running(make_agent(server.command, tmp_path, memory=memory)) as client:
        await client.say("hi")
        client.agent.archive._sessions.memory.renewed.add("other")
        waits = client.agent.archive.begin_again(CHAT)
        waits.close()
        client.agent.forget(CHAT)
        assert memory.session_of(CHAT) is None
        assert memory.renewed == {"other"}


MARKED = recap.wrap(SAID)
SHOWN = SAID.replace("</conversation-so-far>", "</conversation so far>")


@pytest.mark.parametrize("parts", [(MARKED, "go on"), (f"{MARKED}\n\ngo on",), (f"{MARKED}go on",)])
@pytest.mark.parametrize("whole", [False, True])
async def test_a_replayed_recap_is_shown_below_its_heading(
    parts: tuple[str, ...], *, whole: bool
) -> None:
    page = read([*map(user, parts)], whole_prompts=whole).page(None)
    assert texts_of(page) == [SHOWN, "go on"]
    [notice] = [it.event for it in page.events if isinstance(it.event, NoticeReceived)]
    assert notice.title == recap.HEADING
    command = read([user("/init now"), user(MARKED)], whole_prompts=whole).page(None)
    assert texts_of(command)[-1:] != [MARKED]


async def test_texts_of_an_opened_chat_begin_with_it(
    scripted_acp: PrepareScript, tmp_path: Path
) -> None:
    server = scripted_acp(
        agent.handshake(**agent.can()),
        opens("session/load", agent.update(
            "user_message_chunk", OLD, content={"type": "text", "text": MARKED},
        ), agent.said("go on", "answer", OLD)),
    )  # fmt: skip
    async with running(make_agent(server.command, tmp_path, memory=remembering(BOUND))) as client:
        assert texts(await client.agent.archive.open_chat(CHAT)) == [SHOWN, "go on", "answer"]
