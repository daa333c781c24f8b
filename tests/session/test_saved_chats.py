"""The chats that the agent keeps, through a session with an agent in memory."""

from __future__ import annotations

from typing import cast

import anyio
import pytest
from tests.session.fake_archive import FakeArchive
from tests.session.rig import Rig, words
from tests.session.saved_chats import ENDED, RUNNING, asked, page, prompt, talking, warned
from tests.support.announced import announced

from eca_nvim.agents.abilities import (
    AgentRefused,
    ChatSummary,
    ChatUnknown,
    CursorExpired,
    OpenedChat,
)
from eca_nvim.agents.base import AgentExit, AgentFault
from eca_nvim.chat.handlers.reducer import HANDLERS
from eca_nvim.chat.user_actions import earlier_messages
from eca_nvim.chat.user_actions.earlier_messages import Page
from eca_nvim.chat.vocabulary import intents
from eca_nvim.chat.vocabulary import query_intents as asks
from eca_nvim.chat.vocabulary.events import (
    Addressed,
    ChatCleared,
    ChatDeleted,
    ChatEvent,
    ChatOpened,
    FlagReceived,
    Role,
    TextReceived,
    TitleChanged,
)
from eca_nvim.chat.vocabulary.ops import Answer, ClearChat, Emit, ForgetChat, OpenBlock, RemoveBlock
from eca_nvim.chat.vocabulary.query_intents import RequestTranscript

pytestmark = pytest.mark.anyio

ANSWER = TextReceived(Role.ASSISTANT, "\nYes.")


class TestList:
    """What the picker shows."""

    async def test_chats_are_rows(self, rig: Rig) -> None:
        archive = await talking(rig)
        archive.chats = [
            ChatSummary("a", "My\nchat", "m", 3, 1, 2, running=True),
            ChatSummary("b"),
        ]
        assert await asked(rig, asks.ListChats(7)) == [("list", None)]
        assert rig.view.of(Answer)[-1] == Answer(
            7,
            [
                {
                    "id": "a",
                    "title": "My chat",
                    "model": "m",
                    "messages": 3,
                    "created": 1,
                    "updated": 2,
                    "running": True,
                    "open": True,
                    "last": "hi there",
                },
                {"id": "b", "open": False},
            ],
        )

    async def test_the_agent_is_started_for_it(self, rig: Rig) -> None:
        rig.do(asks.ListChats(7))
        agent = await rig.starting()
        assert agent.archive.asked == []
        agent.ready()
        await rig.view.until(lambda: rig.view.of(Answer))
        assert agent.archive.asked == [("list", None)]

    async def test_an_agent_that_does_not_start(self, rig: Rig) -> None:
        rig.fault = AgentFault("no server")
        rig.do(asks.ListChats(7))
        await rig.view.until(lambda: rig.view.of(Answer))
        assert rig.lines()[-1].startswith("the server is not running")
        assert rig.view.of(Answer) == [Answer(7, None)]

    async def test_an_agent_that_keeps_none(self, rig: Rig) -> None:
        agent = await rig.ready()
        agent.archive.fault = AgentRefused("this agent keeps no chats")
        assert await warned(rig, asks.ListChats(7)) == "this agent keeps no chats"
        await rig.view.until(lambda: rig.view.of(Answer))


