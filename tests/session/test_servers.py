"""Several servers in a session: each has its chats, and its end concerns no others."""

import pytest
from tests.session.rig import Rig
from tests.support.announced import announced

from eca_nvim.agents.base import AgentExit, AgentFault
from eca_nvim.chat.vocabulary import intents
from eca_nvim.chat.vocabulary.agent_events import JobsChanged
from eca_nvim.chat.vocabulary.events import QuestionAsked, Role, TextReceived
from eca_nvim.chat.vocabulary.ops import SetWork
from eca_nvim.chat.vocabulary.query_intents import ListChats, ResumeChat
from eca_nvim.chat.vocabulary.turn_events import Job
from eca_nvim.session.trust import YES

pytestmark = pytest.mark.anyio

WANTS_TRUST = announced(wants_trust=True)


async def test_each_chat_talks_to_its_own_server(rig: Rig) -> None:
    one, two = await rig.ready("a", "one"), await rig.ready("b", "two", 2)
    rig.do(intents.SendPrompt("a", "to one"), intents.SendPrompt("b", "to two"))
    rig.do(intents.SendPrompt("c", "to two, too", server="two"))
    await rig.done()
    assert one.told == [("prompt", "a", "to one")]
    assert two.told == [("prompt", "b", "to two"), ("prompt", "c", "to two, too")]
    assert rig.named == ["one", "two"]
    assert [rig.status(chat)["server_name"] for chat in "abc"] == ["one", "two", "two"]


async def test_a_chat_that_names_none_has_the_default_server(rig: Rig) -> None:
    rig.session.default_server("mine")
    await rig.ready()
    assert rig.named == ["mine"]


async def test_the_end_of_one_leaves_the_chats_of_the_other_alone(rig: Rig) -> None:
    one, two = await rig.ready("a", "one"), await rig.ready("b", "two", 2)
    rig.do(intents.SendPrompt("a", "hi"), intents.SendPrompt("b", "hi"))
    await rig.done()
    one.end(AgentExit("one has crashed"))
    await rig.view.until(lambda: rig.states("one")[-1] == "failed")
    two.say("b", TextReceived(Role.ASSISTANT, "still here"))
    assert (rig.status("a")["state"], rig.status("a")["server"]) == ("idle", "failed")
    assert (rig.status("b")["state"], rig.status("b")["server"]) == ("running", "ready")
    assert rig.view.text().count("one has crashed") == 1
    assert "still here" in rig.view.text()


async def test_prompts_wait_for_their_own_server(rig: Rig) -> None:
    one = await rig.ready("a", "one")
    rig.do(intents.SendPrompt("b", "later", server="two"), intents.SendPrompt("a", "now"))
    two = await rig.starting(2)
    await rig.done()
    assert (one.told, two.told) == ([("prompt", "a", "now")], [])
    two.ready()
    assert two.told == [("prompt", "b", "later")]


async def test_a_server_cannot_write_into_a_chat_of_another(rig: Rig) -> None:
    await rig.ready("a", "one")
    two = await rig.ready("b", "two", 2)
    two.say("a", TextReceived(Role.ASSISTANT, "not yours"), QuestionAsked("q", "Really?", ()))
    assert "not yours" not in rig.view.text()
    assert rig.view.pending == []


async def test_what_a_server_says_of_itself_is_for_its_own_chats(rig: Rig) -> None:
    one, two = await rig.ready("a", "one"), await rig.ready("b", "two", 2)
    one.announce(announced(models=("m1",), model="m1"), JobsChanged((Job("npm"),)))
    two.announce(announced(models=("m2",), model="m2"))
    assert [rig.status(chat)["model"] for chat in "ab"] == ["m1", "m2"]
    assert [rig.offers(chat)["model"] for chat in "ab"] == [["m1"], ["m2"]]
    assert {op.server for op in rig.view.of(SetWork)} == {"one"}


async def test_the_last_choice_is_kept_for_each_server(rig: Rig) -> None:
    for number, server in enumerate(("one", "two"), 1):
        agent = await rig.ready(server, server, number)
        agent.announce(announced(models=("m1", "m2"), model="m1"))
    rig.do(intents.Choose("two", "model", "m2"))
    rig.do(intents.OpenChat("a", server="one"), intents.OpenChat("b", server="two"))
    await rig.done()
    assert [rig.status(chat)["model"] for chat in "ab"] == ["m1", "m2"]
    assert rig.persistence.choices("two")("model") == "m2"
    assert rig.persistence.choices("one")("model") is None


