"""Questions of the agent."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from tests.chat.driver import ENDED, Driver, call
from tests.support.told import TellAnswer

from eca_nvim.chat.render.whole_chat import transcript
from eca_nvim.chat.vocabulary.events import (
    AgentGone,
    Dialogue,
    QuestionAsked,
    ToolFinished,
    ToolRequested,
    ToolRunning,
)

COLOUR = QuestionAsked("q", "Which colour?", (("red", "warm"), ("blue", "")), False, "t1")


def test_a_question_waits_with_all_its_data() -> None:
    driver = Driver()
    driver.run()
    driver.hear(COLOUR)
    assert driver.state == "waiting"
    assert driver.view.lines[1:] == ["? Which colour?", "  1. red — warm", "  2. blue"]
    item = driver.items[0]
    assert item["kind"] == "question"
    assert item["title"] == "Which colour?"
    assert item["options"] == [["red", "warm"], ["blue", ""]]
    assert item["freeform"] is False
    assert driver.view.fired("EcaQuestionAsked") == [
        {"chat": "chat", "id": "chat:2:1000", "title": "Which colour?"}
    ]


def test_an_answer_is_told_once_and_shown() -> None:
    driver = Driver()
    driver.run()
    driver.hear(COLOUR)
    driver.answer("q", "red")
    driver.answer("q", "blue")
    assert driver.told(TellAnswer) == [TellAnswer("q", "red")]
    assert driver.view.lines[1:] == ["✓ Which colour? → red"]
    assert driver.items == []


@pytest.mark.parametrize(
    ("typed", "told"),
    [("2", "ten"), (" 12 ", "Other\nmodel"), ("BLUE", "blue"), ("10", "10"), ("13", "13")],
)
def test_a_typed_number_or_label_is_the_option(typed: str, told: str) -> None:
    options = ("red", "ten", "blue", "10", *(f"more {n}" for n in range(7)), "Other\nmodel")
    driver = Driver()
    driver.hear(QuestionAsked("q", "Which?", tuple((label, "") for label in options), True))
    driver.answer("q", typed)
    assert driver.told(TellAnswer) == [TellAnswer("q", told)]


def test_a_question_can_be_cancelled() -> None:
    driver = Driver()
    driver.hear(COLOUR)
    driver.answer("q", None)
    assert driver.told(TellAnswer) == [TellAnswer("q", None)]
    assert driver.view.lines == ["⊘ Which colour? not answered"]


def test_a_question_ends_with_its_call_with_a_stop_and_with_the_turn() -> None:
    driver = Driver()
    driver.run()
    driver.hear(ToolRunning(call()), COLOUR, ToolFinished(call()))
    assert driver.items == []
    driver.hear(COLOUR)
    driver.stop()
    assert driver.items == []
    driver.hear(QuestionAsked("q2", "More?"), ENDED)
    assert driver.items == []
    assert len(driver.told(TellAnswer)) == 3


def test_a_question_and_the_call_that_asks_it_are_one_block() -> None:
    driver = Driver()
    driver.run()
    ask = call(name="ask_user", arguments={"question": "Which colour?"})
    driver.hear(ToolRequested(ask), ToolRunning(ask), COLOUR)
    assert driver.view.lines[1:] == ["? Which colour?", "  1. red — warm", "  2. blue"]
    driver.tick(2000)
    assert driver.view.lines[1] == "? Which colour?"
    driver.answer("q", "red")
    driver.hear(ToolFinished(ask, ("User answered: red",), total_ms=2100))
    assert driver.view.lines[1:] == ["✓ Which colour? → red"]
    assert not driver.view.fired("EcaApprovalResolved")
    driver.toggle(2)
    assert driver.view.lines[1:] == ["✓ Which colour? → red", "  1. red — warm", "  2. blue"]
    assert "User answered" not in transcript(driver.chat, 0)


def test_a_call_whose_question_was_dismissed_did_not_fail() -> None:
    driver = Driver()
    driver.run()
    ask = call(name="ask_user")
    driver.hear(ToolRunning(ask), COLOUR)
    driver.answer("q", None)
    driver.hear(ToolFinished(ask, ("User cancelled the question.",), failed=True))
    assert driver.view.lines[1:] == ["⊘ Which colour? not answered"]


def test_an_answer_in_own_words_is_shown_whole() -> None:
    driver = Driver()
    driver.run()
    driver.hear(QuestionAsked("q", "Name?"))
    driver.answer("q", "Zoë\nor so")
    driver.toggle(2)
    assert driver.view.lines[1:] == ["✓ Name? → Zoë or so", "  → Zoë", "  → or so"]


def test_a_call_that_waits_for_approval_is_not_taken_for_one_that_asks() -> None:
    driver = Driver()
    driver.run()
    driver.hear(ToolRequested(call(), needs_approval=True), COLOUR)
    assert [item["kind"] for item in driver.items] == ["approval", "question"]
    driver.approve("t1")
    assert [item["kind"] for item in driver.items] == ["question"]


def test_a_replayed_question_reads_like_one_that_was_asked() -> None:
    driver = Driver()
    ask = call(name="ask_user", arguments={"question": "Which colour?"})
    driver.hear(ToolFinished(ask, ("User answered: red",), dialogue=Dialogue(COLOUR, "red")))
    assert driver.view.lines == ["✓ Which colour? → red"]
    later = replace(ask, id="t2")
    driver.hear(ToolFinished(later, ("Cancelled.",), failed=True, dialogue=Dialogue(COLOUR)))
    assert driver.view.lines[1:] == ["⊘ Which colour? not answered"]
    assert driver.items == []


def test_a_question_outside_a_turn_waits_too_15() -> None:
    driver = Driver()
    driver.hear(COLOUR)
    assert driver.state == "waiting"
    driver.hear(AgentGone("gone"))
    assert driver.state == "idle"
    assert not driver.told(TellAnswer)
