"""Forms: which chat shows one, and that its answer reaches an agent that waits for it."""

from __future__ import annotations

import pytest
from tests.session.rig import Rig

from eca_nvim.chat.vocabulary.events import QuestionAsked, QuestionClosed
from eca_nvim.chat.vocabulary.intents import AnswerQuestion, OpenChat, PreviousField, SendPrompt
from eca_nvim.chat.vocabulary.requests import FieldKind, FormField
from eca_nvim.redaction import HIDDEN

pytestmark = pytest.mark.anyio

NAME = FormField(name="name", kind=FieldKind.TEXT, title="Name")
KEY = FormField(name="key", kind=FieldKind.TEXT, title="Key", secret=True)
SECRET = "s3cret-0123456789"


def form(question_id: str, *fields: FormField) -> QuestionAsked:
    return QuestionAsked(question_id, "This, please.", form=fields)


async def test_a_form_is_answered_while_the_agent_starts(rig: Rig) -> None:
    rig.do(OpenChat("a"))
    agent = await rig.starting()
    agent.say(None, form("q", NAME))
    assert rig.asked("q")["chat"] == "a"
    rig.do(rig.answer("q", "Ada"))
    await rig.done()
    assert agent.told == [("form", "q", {"name": "Ada"})]


async def test_a_form_that_no_chat_can_show_gets_one(rig: Rig) -> None:
    agent = await rig.ready("a")
    agent.emit([])
    server = rig.session._servers.get()  # as after its last chat was deleted
    server.incoming.last_used_chat = None
    agent.say(None, form("q", NAME))
    chat = rig.asked("q")["chat"]
    assert chat != "a"
    rig.do(AnswerQuestion(chat, rig.asked("q")["block"], rig.asked("q")["digest"]))
    await rig.done()
    assert agent.told == [("form", "q", None)]


async def test_a_form_is_not_lost_with_a_chat_that_went_to_another_server(rig: Rig) -> None:
    agent = await rig.ready("a")
    rig.do(SendPrompt("a", "hello", server="other"))
    await rig.starting(2)
    agent.say(None, form("q", NAME))
    assert rig.asked("q")["chat"] != "a"


async def test_what_is_withdrawn_leaves_the_chat_that_shows_it(rig: Rig) -> None:
    agent = await rig.ready("a")
    agent.say(None, form("q", NAME), form("r", NAME))
    rig.do(OpenChat("b"))
    await rig.done()
    agent.say(None, QuestionClosed("q"), QuestionClosed("unknown"))
    assert [it["call"] for it in rig.view.pending] == ["r"]
    assert rig.asked("r")["chat"] == "a"
    assert agent.told == []


async def test_what_closes_a_link_of_a_chat_that_is_gone_makes_no_chat(rig: Rig) -> None:
    agent = await rig.ready("a")
    agent.say("gone", QuestionClosed("q", is_done=True))
    await rig.done()
    assert ("open", "gone") not in agent.chats


async def test_fields_can_be_answered_by_number_and_again(rig: Rig) -> None:
    agent = await rig.ready("a")
    agent.say("a", form("q", FormField(name="yes", kind=FieldKind.YES_NO, title="Yes?"), NAME))
    for picked in (1, 2):
        item = rig.asked("q")
        rig.do(AnswerQuestion("a", item["block"], item["digest"], picked=[picked]))
        await rig.done()
        if picked == 1:
            item = rig.asked("q")
            rig.do(PreviousField("a", item["block"], item["digest"]))
            await rig.done()
    rig.do(rig.answer("q", ""))
    await rig.done()
    assert agent.told == [("form", "q", {"yes": False})]


async def test_a_secret_of_a_form_is_hidden_in_the_log(rig: Rig) -> None:
    agent = await rig.ready("a")
    agent.say("a", form("q", KEY, NAME))
    rig.do(rig.answer("q", SECRET))
    await rig.done()
    rig.do(rig.answer("q", "Ada"))
    await rig.done()
    assert agent.told == [("form", "q", {"key": SECRET, "name": "Ada"})]
    assert rig.redactor.redact(f"it is {SECRET}, Ada") == f"it is {HIDDEN}, Ada"
    assert SECRET not in rig.view.text()
