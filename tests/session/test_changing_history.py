"""Prompts that are sent while a history changes: none is lost, from the screen or to the agent."""

from __future__ import annotations

from collections.abc import Sequence

import anyio
import pytest
from tests.session.fake_archive import FakeArchive
from tests.session.rig import Rig
from tests.session.saved_chats import asked, page, prompt, talking

from eca_nvim.agents.abilities import AgentRefused, Archive, CursorExpired, OpenedChat
from eca_nvim.agents.base import AgentExit
from eca_nvim.chat.vocabulary import intents
from eca_nvim.chat.vocabulary import query_intents as asks
from eca_nvim.chat.vocabulary.bases import name_of
from eca_nvim.chat.vocabulary.ops import ForgetChat, SetQueue, SetStatus
from eca_nvim.chat.vocabulary.query_intents import RequestTranscript

pytestmark = pytest.mark.anyio

REPLACES_WHAT_IS_SHOWN = frozenset({"open_chat", "clear", "rollback", "begin_again", "add_flag"})
"""Requests during which prompts must wait, each with a test here."""
ADDS_OR_KEEPS = frozenset({"list_chats", "history", "rename", "delete", "fork", "remove_flag"})
FOR_ANOTHER_TRY = frozenset({"branch", "exchange"})
"""They are sent while a history changes, see `session/requests/attempts.py`."""
CHANGES = (
    asks.ClearMessages("a"),
    asks.Rollback("a", 0),
    asks.Rollback("a", 0, messages=False, tools=True),
    asks.AddFlag("a", 1, "here"),
)


def prompts(rig: Rig, chat: str = "a") -> list[object]:
    """Return what the agents were asked in a chat."""
    said = [it for agent in rig.agents for it in agent.told]
    return [it[2] for it in said if it[:2] == ("prompt", chat)]


def queue(rig: Rig, chat: str = "a") -> Sequence[object]:
    """Return the prompts that are shown as queued."""
    shown = [op.prompts for op in rig.view.of(SetQueue) if op.chat == chat]
    return shown[-1] if shown else []


async def begun(rig: Rig, archive: FakeArchive, *done: intents.Intent) -> anyio.Event:
    """Send intents in one tick; the agent does not respond to the first before the event."""
    archive.gate = anyio.Event()
    await asked(rig, *done)
    return archive.gate


async def transcript(rig: Rig, chat: str = "a") -> str:
    return str(await rig.ask(RequestTranscript(chat, -77)))


@pytest.mark.parametrize(
    "intent", CHANGES, ids=lambda it: f"{name_of(it)}-{getattr(it, 'tools', '')}"
)
class TestAnyChange:
    """Whatever changes a history in place."""

    async def test_a_prompt_right_after_it_waits(self, rig: Rig, intent: intents.Intent) -> None:
        archive = await talking(rig)
        gate = await begun(rig, archive, intent, intents.SendPrompt("a", "next", request=-1))
        assert (queue(rig), prompts(rig)) == ([("queue", "next")], ["hello"])
        assert rig.status()["state"] == "running"
        gate.set()
        await rig.view.until(lambda: prompts(rig) == ["hello", "next"])
        assert (await transcript(rig)).count("next") == 1
        assert queue(rig) == []
        assert rig.status()["state"] == "running"

    async def test_a_refusal_sends_it(self, rig: Rig, intent: intents.Intent) -> None:
        archive = await talking(rig)
        archive.fault = AgentRefused("not now")
        gate = await begun(rig, archive, intent, intents.SendPrompt("a", "next"))
        gate.set()
        await rig.view.until(lambda: "not now" in rig.lines())
        assert prompts(rig) == ["hello", "next"]
        assert "hi there" in await transcript(rig)

    async def test_a_chat_that_is_closed_meanwhile_stays_closed(
        self, rig: Rig, intent: intents.Intent
    ) -> None:
        archive = await talking(rig)
        gate = await begun(rig, archive, intent, intents.SendPrompt("a", "next"))
        archive.gate = None
        await asked(rig, asks.DeleteChat("a"))
        gate.set()
        await anyio.wait_all_tasks_blocked()
        last = rig.view.ops.index(ForgetChat("a"))
        assert not [op for op in rig.view.ops[last + 1 :] if getattr(op, "chat", "") == "a"]
        assert prompts(rig) == ["hello"]