class TestResume:
    """A chat of an earlier session goes on."""

    async def test_its_newest_page_is_shown(self, rig: Rig) -> None:
        archive = (await rig.ready()).archive
        rig.agent.uses("b", "m2", "plan")
        events = (ChatCleared(), ChatOpened("Fix"), prompt("old", "u1"))
        archive.opened = OpenedChat(page("b", *events, older="c1"), "Fix")
        rig.do(intents.OpenChat("b"))
        assert await asked(rig, asks.ResumeChat("b")) == [("open", "b", 100)]
        headers = [op.header for op in rig.view.of(OpenBlock) if op.chat == "b"]
        assert headers == [(("▴ older messages (7 of 9)", "EcaMuted"),), ()]
        status = rig.status("b")
        assert (status["title"], status["model"], status["agent"]) == ("Fix", "m2", "plan")
        assert status["trust"] is False

    async def test_what_it_goes_on_with_is_its_own_choice(self, rig: Rig) -> None:
        agent = await rig.ready()
        agent.uses("b", "m2", "plan")
        await asked(rig, asks.ResumeChat("b"))
        agent.announce(announced(model="m1", agent="code"))
        rig.do(intents.SendPrompt("b", "go"))
        await rig.view.until(lambda: agent.told)
        chosen = agent.last_selection
        assert (chosen.model, chosen.agent) == ("m2", "plan")

    async def test_a_chat_that_is_resumed_twice_at_once_is_shown_once(self, rig: Rig) -> None:
        archive = (await rig.ready()).archive
        archive.opened = OpenedChat(page("b", prompt("old", "u1"), ANSWER))
        archive.gate = anyio.Event()
        await asked(rig, asks.ResumeChat("b", quiet=True))
        rig.do(asks.ResumeChat("b"), asks.ResumeChat("b"))
        await anyio.wait_all_tasks_blocked()
        archive.gate.set()
        await anyio.wait_all_tasks_blocked()
        assert len([op for op in rig.view.of(OpenBlock) if op.chat == "b"]) == 2
        assert archive.asked == [("open", "b", 100)]

    async def test_a_chat_left_for_it_goes_when_nothing_was_said(self, rig: Rig) -> None:
        await rig.ready("blank")
        await asked(rig, asks.ResumeChat("b", instead="blank"))
        assert rig.view.of(ForgetChat) == [ForgetChat("blank")]

    async def test_a_chat_left_for_it_stays_when_something_was_said(self, rig: Rig) -> None:
        await talking(rig)
        await asked(rig, asks.ResumeChat("b", instead="a"))
        assert rig.view.of(ForgetChat) == []

    async def test_a_chat_without_text_that_is_resumed_in_its_own_windows_stays(
        self, rig: Rig
    ) -> None:
        await rig.ready("b")
        await asked(rig, asks.ResumeChat("b", instead="b"))
        assert (rig.view.of(ForgetChat), rig.lines()) == ([], [])

    async def test_what_another_client_says_meanwhile_stays_below(self, rig: Rig) -> None:
        agent = await rig.ready()
        agent.archive.opened = OpenedChat(page("b", prompt("old", "u1"), older="c1"), "Fix")
        agent.archive.gate = anyio.Event()
        rig.do(intents.OpenChat("b"))
        await asked(rig, asks.ResumeChat("b"))
        said = TextReceived(Role.USER, "typed elsewhere")
        agent.say("b", said, RUNNING, TextReceived(Role.ASSISTANT, "an "))
        agent.archive.gate.set()
        await rig.view.until(lambda: rig.status("b").get("title") == "Fix")
        agent.say("b", TextReceived(Role.ASSISTANT, "answer"), ENDED)
        transcript = await rig.ask(RequestTranscript("b", 77))
        places = [transcript.index(it) for it in ("old", "typed elsewhere", "an answer")]
        assert places == sorted(places)
        last_clear = max(n for n, op in enumerate(rig.view.ops) if isinstance(op, ClearChat))
        drawn = [op for op in rig.view.ops[last_clear:] if isinstance(op, OpenBlock)]
        assert [op.kind for op in drawn] == ["older", "user", "user", "assistant"]

    async def test_it_keeps_what_it_was_used_with(self, rig: Rig) -> None:
        rig.persistence.keep_choice("eca", "model", "m2")
        agent = await rig.ready()
        for fault in (None, ChatUnknown("it is new")):
            agent.archive.gate, agent.archive.fault = anyio.Event(), fault
            rig.do(intents.OpenChat("b"))
            await asked(rig, asks.ResumeChat("b", quiet=True))
            agent.announce(announced(models=("m1", "m2"), model="m1"))
            agent.archive.gate.set()
            await rig.done()
            assert ("set", "b", "model", "m2") not in agent.told

    async def test_a_chat_that_may_be_new(self, rig: Rig) -> None:
        archive = (await rig.ready()).archive
        archive.fault = ChatUnknown("gone")
        await asked(rig, asks.ResumeChat("b", quiet=True))
        assert rig.lines() == []
        archive.fault = ChatUnknown("gone")
        assert await warned(rig, asks.ResumeChat("b")) == "gone"

    async def test_one_that_is_open_is_not_asked_for(self, rig: Rig) -> None:
        archive = await talking(rig)
        rig.do(asks.ResumeChat("a"))
        await rig.done()
        await anyio.wait_all_tasks_blocked()
        assert archive.asked == []


