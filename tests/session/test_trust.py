"""Only the user switches trust on; a server that wants it causes one question."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest
from tests.session.rig import Recorder, Rig
from tests.session.saved_chats import asked, page, prompt
from tests.support.announced import announced
from tests.support.messages import kinds

from eca_nvim.agents.abilities import OpenedChat
from eca_nvim.chat.vocabulary import intents, query_intents
from eca_nvim.chat.vocabulary.events import ChatCleared, ChatEvent, ChatOpened, QuestionAsked
from eca_nvim.session import Persistence
from eca_nvim.session.trust import NO, QUESTION, YES
from eca_nvim.store import Store

pytestmark = pytest.mark.anyio
WANTED = announced(wants_trust=True)


@asynccontextmanager
async def running(store: Store) -> AsyncIterator[Rig]:
    """Run a session that keeps what is to be kept."""
    rig = Rig(store)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(rig.session.run)
        yield rig
        tasks.cancel_scope.cancel()
    rig.session.kill()


def waiting(rig: Rig) -> list[dict[str, object]]:
    """Return what waits for the user."""
    return [dict(item) for item in rig.view.pending]


async def answer(rig: Rig, text: str | None) -> None:
    """Answer the only question there is."""
    (item,) = waiting(rig)
    rig.do(rig.answer(str(item["call"]), text))
    await rig.done()


def trusted(rig: Rig, *chats: str) -> list[object]:
    return [rig.status(chat)["trust"] for chat in chats]


def test_no_event_of_an_agent_can_say_that_a_chat_is_trusted() -> None:
    fields = {name for event in kinds(ChatEvent) for name in event.__struct_fields__}
    assert "title" in fields
    assert not {name for name in fields if "trust" in name}


async def test_a_server_that_wants_trust_leads_to_one_question(rig: Rig) -> None:
    agent = await rig.ready()
    agent.announce(WANTED, WANTED, announced(models=("m",)))
    rig.do(intents.OpenChat("b"), intents.SendPrompt("a", "hello"))
    await rig.done()
    (item,) = waiting(rig)
    assert (item["chat"], item["detail"]) == ("a", QUESTION)
    assert item["options"] == [list(NO), list(YES)]
    assert item["freeform"] is False
    assert trusted(rig, "a", "b") == [False, False]
    assert agent.last_selection.trust is False
    await answer(rig, YES[0])
    assert waiting(rig) == []
    assert trusted(rig, "a", "b") == [True, True]
    assert ("set", "a", "trust", True) in agent.told
    assert not [told for told in agent.told if told[0] == "answer"]
    agent.announce(announced(wants_trust=False))
    assert trusted(rig, "a", "b") == [False, False]


async def test_it_is_asked_in_the_first_chat_there_is(rig: Rig) -> None:
    rig.do(intents.StartServer(restart=False))
    agent = await rig.starting()
    agent.ready()
    agent.announce(WANTED)
    assert waiting(rig) == []
    rig.do(intents.OpenChat("a"))
    await rig.done()
    assert len(waiting(rig)) == 1


async def test_no_answer_is_no_until_the_next_chat(rig: Rig) -> None:
    agent = await rig.ready()
    agent.announce(WANTED)
    await answer(rig, None)
    agent.announce(WANTED)
    assert (trusted(rig, "a"), waiting(rig)) == ([False], [])
    rig.do(intents.OpenChat("b"))
    await rig.done()
    assert [item["chat"] for item in waiting(rig)] == ["b"]


@pytest.mark.parametrize("said", [YES[0], NO[0], None])
async def test_the_answer_is_kept_for_the_server_and_the_project(
    store: Store, said: str | None
) -> None:
    async with running(store) as first:
        (await first.ready()).announce(WANTED)
        await answer(first, said)
        first.persistence.write()
    async with running(store) as second:
        agent = await second.ready()
        assert trusted(second, "a") == [False]
        agent.announce(WANTED)
        assert trusted(second, "a") == [said == YES[0]]
        assert len(waiting(second)) == (1 if said is None else 0)
        second.do(intents.OpenChat("a", server="demo"))
        demo = await second.starting(2)
        demo.ready()
        await second.done()
        assert trusted(second, "a") == [False]
        demo.announce(WANTED)
        assert len(waiting(second)) == 1


async def test_a_question_that_waits_goes_with_its_server(rig: Rig) -> None:
    (await rig.ready()).announce(WANTED)
    rig.do(intents.StartServer(restart=True))
    (await rig.starting(2)).ready()
    await rig.done()
    assert waiting(rig) == []


async def test_what_the_user_says_of_a_chat_comes_first(rig: Rig) -> None:
    agent = await rig.ready()
    rig.do(intents.OpenChat("b"), intents.OpenChat("c"))
    rig.do(intents.SetTrust("b", trusted=False), intents.SetTrust("c", trusted=True))
    await rig.done()
    agent.announce(WANTED)
    await answer(rig, YES[0])
    assert trusted(rig, "a", "b", "c") == [True, False, True]
    rig.do(intents.OpenChat("d"), intents.SetTrust("a", trusted=False))
    await rig.done()
    assert trusted(rig, "a", "b", "c", "d") == [False, False, True, False]
    rig.do(intents.OpenChat("e"))
    await rig.done()
    assert trusted(rig, "e") == [False]


async def test_a_chat_that_comes_back_or_is_a_copy_asks(rig: Rig) -> None:
    agent = await rig.ready()
    agent.announce(WANTED)
    await answer(rig, YES[0])
    events = (ChatCleared(), ChatOpened("Fix"), prompt("old", "u1"))
    agent.archive.opened = OpenedChat(page("b", *events), "Fix")
    await asked(rig, query_intents.ResumeChat("b"))
    agent.announce(WANTED)
    assert trusted(rig, "a", "b") == [True, False]


async def test_a_question_of_the_server_is_never_taken_for_ours(rig: Rig) -> None:
    agent = await rig.ready()
    agent.announce(WANTED)
    agent.say("a", QuestionAsked("trust", "Go on?", (YES,)))
    rig.do(rig.answer("trust", YES[0]))
    await rig.done()
    assert agent.told == [("answer", "trust", YES[0])]
    assert trusted(rig, "a") == [False]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store", "/project")


async def test_a_keeper_without_a_file_remembers_as_long_as_it_lives() -> None:
    persistence = Persistence(None, Recorder(), 1)
    assert persistence.kept("trust", "s") is None
    persistence.keep("trust", "s", "no")
    assert (persistence.kept("trust", "s"), persistence.kept("trust", "other")) == ("no", None)