async def test_each_request_of_an_archive_is_known_here() -> None:
    """A new one may have to let prompts wait (`ChangingHistories.change`)."""
    requests = {name for name in vars(Archive) if not name.startswith("_")}
    assert requests == REPLACES_WHAT_IS_SHOWN | ADDS_OR_KEEPS | FOR_ANOTHER_TRY


async def test_the_chat_is_never_idle_until_the_answer(rig: Rig) -> None:
    archive = await talking(rig)
    gate = await begun(rig, archive, asks.ClearMessages("a"), intents.SendPrompt("a", "next"))
    first = len(rig.view.of(SetStatus))
    gate.set()
    await rig.view.until(lambda: len(prompts(rig)) == 2)
    assert {op.status["state"] for op in rig.view.of(SetStatus)[first - 1 :]} == {"running"}


async def test_a_second_clear_waits_and_does_not_clear_the_next_turn(rig: Rig) -> None:
    archive = await talking(rig)
    twice = (asks.ClearMessages("a"), asks.ClearMessages("a"))
    gate = await begun(rig, archive, *twice, intents.SendPrompt("a", "next"))
    gate.set()
    await rig.view.until(rig.lines)
    assert rig.lines() == ["a turn is running: stop it first with :Eca stop"]
    assert archive.asked == [("clear", "a")]
    assert "next" in await transcript(rig)


async def test_flags_are_set_one_after_the_other(rig: Rig) -> None:
    archive = await talking(rig)
    await asked(rig, asks.AddFlag("a", 1, "one"), asks.AddFlag("a", 1, "two"))
    assert [it[-1] for it in archive.asked] == ["one", "two"]


async def test_a_stop_keeps_the_prompt_queued(rig: Rig) -> None:
    archive = await talking(rig)
    sent = (intents.SendPrompt("a", "next"), intents.StopTurn("a"))
    gate = await begun(rig, archive, asks.ClearMessages("a"), *sent)
    assert (queue(rig), rig.status()["state"]) == ([("queue", "next")], "idle")
    gate.set()
    await anyio.wait_all_tasks_blocked()
    assert (queue(rig), prompts(rig)) == ([("queue", "next")], ["hello"])
    assert rig.agent.told[-1] == ("give_up", "a")
    rig.do(intents.SendPrompt("a", ""))
    await rig.view.until(lambda: prompts(rig) == ["hello", "next"])


