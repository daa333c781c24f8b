"""The ledger hears of each end of a turn, and of no other; else it notes each write for ever."""

import pytest
from tests.session.rig import FakeAgent, Rig

from eca_nvim.agents.base import AgentExit
from eca_nvim.chat.vocabulary import intents
from eca_nvim.chat.vocabulary.turn_events import LoginBegan, TurnBegan, TurnEnded

pytestmark = pytest.mark.anyio


def running(rig: Rig) -> list[int]:
    """Return the numbers of the turns whose end is not noted."""
    return [it.number for it in rig.session._ledger.commands.turns_of("a")]


async def prompted(rig: Rig) -> FakeAgent:
    agent = await rig.ready()
    rig.do(intents.SendPrompt("a", "go"))
    await rig.done()
    return agent


async def test_a_turn_is_over_with_its_server(rig: Rig) -> None:
    agent = await prompted(rig)
    agent.say("a", TurnBegan())
    assert running(rig) == [1]
    agent.end(AgentExit("it died", 1))
    await rig.view.until(lambda: "it died" in rig.view.text())
    assert running(rig) == []


async def test_a_turn_is_over_though_a_queued_prompt_follows(rig: Rig) -> None:
    agent = await prompted(rig)
    agent.say("a", TurnBegan())
    rig.do(intents.SendPrompt("a", "then this", queue=True))
    await rig.done()
    agent.say("a", TurnEnded())
    assert running(rig) == [2]


async def test_a_login_that_said_nothing_is_over_with_its_stop(rig: Rig) -> None:
    agent = await prompted(rig)
    agent.say("a", LoginBegan())
    rig.do(intents.StopTurn("a"))
    await rig.done()
    assert rig.status()["state"] == "idle"
    assert running(rig) == []


async def test_a_turn_goes_on_after_its_subagents(rig: Rig) -> None:
    agent = await prompted(rig)
    agent.say("a", TurnBegan())
    agent.say("sub", TurnBegan(), TurnEnded(), parent="a")
    assert running(rig) == [1]
    agent.say("a", TurnEnded())
    assert running(rig) == []
