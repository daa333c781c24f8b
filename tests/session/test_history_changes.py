"""Rollback, fork and flags, through the session with an agent in memory."""

from __future__ import annotations

import pytest
from tests.session.rig import Rig
from tests.session.saved_chats import RUNNING, asked, page, prompt, talking, warned

from eca_nvim.agents.abilities import AgentRefused, OpenedChat
from eca_nvim.chat.vocabulary import intents
from eca_nvim.chat.vocabulary import query_intents as asks
from eca_nvim.chat.vocabulary.events import FlagReceived
from eca_nvim.chat.vocabulary.ops import (
    Answer,
    FilesChanged,
    OpenBlock,
    RemoveBlock,
    SetInput,
    ShowChat,
)
from eca_nvim.chat.vocabulary.options import ALL_ABILITIES, AbilitiesChanged, Ability
from eca_nvim.chat.vocabulary.query_intents import RequestTimeline

pytestmark = pytest.mark.anyio


class TestRevising:
    """Rollback, fork, flags."""

    async def test_rollback(self, rig: Rig) -> None:
        await talking(rig)
        done = asks.Rollback("a", 0, messages=True, tools=True)
        assert await asked(rig, done) == [("rollback", "a", "u1", True, True)]
        assert rig.view.of(SetInput) == [SetInput("a", "hello")]
        assert rig.view.of(FilesChanged) == [FilesChanged("a", ())]
        assert len(rig.view.of(RemoveBlock)) == 2

    async def test_rollback_of_files_alone(self, rig: Rig) -> None:
        await talking(rig)
        await asked(rig, asks.Rollback("a", 0, messages=False, tools=True))
        assert rig.view.of(RemoveBlock) == []
        assert rig.view.of(FilesChanged) == [FilesChanged("a", ())]

    async def test_no_rollback_while_a_turn_runs(self, rig: Rig) -> None:
        archive = await talking(rig)
        rig.agent.say("a", RUNNING)
        assert "a turn is running: stop it first" in await warned(rig, asks.Rollback("a", 0))
        assert archive.asked == []

    async def test_no_rollback_to_what_is_no_prompt(self, rig: Rig) -> None:
        await rig.ready()
        assert "no prompt here" in await warned(rig, asks.Rollback("a", 0))

    async def test_fork_before_a_prompt(self, rig: Rig) -> None:
        archive = await talking(rig)
        rig.do(intents.Choose("a", "agent", "plan"), intents.SetTrust("a", trusted=True))
        events = (prompt("hello", "u1"),)
        archive.opened = OpenedChat(page("copy", *events), "Copy")
        assert await asked(rig, asks.ForkChat("a", 1)) == [
            ("fork", "a", "u1"),
            ("rollback", "copy", "u1", True, False),
        ]
        assert rig.view.of(SetInput) == [SetInput("copy", "hello")]
        assert rig.view.of(ShowChat) == [ShowChat("copy")]
        status = rig.status("copy")
        assert (status["title"], status["agent"], status["trust"]) == ("Copy", "plan", False)

    async def test_a_copy_is_shown_with_the_prompt_it_cannot_lose(self, rig: Rig) -> None:
        archive = await talking(rig)
        archive.opened = OpenedChat(page("copy", prompt("hello", "u1")), "Copy")
        archive.faults["rollback"] = AgentRefused("this server does not know chat/rollback")
        assert "does not know" in await warned(rig, asks.ForkChat("a", 1))
        assert rig.view.of(ShowChat) == [ShowChat("copy")]
        assert rig.view.of(SetInput) == []

    async def test_fork_of_a_whole_chat(self, rig: Rig) -> None:
        archive = await talking(rig)
        archive.opened = OpenedChat(page("copy", prompt("old", "u1")), "Copy")
        rig.agent.announce(AbilitiesChanged(ALL_ABILITIES - {Ability.FORK_HERE}))
        assert (await asked(rig, asks.ForkChat("a", 1)))[-1] == ("fork", "a", None)
        await rig.view.until(lambda: ShowChat("copy") in rig.view.ops)
        assert rig.status("copy")["title"] == "Copy"
        rig.do(intents.SendPrompt("a", "go on"))
        rig.agent.say("a", RUNNING)
        assert "a turn is running" in await warned(rig, asks.ForkChat("a", 1))

    async def test_no_fork_without_a_name(self, rig: Rig) -> None:
        archive = await talking(rig)
        assert "can be forked only at" in await warned(rig, asks.ForkChat("a", 0))
        assert archive.asked == []

    async def test_flags(self, rig: Rig) -> None:
        await talking(rig)
        assert await asked(rig, asks.AddFlag("a", 1, "here")) == [("add_flag", "a", "u1", "here")]
        flag = rig.view.of(OpenBlock)[-1]
        assert (flag.header, flag.after) == ((("⚑ here", "EcaFlag"),), 1)
        told = await asked(rig, asks.RemoveFlag("a", flag.block))
        assert told[-1] == ("remove_flag", "a", "flag-1")
        assert rig.view.of(RemoveBlock) == [RemoveBlock("a", flag.block)]
        assert await warned(rig, asks.RemoveFlag("a", 1)) == "no flag here"

    async def test_the_timeline(self, rig: Rig) -> None:
        await talking(rig)
        rig.agent.say("a", FlagReceived("here", "f1"))
        flag = rig.view.of(OpenBlock)[-1].block
        rig.do(RequestTimeline("a", 5), RequestTimeline("zz", 6))
        rig.do(RequestTimeline("a", 7, flag))
        await rig.view.until(lambda: len(rig.view.of(Answer)) == 3)
        first, second, third = rig.view.of(Answer)
        assert isinstance(third.value, list)
        assert [row["title"] for row in third.value] == ["hello"]
        assert isinstance(first.value, list)
        assert [row["title"] for row in first.value] == ["hello", "here"]
        assert second == Answer(6, [])