class TestResume:
    """A chat is resumed, or its newest page is loaded again."""

    @pytest.mark.parametrize("fault", [None, AgentRefused("gone")])
    async def test_a_prompt_waits_for_what_was_said(
        self, rig: Rig, fault: AgentRefused | None
    ) -> None:
        archive = (await rig.ready()).archive
        archive.opened = OpenedChat(page("b", prompt("old", "u1")), "Fix")
        archive.fault = fault
        rig.do(intents.OpenChat("b"))
        sent = intents.SendPrompt("b", "typed")
        gate = await begun(rig, archive, asks.ResumeChat("b", quiet=True, instead="b"), sent)
        assert (queue(rig, "b"), prompts(rig, "b")) == ([("queue", "typed")], [])
        gate.set()
        await rig.view.until(lambda: prompts(rig, "b") == ["typed"])
        said = await transcript(rig, "b")
        assert said.index("typed") > (-1 if fault else said.index("old"))

    async def test_a_prompt_waits_for_the_server_too(self, rig: Rig) -> None:
        opened = (intents.OpenChat("b"), asks.ResumeChat("b", quiet=True))
        rig.do(*opened, intents.SendPrompt("b", "typed"))
        agent = await rig.starting()
        agent.archive.opened = OpenedChat(page("b", prompt("old", "u1")), "Fix")
        await rig.done()
        assert queue(rig, "b") == [("queue", "typed")]
        agent.ready()
        await rig.view.until(lambda: prompts(rig, "b") == ["typed"])
        said = await transcript(rig, "b")
        assert said.index("old") < said.index("typed")

    async def test_a_blank_chat_with_a_waiting_prompt_is_not_removed(self, rig: Rig) -> None:
        archive = (await rig.ready("blank")).archive
        rig.do(intents.OpenChat("b"))
        gate = await begun(
            rig, archive, asks.ResumeChat("blank"), intents.SendPrompt("blank", "typed")
        )
        await asked(rig, asks.ResumeChat("b", instead="blank"))
        gate.set()
        await rig.view.until(lambda: prompts(rig, "blank") == ["typed"])
        assert rig.view.of(ForgetChat) == []

    async def test_a_prompt_waits_for_the_newest_page(self, rig: Rig) -> None:
        archive = (await rig.ready()).archive
        archive.opened = OpenedChat(page("b", prompt("new", "u9"), older="c1"))
        rig.do(intents.OpenChat("b"))
        await asked(rig, asks.ResumeChat("b"))
        archive.faults["history"] = CursorExpired("gone")
        gate = archive.gates["open"] = anyio.Event()
        await asked(rig, asks.LoadOlder("b"))
        assert len(archive.asked) == 3
        rig.do(intents.SendPrompt("b", "typed"))
        await rig.done()
        assert (queue(rig, "b"), prompts(rig, "b")) == ([("queue", "typed")], [])
        gate.set()
        await rig.view.until(lambda: prompts(rig, "b") == ["typed"])
        assert (await transcript(rig, "b")).count("typed") == 1


class TestGoneMeanwhile:
    """The user deletes a chat, or takes another server, before the response."""

    async def deleted(self, rig: Rig, chat: str, gate: anyio.Event) -> None:
        """Delete a chat, let the response come, and assert that nothing follows."""
        rig.do(asks.DeleteChat(chat))
        await rig.view.until(lambda: rig.view.of(ForgetChat))
        gate.set()
        await anyio.wait_all_tasks_blocked()
        last = rig.view.ops.index(ForgetChat(chat))
        assert not [op for op in rig.view.ops[last + 1 :] if getattr(op, "chat", "") == chat]
        assert rig.lines() == []

    @pytest.mark.parametrize("fault", [None, CursorExpired("gone")])
    async def test_a_chat_whose_messages_are_loaded(
        self, rig: Rig, fault: CursorExpired | None
    ) -> None:
        archive = (await rig.ready()).archive
        archive.opened = OpenedChat(page("b", prompt("new", "u9"), older="c1"))
        rig.do(intents.OpenChat("b"))
        await asked(rig, asks.ResumeChat("b"))
        archive.faults = {"history": fault} if fault else {}
        gate = archive.gates["open" if fault else "history"] = anyio.Event()
        await asked(rig, asks.LoadOlder("b"))
        await self.deleted(rig, "b", gate)

    async def test_a_chat_that_is_resumed(self, rig: Rig) -> None:
        archive = (await rig.ready()).archive
        archive.opened = OpenedChat(page("b", prompt("old", "u1")), "Fix")
        rig.do(intents.OpenChat("b"))
        resume = (asks.ResumeChat("b"), intents.SendPrompt("b", "typed"))
        await self.deleted(rig, "b", await begun(rig, archive, *resume))
        assert prompts(rig, "b") == []

    async def test_a_copy(self, rig: Rig) -> None:
        archive = await talking(rig)
        archive.opened = OpenedChat(page("copy", prompt("hello", "u1")), "Copy")
        gate = archive.gates["rollback"] = anyio.Event()
        await asked(rig, asks.ForkChat("a", 1))
        await self.deleted(rig, "copy", gate)

    async def test_a_chat_that_is_resumed_stays_with_its_server(self, rig: Rig) -> None:
        archive = (await rig.ready()).archive
        archive.opened = OpenedChat(page("b", prompt("old", "u1")), "Fix")
        rig.do(intents.OpenChat("b"))
        gate = await begun(rig, archive, asks.ResumeChat("b"), intents.SendPrompt("b", "typed"))
        rig.do(intents.OpenChat("b", server="other"))
        await rig.view.until(rig.lines)
        gate.set()
        await rig.view.until(lambda: prompts(rig, "b") == ["typed"])
        assert rig.named == ["eca"]
        assert rig.lines() == ["this chat stays with eca: :Eca new starts one with other"]


