"""Forms and links of the agent: asked field by field, answered, declined, cancelled."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace
from tests.chat.driver import ENDED, Driver
from tests.support.told import TellAnswer, TellForm

from eca_nvim.chat.render.whole_chat import transcript
from eca_nvim.chat.user_actions import answers
from eca_nvim.chat.user_actions.answers import MOST_LISTED
from eca_nvim.chat.vocabulary.events import AgentGone, QuestionAsked, QuestionClosed
from eca_nvim.chat.vocabulary.ops import Notify, OpenExternal, SetInput
from eca_nvim.chat.vocabulary.requests import FieldKind, FormField, Offer

NAME = FormField(
    name="name", kind=FieldKind.TEXT, title="Your name", description="As it\nis.", required=True
)
COLOURS = (Offer("r", "Red", "warm"), Offer("b", "Blue"))
COLOUR = FormField(name="colour", kind=FieldKind.ONE, title="Colour", offers=COLOURS)
PORT = FormField(
    name="port", kind=FieldKind.WHOLE, title="Port", required=True, default=8080, least=1, most=9999
)
KEY = FormField(name="key", kind=FieldKind.TEXT, title="Key", required=True, secret=True)
LINK = QuestionAsked("q", "Sign in", allow_freeform=False, link="https://a.example/b?c=d")


def form(*fields: FormField) -> QuestionAsked:
    return QuestionAsked("q", "I need\nthis.", allow_freeform=False, form=fields)


class Asked(Driver):
    """A chat in whose turn a form or a link was asked."""

    def __init__(self, question: QuestionAsked) -> None:
        super().__init__()
        self.run()
        self.hear(question)

    @property
    def item(self) -> dict[str, Any]:
        [item] = self.items
        return {**item}

    def pick(self, *numbers: int) -> None:
        shown = self.shown("q")
        self.take(answers.answer_question(self.chat, *shown, None, self.now, numbers))

    def back(self) -> None:
        self.take(answers.previous_field(self.chat, *self.shown("q"), self.now))

    @property
    def sent(self) -> list[object]:
        return [it.content for it in self.told(TellForm)]


@pytest.mark.parametrize(
    ("default", "shown"),
    [
        ("a" * 300, "a" * 300),
        ("--yes " + "-" * 300, "--yes " + "-" * 300),
        ("yes   ", "'yes   '"),
        ("a\r\nb", "a␍␤b"),
        ("\x1b[8mrm -rf /", "␛[8mrm -rf /"),
    ],
)
def test_what_an_empty_answer_takes_is_shown_whole(default: str, shown: str) -> None:
    driver = Asked(form(replace(NAME, default=default)))
    assert driver.item["notes"] == [f"required · an empty answer: take {shown}"]
    key = driver.item["empty"]
    assert len(key) < 60
    assert (shown in key) or key.endswith("… (all of it is above)")
    driver.answer("q", "")
    assert driver.sent == [{"name": default}]


@pytest.mark.parametrize(
    ("field", "note"),
    [
        (replace(KEY, default="chosen by the agent"), "required"),
        (
            replace(NAME, default="a" * 1001),
            "required · its default of 1001 characters is too long to be taken",
        ),
    ],
)
def test_a_default_that_cannot_be_shown_is_not_taken(field: FormField, note: str) -> None:
    driver = Asked(form(field))
    assert driver.item["notes"] == [note]
    assert "empty" not in driver.item
    driver.answer("q", "")
    assert driver.sent == []
    assert driver.item["fault"] == "an answer is required"


def test_fields_are_asked_one_after_the_other_and_sent_together() -> None:
    driver = Asked(form(NAME, COLOUR, PORT))
    item = driver.item
    assert (item["title"], item["place"], item["notes"]) == ("Your name", "1 of 3", ["required"])
    assert item["detail"] == "I need\nthis.\nYour name\nAs it\nis."
    assert not {"back", "empty", "fault"} & item.keys()
    assert driver.view.lines[1:] == [
        "? I need this. 1 of 3", "  I need", "  this.", "  Your name", "    As it", "    is."
    ]  # fmt: skip
    driver.answer("q", "Ada *L*")
    assert driver.item["options"] == [["Red", "warm"], ["Blue", ""]]
    assert (driver.item["empty"], driver.item["back"]) == ("skip", True)
    driver.answer("q", "")
    assert driver.sent == []
    assert driver.item["notes"] == [
        "required · a whole number from 1 to 9999 · an empty answer: take 8080"
    ]
    driver.answer("q", "")
    assert driver.sent == [{"name": "Ada *L*", "port": 8080}]
    assert driver.items == []
    assert driver.view.lines[1:] == ["✓ I need this. → Ada *L*, 8080"]
    whole = transcript(driver.chat, driver.now)
    assert "Your name → Ada *L*\nColour → skipped\nPort → 8080" in whole


def test_an_answer_that_does_not_fit_is_asked_for_again_and_not_lost() -> None:
    driver = Asked(form(PORT))
    before = driver.shown("q")
    driver.answer("q", "eighty")
    fault = "'eighty' is not a whole number from 1 to 9999"
    assert (driver.item["fault"], driver.item["typed"]) == (fault, "eighty")
    again = driver.shown("q")
    assert again != before
    driver.answer("q", "eighty")
    assert driver.shown("q") != again  # the view has hidden the one that was answered
    driver.answer("q", "80")
    assert driver.sent == [{"port": 80}]


def test_a_required_field_is_not_skipped() -> None:
    driver = Asked(form(NAME))
    driver.answer("q", " \n")
    assert driver.item["fault"] == "an answer is required"
    assert driver.sent == []


def test_a_field_can_be_answered_again() -> None:
    driver = Asked(form(COLOUR, NAME))
    driver.pick(2)
    driver.back()
    assert (driver.item["place"], driver.item["empty"]) == ("1 of 2", "take Blue")
    driver.answer("q", "")
    driver.back()
    driver.pick(1)
    driver.answer("q", "Ada")
    assert driver.sent == [{"colour": "r", "name": "Ada"}]


def test_declining_is_not_cancelling() -> None:
    driver = Asked(form(NAME))
    driver.answer("q", None)
    assert driver.sent == [None]
    assert driver.told(TellAnswer) == []
    assert driver.view.lines[1:] == ["⊘ I need this. declined"]


@pytest.mark.parametrize("question", [form(NAME), LINK], ids=["form", "link"])
def test_a_stop_and_the_end_of_the_turn_cancel(question: QuestionAsked) -> None:
    stopped, ended, gone = Asked(question), Asked(question), Asked(question)
    stopped.stop()
    ended.hear(ENDED)
    gone.hear(AgentGone("exit code 1"))
    assert stopped.told(TellAnswer) == ended.told(TellAnswer) == [TellAnswer("q", None)]
    assert gone.told(TellAnswer) == []
    for driver in (stopped, ended, gone):
        assert driver.sent == driver.items == []


def test_what_was_typed_into_a_form_that_is_cancelled_stays_in_the_chat() -> None:
    driver = Asked(form(NAME, COLOUR, PORT))
    driver.answer("q", "Ada")
    driver.pick(2)
    driver.back()
    driver.answer("q", "azure")
    driver.stop()
    whole = transcript(driver.chat, driver.now)
    assert "Your name → Ada\nColour → Blue\nColour → azure (it does not fit)" in whole


def test_an_answer_is_for_the_field_that_was_shown() -> None:
    driver = Asked(form(NAME, PORT))
    shown = driver.shown("q")
    driver.answer("q", "Ada")
    driver.answer_shown(shown, "7777")
    assert driver.item["place"] == "2 of 2"
    changes = answers.answer_question(driver.chat, *shown, "7777", driver.now)
    assert SetInput("chat", "7777") in changes.ops
    assert any(isinstance(op, Notify) for op in changes.ops)


def test_a_secret_is_shown_nowhere_and_kept_nowhere() -> None:
    driver = Asked(form(KEY, PORT))
    assert driver.item["secret"] is True
    driver.answer("q", "s3cr3t")
    assert "s3cr3t" not in repr(driver.items)
    driver.back()
    assert driver.item["empty"] == "take *****"
    driver.answer("q", "")
    shown = driver.shown("q")
    driver.answer("q", "1")
    assert driver.sent == [{"key": "s3cr3t", "port": 1}]
    assert driver.view.lines[1:] == ["✓ I need this. → *****, 1"]
    assert "s3cr3t" not in transcript(driver.chat, driver.now)
    assert "s3cr3t" not in repr(driver.chat.blocks)
    declined = Asked(form(KEY, PORT))
    declined.answer("q", "s3cr3t")
    declined.answer("q", None)
    assert "s3cr3t" not in repr(declined.chat.blocks)
    late = Asked(form(KEY))
    shown = (late.shown("q")[0], "another digest")
    ops = answers.answer_question(late.chat, *shown, "s3cr3t", late.now).ops
    assert "s3cr3t" not in repr(ops)


def test_a_form_without_fields_is_accepted_or_declined() -> None:
    driver = Asked(form())
    assert driver.item["options"] == [["accept", ""]]
    assert driver.item["freeform"] is False
    driver.answer("q", "accept")
    assert driver.sent == [{}]
    assert driver.view.lines[1:] == ["✓ I need this. → accepted"]


def test_a_link_is_shown_whole_with_its_host_and_opened_by_the_answer_alone() -> None:
    driver = Asked(LINK)
    item = driver.item
    assert item["notes"] == ["host: a.example"]
    assert item["detail"] == "Sign in\nhttps://a.example/b?c=d"
    assert item["options"] == [["open this page", ""]]
    changes = answers.answer_question(driver.chat, *driver.shown("q"), "open this page", driver.now)
    driver.take(changes)
    assert [op for op in changes.ops if isinstance(op, OpenExternal)] == [
        OpenExternal("https://a.example/b?c=d")
    ]
    assert driver.sent == [{}]
    assert driver.view.lines[1:] == ["✓ Sign in → opened"]
    driver.hear(QuestionClosed("q", is_done=True))
    assert driver.view.lines[1:] == ["✓ Sign in → done"]
    declined = Asked(LINK)
    block, _ = declined.shown("q")
    late = answers.answer_question(declined.chat, block, "another", "open this page", 1)
    assert not any(isinstance(op, OpenExternal | SetInput) for op in late.ops)
    declined.answer("q", None)
    assert declined.sent == [None]


def test_the_host_of_a_link_is_the_one_that_is_opened() -> None:
    driver = Asked(QuestionAsked("q", "Sign in", link="https://bank.example@evil.example:8/x"))
    assert driver.item["notes"] == ["host: evil.example"]


@pytest.mark.parametrize(("is_done", "line"), [(True, "✓ Sign in → done"), (False, "⊘ Sign in")])
def test_the_agent_closes_what_it_waits_for_no_more(is_done: bool, line: str) -> None:
    driver = Asked(LINK)
    driver.hear(QuestionClosed("another"), QuestionClosed("q", is_done=is_done))
    assert driver.items == []
    assert driver.sent == driver.told(TellAnswer) == []
    assert driver.view.lines[-1].startswith(line)


def test_strange_texts_are_safe_and_bounded() -> None:
    offers = tuple(Offer(str(n), f"c{n}\x1b[2J\nx") for n in range(10_000))
    driver = Asked(
        form(
            FormField(
                name="\x07",
                kind=FieldKind.ONE,
                title="t\r\x00" * 1000,
                description="lo\u202eng " * 200_000,
                offers=offers,
            )
        )
    )
    item = driver.item
    assert len(repr(item)) < 100_000
    assert all(text not in repr(driver.view.lines) for text in ("\\x1b", "\\x00", "\\u202e"))
    assert item["options"][1] == ["c1 x", ""]
    assert len(item["options"]) == MOST_LISTED
    assert "9800 more choices: type part of a name" in item["notes"][0]
    driver.answer("q", "9999")
    assert driver.sent == [{"\x07": "9999"}]