async def test_an_answer_about_trust_is_for_one_server(rig: Rig) -> None:
    one, two = await rig.ready("a", "one"), await rig.ready("b", "two", 2)
    one.announce(WANTS_TRUST)
    two.announce(WANTS_TRUST)
    asked = {item["chat"]: item["call"] for item in rig.view.pending}
    rig.do(rig.answer(asked["b"], YES[0]))
    await rig.done()
    assert [rig.status(chat)["trust"] for chat in "ab"] == [False, True]


async def test_an_empty_chat_goes_to_the_server_that_is_chosen(rig: Rig) -> None:
    one = await rig.ready("a", "one")
    one.announce(announced(models=("m1",), model="m1", welcome="I am one"), WANTS_TRUST)
    rig.do(intents.SetTrust("a", trusted=True))
    two = await rig.ready("a", "two", 2)
    two.announce(announced(models=("m2",), model="m2"))
    rig.do(intents.SendPrompt("a", "hi"))
    await rig.done()
    assert (one.told[1:], two.told) == ([], [("prompt", "a", "hi")])
    assert rig.view.pending == []
    status = rig.status()
    assert (status["server_name"], status["model"], status["trust"]) == ("two", "m2", False)


async def test_a_chat_with_messages_stays_with_its_server(rig: Rig) -> None:
    one = await rig.ready("a", "one")
    rig.do(intents.SendPrompt("a", "hi"), intents.OpenChat("a", server="two"))
    rig.do(intents.SendPrompt("a", "more", server="two"))
    await rig.done()
    assert rig.named == ["one"]
    assert one.told == [("prompt", "a", "hi"), ("steer", "a", "more")]
    assert rig.lines() == ["this chat stays with one: :Eca new starts one with two"]


async def test_quit_and_restart_are_for_the_server_that_is_named(rig: Rig) -> None:
    one, two = await rig.ready("a", "one"), await rig.ready("b", "two", 2)
    rig.do(intents.QuitServer("one"), intents.StartServer(restart=True, server="two"))
    await rig.starting(3)
    await rig.view.until(lambda: rig.states("one")[-1] == "stopped")
    assert (one.told, two.told) == ([("close",)], [("close",)])
    assert rig.named == ["one", "two", "two"]


async def test_saved_chats_are_those_of_the_server_that_is_named(rig: Rig) -> None:
    one, two = await rig.ready("a", "one"), await rig.ready("b", "two", 2)
    assert await rig.ask(ListChats(7, server="two")) == []
    rig.do(ResumeChat("old", server="two"))
    await rig.view.until(lambda: len(two.archive.asked) == 2)
    assert one.archive.asked == []


async def test_a_server_that_cannot_start_is_told_in_its_own_chat(rig: Rig) -> None:
    await rig.ready("a", "one")
    rig.fault = AgentFault("servers.two speaks ACP: only ECA servers work yet")
    rig.do(intents.SendPrompt("b", "hi", server="two"))
    await rig.view.until(lambda: rig.states("two")[-1:] == ["failed"])
    assert rig.view.text().count("speaks ACP") == 1
    assert rig.status("a")["server"] == "ready"


async def test_all_servers_end_with_the_session(rig: Rig) -> None:
    agents = [await rig.ready("a", "one"), await rig.ready("b", "two", 2)]
    rig.session.kill()
    assert [agent.killed for agent in agents] == [True, True]


async def test_an_agent_learns_which_chats_open_and_go(rig: Rig) -> None:
    rig.do(intents.OpenChat("a"), intents.OpenChat("b"))
    agent = await rig.starting()
    assert agent.chats == []
    agent.ready()
    assert agent.chats == [("open", "a"), ("open", "b")]
    rig.do(intents.OpenChat("c"), intents.OpenChat("a"))
    rig.do(intents.OpenChat("b", server="two"))
    await rig.done()
    assert agent.chats[2:] == [("open", "c"), ("forget", "b")]
    other = await rig.ready("b", "two", 2)
    assert other.chats == [("open", "b")]
