"""Model, agent and variant of a chat, chosen by the user or the agent; and its content."""

from base64 import b64encode
from collections.abc import Mapping

import anyio
import pytest
from tests.session.rig import Rig
from tests.support.announced import announced
from tests.support.calls import eca_call

from eca_nvim.agents.base import AgentExit
from eca_nvim.agents.eca.prompts import Selection
from eca_nvim.chat.vocabulary import intents
from eca_nvim.chat.vocabulary.events import ToolFinished
from eca_nvim.chat.vocabulary.ops import Answer, ShowOutput
from eca_nvim.chat.vocabulary.query_intents import Grep, RequestImage, RequestOutput, Reveal
from eca_nvim.chat.vocabulary.turn_events import ImageReceived, TurnEnded
from eca_nvim.protocol.eca.chat import ChatConfig, ConfigUpdated

pytestmark = pytest.mark.anyio

OFFERS = announced(
    models=("m1", "m2"), agents=("code", "plan"), variants=("low",), model="m1", agent="code"
)


async def choose(rig: Rig, *choices: tuple[str, object], chat: str = "a") -> None:
    rig.do(*(intents.Choose(chat, what, value) for what, value in choices))
    await rig.done()


async def test_an_agent_chosen_before_the_first_prompt_brings_its_own_model(rig: Rig) -> None:
    agent = await rig.ready()
    agent.announce(OFFERS)
    await choose(rig, ("agent", "plan"))
    assert "model" not in rig.status()
    agent.announce(announced(model="m2"))
    rig.do(intents.SendPrompt("a", "hi"))
    await rig.done()
    assert agent.last_selection == Selection("", "plan", "")
    agent.answers("a", "m9")
    agent.announce(OFFERS)
    assert rig.status()["model"] == "m9"


async def test_an_agent_chosen_later_leaves_the_model(rig: Rig) -> None:
    agent = await rig.ready()
    agent.announce(OFFERS)
    rig.do(intents.SendPrompt("a", "hi"))
    await choose(rig, ("agent", "plan"))
    assert rig.status()["model"] == "m1"


async def test_a_variant_goes_with_its_model(rig: Rig) -> None:
    agent = await rig.ready()
    agent.announce(OFFERS, announced(variants=("low", "high"), model="m2", chat_id="nobody"))
    await choose(rig, ("variant", "low"), ("model", "m2"))
    assert rig.status()["variant"] == "low"
    await choose(rig, ("variant", "high"), ("model", "m1"))
    assert "variant" not in rig.status()
    assert rig.offers()["variant"] == ["none", "low"]


@pytest.mark.parametrize(
    ("what", "name", "line"),
    [
        ("model", "m", "unknown model 'm'; did you mean m"),
        ("model", "anthropic/claude", "unknown model 'anthropic/claude'"),
        ("agent", "coed", "unknown agent 'coed'; did you mean code?"),
        ("agent", "plna", "unknown agent 'plna'; did you mean plan?"),
        ("variant", "lwo", "unknown variant 'lwo'; did you mean low?"),
        ("agent", "a\nb", "unknown agent 'a b'"),
        ("agent", "x" * 100_000, "unknown agent 'xxx"),
    ],
)
async def test_a_name_that_is_not_offered_is_refused_with_one_spelt_alike(
    rig: Rig, what: str, name: str, line: str
) -> None:
    agent = await rig.ready()
    await choose(rig, ("agent", "any"))
    agent.announce(OFFERS)
    before = dict(rig.status())
    await choose(rig, (what, name))
    assert rig.lines()[0].startswith(line)
    assert rig.status() == before


async def test_a_variant_that_the_model_does_not_have_is_refused(rig: Rig) -> None:
    agent = await rig.ready()
    agent.announce(OFFERS, announced(variants=(), model="m2", chat_id="nobody"))
    await choose(rig, ("variant", "high"), ("model", "m2"), ("variant", "low"), ("variant", ""))
    assert rig.lines() == ["unknown variant 'high'", "unknown variant 'low'"]
    assert "variant" not in rig.status()
    assert not rig.persistence.choices("eca")("variant")


async def test_any_variant_is_taken_while_those_of_the_model_are_not_known(rig: Rig) -> None:
    agent = await rig.ready()
    agent.announce(OFFERS)
    await choose(rig, ("model", "m2"), ("variant", "high"))
    assert rig.status()["variant"] == "high"
    assert rig.lines() == []


async def test_what_is_not_offered_any_more_is_not_chosen_again(rig: Rig) -> None:
    rig.persistence.keep_choice("eca", "model", "gone")
    rig.persistence.keep_choice("eca", "agent", "gone")
    rig.persistence.keep_choice("eca", "variant", "gone")
    agent = await rig.ready()
    agent.announce(OFFERS)
    assert (rig.status()["model"], rig.status()["agent"]) == ("m1", "code")


