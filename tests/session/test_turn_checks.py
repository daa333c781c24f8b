"""If an agent never ends a turn, it is asked for its chats."""

from typing import NoReturn

import pytest
from tests.session.rig import FakeAgent, Rig

from eca_nvim.agents.abilities import AgentLacks, ChatSummary
from eca_nvim.chat.handlers import turn
from eca_nvim.chat.vocabulary import intents
from eca_nvim.chat.vocabulary.ops import Notify
from eca_nvim.session import chats

pytestmark = pytest.mark.anyio


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let times pass fast."""
    monkeypatch.setattr(chats, "REFRESH_INTERVAL", 0.01)
    monkeypatch.setattr(turn, "PATIENCE_MS", dict.fromkeys(turn.PATIENCE_MS, 20))
    monkeypatch.setattr(turn, "LONGEST_MS", 20)


async def test_a_turn_that_the_agent_forgot_ends(rig: Rig) -> None:
    agent = await rig.ready()
    agent.archive.chats = [ChatSummary("a", running=True)]
    rig.do(intents.SendPrompt("a", "go"))
    await rig.view.until(lambda: agent.archive.asked[1:])
    assert rig.status()["state"] == "running"
    agent.archive.chats = [ChatSummary("b", running=True), ChatSummary("a", running=False)]
    await rig.view.until(lambda: rig.status()["state"] == "idle")
    assert "reports this chat as idle" in rig.view.text()


async def test_a_stop_ends_the_turn_also_where_chats_cannot_be_listed(rig: Rig) -> None:
    agent = await rig.ready()
    agent.archive.faults["list"] = AgentLacks("cannot list its saved chats")
    rig.do(intents.SendPrompt("a", "go"))
    await rig.view.until(lambda: agent.archive.asked)
    assert rig.status()["state"] == "running"
    rig.do(intents.StopTurn("a"))
    await rig.view.until(lambda: rig.status()["state"] == "idle")
    assert "did not confirm the stop" in rig.view.text()


async def test_a_fault_while_chats_are_listed_ends_nothing_else(rig: Rig) -> None:
    agent = await rig.ready()
    agent.archive.faults["list"] = KeyError("a bug")
    rig.do(intents.SendPrompt("a", "go"))
    await rig.view.until(lambda: rig.view.of(Notify))
    assert "cannot ask if a turn runs: 'a bug'" in rig.view.of(Notify)[0].text
    del agent.archive.faults["list"]
    agent.archive.chats = [ChatSummary("a", running=False)]
    await rig.view.until(lambda: rig.status()["state"] == "idle")


async def test_an_agent_that_saves_no_chats_and_ignores_a_stop_can_be_left(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lacks(_agent: FakeAgent) -> NoReturn:
        raise AgentLacks("it saves no chats")

    monkeypatch.setattr(FakeAgent, "archive", property(lacks))
    agent = await rig.ready()
    rig.do(intents.SendPrompt("a", "go"), intents.StopTurn("a"), intents.StopTurn("a"))
    await rig.view.until(lambda: "did not confirm the stop" in rig.view.text())
    rig.do(intents.SendPrompt("a", "on"))
    await rig.done()
    told = ["prompt", "stop", "stop", "prompt"]
    assert [what for what, *_ in agent.told] == told