async def test_a_prompt_in_a_copy_waits_until_its_last_prompt_is_removed(rig: Rig) -> None:
    archive = await talking(rig)
    archive.opened = OpenedChat(page("copy", prompt("hello", "u1")), "Copy")
    gate = archive.gates["rollback"] = anyio.Event()
    await asked(rig, asks.ForkChat("a", 1))
    assert len(archive.asked) == 2
    rig.do(intents.SendPrompt("copy", "next"))
    await rig.done()
    assert (queue(rig, "copy"), prompts(rig, "copy")) == ([("queue", "next")], [])
    gate.set()
    await rig.view.until(lambda: prompts(rig, "copy") == ["next"])
    assert "next" in await transcript(rig, "copy")


class TestEndOfTheServer:
    """The agent ends before it has responded."""

    async def dying(self, rig: Rig) -> anyio.Event:
        """Clear a chat and send a prompt; the event lets the request fail."""
        archive = await talking(rig)
        archive.fault = AgentRefused("the server is gone")
        return await begun(rig, archive, asks.ClearMessages("a"), intents.SendPrompt("a", "next"))

    async def test_a_crash_is_reported_and_the_prompt_starts_it_again(self, rig: Rig) -> None:
        gate = await self.dying(rig)
        rig.agent.has_ended = True
        gate.set()
        await anyio.wait_all_tasks_blocked()
        assert prompts(rig) == ["hello"]
        rig.agent.end(AgentExit("it crashed"))
        (await rig.starting(2)).ready()
        await rig.view.until(lambda: prompts(rig) == ["hello", "next"])
        said = await transcript(rig)
        assert said.index("it crashed") < said.index("next")

    async def test_a_restart_sends_it_to_the_next(self, rig: Rig) -> None:
        gate = await self.dying(rig)
        rig.do(intents.StartServer(restart=True))
        gate.set()
        (await rig.starting(2)).ready()
        await rig.view.until(lambda: prompts(rig) == ["hello", "next"])
        assert rig.agents[1].told[-1] == ("prompt", "a", "next")

    async def test_a_server_that_the_user_ends_stays_ended(self, rig: Rig) -> None:
        gate = await self.dying(rig)
        rig.do(intents.QuitServer())
        await rig.view.until(lambda: rig.states()[-1] == "stopped")
        gate.set()
        await rig.view.until(lambda: "the server is gone" in rig.lines())
        assert (queue(rig), prompts(rig)) == ([("queue", "next")], ["hello"])
        assert len(rig.agents) == 1
        assert rig.status()["state"] == "idle"


async def test_what_waits_when_the_host_ends_is_kept(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = await talking(rig)
    kept: dict[str, Sequence[str]] = {}
    monkeypatch.setattr(rig.persistence, "keep_unsent", kept.update)
    await begun(rig, archive, asks.ClearMessages("a"), intents.SendPrompt("a", "next"))
    rig.session.kill()
    assert kept == {"a": ["next"]}
