"""What the user sets in a chat that goes on, before its agent has listed what there is to set."""

import anyio
import pytest
from tests.session.rig import PATIENCE, Rig
from tests.session.saved_chats import asked
from tests.session.test_options import LISTED, Fictive, values

from eca_nvim.agents.abilities import AgentRefused
from eca_nvim.chat.vocabulary import intents, query_intents
from eca_nvim.server.find import Finding

pytestmark = pytest.mark.anyio


class Late(Fictive):
    """An agent that lists the options of a chat when somebody needs them."""

    def open_chat(self, chat_id: str, *, is_needed: bool = False) -> None:
        if is_needed:
            self.chats.append(("open", chat_id))
            super().open_chat(chat_id)


@pytest.fixture(autouse=True)
def late(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.session.rig.FakeAgent", Late)


@pytest.mark.parametrize("is_ready", [True, False])
async def test_a_choice_has_the_agent_list_what_there_is(rig: Rig, is_ready: bool) -> None:
    rig.session.configure({"eca": {"mode": "plan"}}, Finding())
    rig.do(intents.OpenChat("a"))
    agent = await rig.starting()
    if is_ready:
        agent.ready()
    await rig.done()
    assert agent.chats == []
    rig.do(intents.Choose("a", "mode-id", "code"), intents.Choose("a", "model", "Small"))
    await rig.done()
    if not is_ready:
        agent.ready()
    assert agent.chats == [("open", "a")]
    assert sorted(agent.told) == [("set", "a", "m", "small"), ("set", "a", "mode-id", "code")]
    assert (values(rig)["Mode"], values(rig)["Model"]) == ("Code", "Small")
    assert rig.view.text() == ""


@pytest.mark.parametrize("fault", [None, AgentRefused("no such chat")])
async def test_a_choice_does_not_open_a_chat_whose_text_is_wanted(
    rig: Rig, fault: AgentRefused | None
) -> None:
    resume = query_intents.ResumeChat("a", quiet=True)
    rig.do(intents.OpenChat("a"), resume, intents.Choose("a", "mode", "Code"))
    agent = await rig.starting()
    await rig.done()
    archive = agent.archive
    archive.gate, archive.fault = anyio.Event(), fault
    agent.ready()
    with anyio.fail_after(PATIENCE):
        while not archive.asked:
            await rig.done()
    assert agent.chats == []
    archive.gate.set()
    await rig.view.until(lambda: agent.told)
    assert agent.told == [("set", "a", "mode-id", "code")]


@pytest.mark.parametrize("configured", ["mode", "mode-id"])
@pytest.mark.parametrize(
    "names", [("mode",), ("mode-id",), ("mode-id", "mode"), ("mode", "mode-id")]
)
async def test_the_last_choice_of_the_user_counts_however_it_is_named(
    rig: Rig, configured: str, names: tuple[str, ...]
) -> None:
    rig.session.configure({"eca": {configured: "yolo"}}, Finding())
    rig.do(intents.OpenChat("a"))
    agent = await rig.starting()
    chosen = ("Plan", "Code")[-len(names) :]
    rig.do(*(intents.Choose("a", name, it) for name, it in zip(names, chosen, strict=True)))
    await rig.done()
    agent.ready()
    await rig.done()
    assert agent.told == [("set", "a", "mode-id", "code")]


async def test_what_is_chosen_while_the_agent_ends_replaces_what_it_did_not_confirm(
    rig: Rig,
) -> None:
    agent = await rig.ready()
    assert isinstance(agent, Late)
    rig.do(intents.Choose("a", "mode", "Plan"))
    await rig.done()
    agent.is_slow = True
    rig.do(intents.Choose("a", "mode", "Yolo"), intents.StartServer(restart=True))
    rig.do(intents.Choose("a", "mode", "Code"))
    following = await rig.starting(2)
    await rig.done()
    following.ready()
    await rig.done()
    assert agent.told[-2:] == [("set", "a", "mode-id", "yolo"), ("close",)]
    assert following.told == [("set", "a", "mode-id", "code")]


async def test_what_was_set_before_the_text_is_loaded_is_set_again(rig: Rig) -> None:
    agent = await rig.ready()
    assert isinstance(agent, Late)
    rig.do(intents.Choose("a", "mode", "Code"))
    await rig.done()
    agent.archive.gate = anyio.Event()
    await asked(rig, query_intents.ResumeChat("a"))
    agent.listed["a"] = LISTED
    agent.list("a")
    agent.archive.gate.set()
    await anyio.wait_all_tasks_blocked()
    assert agent.told == [("set", "a", "mode-id", "code")] * 2
    assert values(rig)["Mode"] == "Code"