async def test_a_kept_agent_without_a_kept_model_brings_its_own(rig: Rig) -> None:
    rig.persistence.keep_choice("eca", "agent", "plan")
    agent = await rig.ready()
    agent.announce(OFFERS)
    assert rig.status()["agent"] == "plan"
    assert "model" not in rig.status()


async def test_what_one_chat_chooses_leaves_the_open_ones(rig: Rig) -> None:
    agent = await rig.ready()
    rig.do(intents.OpenChat("b"))
    await rig.done()
    agent.announce(OFFERS)
    await choose(rig, ("model", "m2"))
    agent.announce(OFFERS)
    assert rig.status("b")["model"] == "m1"
    rig.do(intents.OpenChat("c"))
    await rig.done()
    assert rig.status("c")["model"] == "m2"


def forced(**selected: str) -> ConfigUpdated:
    """Announce what every chat must go on with."""
    config = {f"select_{what}": name or None for what, name in selected.items()}
    return ConfigUpdated(chat=ChatConfig(**config))  # type: ignore[arg-type]


async def test_what_the_agent_forces_overrules_what_was_chosen(rig: Rig) -> None:
    agent = await rig.ready()
    agent.announce(OFFERS, forced(model="m1", agent="code"))
    await choose(rig, ("model", "m2"), ("agent", "plan"))
    rig.do(intents.OpenChat("b"))
    await rig.done()
    agent.announce(forced(model="m1"))
    assert [(rig.status(it)["model"], rig.status(it)["agent"]) for it in "ab"] == [
        ("m1", "plan"),
        ("m1", "plan"),
    ]
    agent.announce(forced(agent="code"))
    assert rig.status()["agent"] == "code"


async def test_what_is_forced_at_the_start_leaves_what_is_offered(rig: Rig) -> None:
    rig.persistence.keep_choice("eca", "model", "m2")
    agent = await rig.ready()
    agent.announce(OFFERS, forced(model="m1"))
    assert rig.status()["model"] == "m2"
    await choose(rig, ("model", "m1"), ("variant", "low"))
    agent.announce(announced(models=("m2", "m3")))
    agent.end(AgentExit("gone"))
    await rig.view.until(lambda: rig.states()[-1] == "failed")
    agent.announce(announced(model="m3", forced=("model",)))
    assert rig.status()["model"] == "m3"
    assert "variant" not in rig.status()


async def test_a_model_forced_while_a_prompt_runs_is_that_chats(rig: Rig) -> None:
    agent = await rig.ready()
    agent.announce(OFFERS, forced(model="m1"))
    rig.do(intents.OpenChat("b"))
    await choose(rig, ("model", "m1"), chat="b")
    rig.do(intents.SendPrompt("a", "/model m2"))
    await rig.done()
    agent.announce(forced(model="m2"))
    agent.answers("a", "m1")
    agent.say("a", TurnEnded())
    assert (rig.status("a")["model"], rig.status("b")["model"]) == ("m2", "m1")
    rig.do(intents.SendPrompt("a", "go on"))
    await rig.done()
    assert agent.last_selection.model == "m2"
    agent.answers("a", "m9")
    assert rig.status("a")["model"] == "m9"


# --- looking for something -----------------------------------------------------------------------


async def test_a_chat_is_searched_and_shown_whole(rig: Rig) -> None:
    agent = await rig.ready()
    agent.say("a", ToolFinished(eca_call("c", "grep", arguments={"pattern": "x"}), ("a\nword",)))
    found = await rig.ask(Grep("a", "word", 7))
    assert await rig.ask(Reveal("a", 1, 8, 1)) == 1
    assert await rig.ask(Grep("x", "w", 9)) == {"hits": [], "more": 0}
    rig.do(RequestOutput("a", 1), RequestOutput("a", 9))
    await rig.done()
    assert isinstance(found, Mapping)
    [hit] = found["hits"]
    assert hit["text"] == "word"
    assert [list(op.lines) for op in rig.view.of(ShowOutput)] == [["a", "word"]]
    assert "word" in rig.view.text()


async def test_the_file_of_an_image_is_given_to_who_can_show_it(rig: Rig) -> None:
    agent = await rig.ready()
    png = b64encode(b"\x89PNG data").decode()
    for kind, content in (("image/png", png), ("image/svg+xml", png), ("image/png", "?")):
        agent.say("a", ImageReceived(kind, content))
    rig.do(*(RequestImage("a", block, block) for block in (1, 2, 3, 4)))
    await rig.done()
    answers = {op.request: op.value for op in rig.view.of(Answer)}
    assert await anyio.Path(str(answers[1])).read_bytes() == b"\x89PNG data"
    assert [answers[number] for number in (2, 3, 4)] == [None, None, None]
