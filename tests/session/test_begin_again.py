"""Going back with an agent that cannot: a new session gets a recap of what was said before."""

from __future__ import annotations

import anyio
import pytest
from tests.session.fake_archive import FakeArchive
from tests.session.rig import Rig
from tests.session.saved_chats import ENDED, RUNNING, asked, warned
from tests.support.announced import announced

from eca_nvim.agents.abilities import AgentRefused
from eca_nvim.agents.base import AgentExit
from eca_nvim.chat.user_actions.history_edits import WITH_RECAP
from eca_nvim.chat.vocabulary import intents, states
from eca_nvim.chat.vocabulary import query_intents as asks
from eca_nvim.chat.vocabulary.events import ChatEvent, Role, TextReceived
from eca_nvim.chat.vocabulary.ops import Answer, OpenBlock, RemoveBlock, SetInput
from eca_nvim.chat.vocabulary.options import ALL_ABILITIES, AbilitiesChanged, Ability
from eca_nvim.chat.vocabulary.turn_events import TurnEnded

pytestmark = pytest.mark.anyio


def said(text: str) -> TextReceived:
    return TextReceived(Role.ASSISTANT, text)


async def turn(rig: Rig, text: str, *answer: ChatEvent, end: TurnEnded = ENDED) -> None:
    """Send a prompt, and play the agent's turn."""
    agent = rig.agents[-1]
    count = len(agent.prompts)
    rig.do(intents.SendPrompt("a", text))
    await rig.view.until(lambda: len(agent.prompts) > count)
    agent.say("a", RUNNING, *answer, end)


async def talking(rig: Rig, *, able: bool = False) -> FakeArchive:
    """Play three turns with an agent that cannot roll back, or can, without ids of its prompts."""
    agent = await rig.ready("a")
    if not able:
        agent.announce(AbilitiesChanged(ALL_ABILITIES - {Ability.ROLLBACK}))
    for number in ("one", "two", "three"):
        await turn(rig, number, said(f"answer to {number}"))
    return agent.archive


def prompt_block(rig: Rig, text: str) -> int:
    """Return the block of a prompt, by its place."""
    users = [it.block for it in rig.view.of(OpenBlock) if it.kind == "user"]
    return users[("one", "two", "three").index(text)]


def recaps(rig: Rig) -> list[str | None]:
    """Return the recaps that the last agent got, one for each prompt."""
    return [it.recap for it in rig.agents[-1].prompts]


async def back_to_two(rig: Rig) -> None:
    await asked(rig, asks.Rollback("a", prompt_block(rig, "two")))


@pytest.mark.parametrize("able", [False, True])
async def test_the_next_prompt_has_a_recap_for_the_new_session(rig: Rig, *, able: bool) -> None:
    archive = await talking(rig, able=able)
    rig.do(asks.Rollback("a", prompt_block(rig, "two"), request=7))
    await rig.view.until(lambda: rig.view.of(Answer))
    assert rig.view.of(Answer) == [Answer(7, True)]
    assert archive.asked == [("begin_again", "a")]
    assert rig.view.of(SetInput) == [SetInput("a", "two")]
    assert len(rig.view.of(RemoveBlock)) == 4
    transcript = str(await rig.ask(asks.RequestTranscript("a", -77)))
    assert transcript.count("two") == 0
    assert WITH_RECAP in transcript
    await turn(rig, "two again", said("answer"))
    await turn(rig, "later", said("answer"))
    first, later = recaps(rig)[3:]
    assert later is None
    assert first == "## User\n\none\n\n## Assistant\n\nanswer to one"


async def test_it_gets_a_recap_until_it_has_answered(rig: Rig) -> None:
    await talking(rig)
    await back_to_two(rig)
    failed = TurnEnded(states.TurnEnd.FAILED, "no model")
    await turn(rig, "fails", end=failed)
    await turn(rig, "stopped", end=TurnEnded(states.TurnEnd.STOPPED))
    await turn(rig, "/compact", said("done"))
    await turn(rig, "works", said("answer"))
    await turn(rig, "later", said("answer"))
    assert [it is None for it in recaps(rig)[3:]] == [False, False, False, False, True]


async def test_back_once_more_before_a_prompt_was_sent(rig: Rig) -> None:
    archive = await talking(rig)
    await asked(rig, asks.Rollback("a", prompt_block(rig, "three")))
    await asked(rig, asks.Rollback("a", prompt_block(rig, "one")))
    assert archive.asked == [("begin_again", "a")] * 2
    await turn(rig, "again", said("answer"))
    assert recaps(rig)[-1] == ""


async def test_a_refusal_changes_nothing(rig: Rig) -> None:
    archive = await talking(rig)
    archive.fault = AgentRefused("no session: not now")
    assert "not now" in await warned(rig, asks.Rollback("a", prompt_block(rig, "two")))
    assert rig.view.of(RemoveBlock) == []
    await turn(rig, "four", said("answer"))
    assert recaps(rig)[-1] is None


async def test_an_agent_that_dies_before_the_prompt_gets_the_recap_later(rig: Rig) -> None:
    await talking(rig)
    await back_to_two(rig)
    rig.agent.end(AgentExit("it crashed"))
    await rig.view.until(lambda: rig.states()[-1] != "ready")
    rig.do(intents.SendPrompt("a", "two again"))
    (await rig.starting(2)).ready()
    await rig.view.until(lambda: rig.agents[1].prompts)
    assert recaps(rig) == ["## User\n\none\n\n## Assistant\n\nanswer to one"]


async def test_a_prompt_that_waits_has_it_too(rig: Rig) -> None:
    archive = await talking(rig)
    archive.gate = anyio.Event()
    sent = intents.SendPrompt("a", "waits")
    await asked(rig, asks.Rollback("a", prompt_block(rig, "two"), give_back=False), sent)
    archive.gate.set()
    await rig.view.until(lambda: len(rig.agent.prompts) == 4)
    assert rig.view.of(SetInput) == []
    assert recaps(rig)[-1] == "## User\n\none\n\n## Assistant\n\nanswer to one"


async def test_files_are_not_asked_of_it_and_a_chat_without_a_session_is_not_copied(
    rig: Rig,
) -> None:
    archive = await talking(rig)
    files = asks.Rollback("a", prompt_block(rig, "two"), messages=False, tools=True)
    assert "cannot restore files" in await warned(rig, files)
    await back_to_two(rig)
    assert "send a prompt first" in await warned(rig, asks.ForkChat("a", 0))
    assert archive.asked == [("begin_again", "a")]


async def test_what_was_set_in_the_chat_is_set_in_the_new_session(rig: Rig) -> None:
    await talking(rig)
    rig.agent.announce(announced(agents=("code", "plan")))
    rig.do(intents.Choose("a", "agent", "plan"))
    await rig.view.until(lambda: rig.status().get("agent") == "plan")
    count = len(rig.agent.told)
    await back_to_two(rig)
    rig.agent.open_chat("a")
    await rig.view.until(lambda: ("set", "a", "agent", "plan") in rig.agent.told[count:])