class TestLong:
    """A long history that came whole is shown in parts."""

    async def test_all_of_it_is_shown(self, rig: Rig) -> None:
        archive = (await rig.ready()).archive
        turns = [it for at in range(200) for it in (prompt(f"ask {at}", f"u{at}"), ANSWER)]
        archive.opened = OpenedChat(Page([Addressed("b", it) for it in turns]), "Fix")
        await asked(rig, asks.ResumeChat("b"))
        assert len([op for op in rig.view.of(OpenBlock) if op.kind == "older"]) == 1
        transcript = await rig.ask(RequestTranscript("b", 77))
        places = [transcript.index(f"ask {number}\n") for number in (0, 99, 100, 199)]
        assert places == sorted(places)

    async def test_one_that_is_deleted_meanwhile_is_not_drawn_again(
        self, rig: Rig, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(earlier_messages, "_SMALLEST_PART", 1)
        monkeypatch.setattr(earlier_messages, "_LARGEST_PART", 1)
        archive = (await rig.ready()).archive
        turns = [it for at in range(500) for it in (prompt(f"ask {at}", f"u{at}"), ANSWER)]
        archive.opened = OpenedChat(Page([Addressed("b", it) for it in turns]))
        rig.do(asks.ResumeChat("b"))
        await rig.view.until(lambda: rig.view.of(OpenBlock))
        rig.do(asks.DeleteChat("b"))
        await rig.view.until(lambda: rig.view.of(ForgetChat))
        await anyio.wait_all_tasks_blocked()
        last = rig.view.ops.index(ForgetChat("b"))
        assert not [op for op in rig.view.ops[last:] if isinstance(op, OpenBlock)]

    async def test_a_part_that_fails_can_be_asked_for_again(
        self, rig: Rig, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A bug of ours in one event: what is shown stays, and nothing loads for ever."""
        archive = (await rig.ready()).archive
        turns: list[list[ChatEvent]]
        turns = [[prompt(f"ask {at}", f"u{at}"), ANSWER] for at in range(200)]
        turns[100:100] = [[FlagReceived("broken", "f1")]]
        archive.opened = OpenedChat(Page([Addressed("b", it) for turn in turns for it in turn]))
        with monkeypatch.context() as broken:
            handlers = cast(dict[type, object], HANDLERS)
            broken.setitem(handlers, FlagReceived, lambda *_: 1 / 0)
            await asked(rig, asks.ResumeChat("b"))
        assert "division by zero" in rig.lines()[-1]
        last = [op for op in rig.view.of(OpenBlock) if op.kind == "older"][-1]
        assert words(last.header) == "▴ older messages"
        transcript = await rig.ask(RequestTranscript("b", 77))
        assert "ask 199\n" in transcript
        await asked(rig, asks.LoadOlder("b"))
        assert len(archive.asked) == 2
        transcript = await rig.ask(RequestTranscript("b", 78))
        places = [transcript.index(f"ask {number}\n") for number in (0, 99, 100, 199)]
        assert places == sorted(places)


class TestOlder:
    """Pages come when they are asked for."""

    async def opened(self, rig: Rig) -> FakeArchive:
        archive = (await rig.ready()).archive
        archive.opened = OpenedChat(page("b", prompt("new", "u9"), older="c1"))
        await asked(rig, asks.ResumeChat("b"))
        return archive

    async def test_a_page_is_loaded_once(self, rig: Rig) -> None:
        archive = await self.opened(rig)
        archive.gate = anyio.Event()
        archive.page = page("b", prompt("old", "u1"))
        await asked(rig, asks.LoadOlder("b"), asks.LoadOlder("b"))
        archive.gate.set()
        await rig.view.until(lambda: rig.view.of(RemoveBlock))
        assert archive.asked[1:] == [("history", "b", "c1", 100)]
        rig.do(asks.LoadOlder("b"))
        await rig.done()
        assert len(archive.asked) == 2

    async def test_one_that_fails_can_be_asked_for_again(self, rig: Rig) -> None:
        archive = await self.opened(rig)
        archive.fault = AgentRefused("busy")
        assert await warned(rig, asks.LoadOlder("b")) == "busy"
        await asked(rig, asks.LoadOlder("b"))
        assert [it[0] for it in archive.asked] == ["open", "history", "history"]

    async def test_a_history_that_has_changed_is_shown_anew(self, rig: Rig) -> None:
        archive = await self.opened(rig)
        archive.fault = CursorExpired("gone")
        line = await warned(rig, asks.LoadOlder("b"))
        assert "shown again" in line
        await rig.done()  # it is opened after the line
        assert [it[0] for it in archive.asked] == ["open", "history", "open"]
        assert rig.view.of(ClearChat)[-1] == ClearChat("b")


class TestWhole:
    """Rename, clear, delete."""

    async def test_rename(self, rig: Rig) -> None:
        await talking(rig)
        assert await asked(rig, asks.RenameChat("a", "New")) == [("rename", "a", "New")]

    async def test_the_user_renames_a_chat_that_keeps_its_title(self, rig: Rig) -> None:
        await talking(rig)
        rig.agent.say("a", TitleChanged("First"))
        rig.agent.end(AgentExit("it crashed"))
        await rig.view.until(lambda: rig.states()[-1] == "failed")
        rig.do(intents.SendPrompt("a", "go on"))
        (await rig.starting(2)).ready()
        rig.agent.say("a", ChatOpened(), TitleChanged("Second"), RUNNING, ENDED)
        assert rig.status()["title"] == "First"
        await asked(rig, asks.RenameChat("a", "Mine"))
        rig.agent.say("a", TitleChanged("Mine"))
        assert rig.status()["title"] == "Mine"

    async def test_a_chat_the_agent_never_heard_of_has_no_title(self, rig: Rig) -> None:
        archive = (await rig.ready()).archive
        assert "send a prompt first" in await warned(rig, asks.RenameChat("a", "New"))
        assert archive.asked == []

    async def test_clear(self, rig: Rig) -> None:
        await talking(rig)
        assert await asked(rig, asks.ClearMessages("a")) == [("clear", "a")]
        assert rig.view.of(ClearChat) == [ClearChat("a")]

    async def test_clear_waits_for_the_end_of_the_turn(self, rig: Rig) -> None:
        archive = await talking(rig)
        rig.agent.say("a", RUNNING)
        assert "a turn is running: stop it first" in await warned(rig, asks.ClearMessages("a"))
        assert archive.asked == []

    async def test_delete(self, rig: Rig) -> None:
        await talking(rig)
        assert await asked(rig, asks.DeleteChat("a")) == [("delete", "a")]
        assert rig.view.of(ForgetChat) == [ForgetChat("a")]
        rig.do(intents.OpenChat("a"))
        await rig.done()
        assert "title" not in rig.status("a")

    async def test_what_comes_of_a_deleted_chat_is_dropped(self, rig: Rig) -> None:
        await talking(rig)
        await asked(rig, asks.DeleteChat("a"))
        opened = len(rig.view.of(OpenBlock))
        rig.agent.say("a", prompt("late", "u9"), ANSWER)
        assert len(rig.view.of(OpenBlock)) == opened
        rig.do(intents.SendPrompt("a", "again"))
        await rig.view.until(lambda: ("prompt", "a", "again") in rig.said())

    async def test_what_a_deleted_chat_leaves_is_told(self, rig: Rig) -> None:
        archive = await talking(rig)
        archive.left = "a job may still run"
        assert await warned(rig, asks.DeleteChat("a")) == archive.left
        assert rig.view.of(ForgetChat) == [ForgetChat("a")]

    async def test_delete_is_told_once(self, rig: Rig) -> None:
        archive = await talking(rig)
        archive.gate = anyio.Event()
        await asked(rig, asks.DeleteChat("a"))
        rig.agent.say("a", ChatDeleted())
        archive.gate.set()
        await rig.view.until(lambda: rig.view.of(ForgetChat))
        assert [op.event for op in rig.view.of(Emit)].count("EcaChatClosed") == 1

    async def test_a_chat_of_ours_alone_is_deleted_here(self, rig: Rig) -> None:
        archive = (await rig.ready()).archive
        rig.do(asks.DeleteChat("a"))
        await rig.view.until(lambda: rig.view.of(ForgetChat))
        assert archive.asked == []
        assert Emit("EcaChatClosed", {"chat": "a"}) in rig.view.ops

    async def test_one_deleted_elsewhere_can_be_prompted_again(self, rig: Rig) -> None:
        await talking(rig)
        rig.agent.say("a", ChatDeleted())
        assert "a prompt starts it again" in rig.view.text()
        rig.do(intents.SendPrompt("a", "again"))
        await rig.view.until(lambda: ("prompt", "a", "again") in rig.said())

    async def test_a_refusal_changes_nothing(self, rig: Rig) -> None:
        archive = await talking(rig)
        archive.fault = AgentRefused("this server does not know chat/delete")
        assert "does not know" in await warned(rig, asks.DeleteChat("a"))
        assert rig.view.of(ForgetChat) == []

    async def test_a_chat_nobody_knows(self, rig: Rig) -> None:
        await rig.ready()
        assert await warned(rig, asks.DeleteChat("zz")) == "there is no such chat"


class TestStrangers:
    """Chats that only the agent knows."""

    async def test_one_that_is_opened_appears(self, rig: Rig) -> None:
        agent = await rig.ready()
        agent.announce(announced(model="m1", agent="code"))
        agent.say("other", ChatOpened("Copy"), prompt("hi", "u1"))
        agent.say("other", ChatOpened("Copy"))
        assert rig.status("other")["title"] == "Copy"
        assert rig.status("other")["model"] == "m1"
        opened = [op for op in rig.view.of(Emit) if op.event == "EcaChatOpened"]
        assert len([op for op in opened if op.data["chat"] == "other"]) == 1

    async def test_words_about_one_nobody_sees_make_none(self, rig: Rig) -> None:
        agent = await rig.ready()
        agent.say("other", RUNNING, ENDED, ChatCleared(), ChatDeleted())
        agent.announce(announced(model="m", chat_id="other"))
        assert all(op.data.get("chat") != "other" for op in rig.view.of(Emit))
