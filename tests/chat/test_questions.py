"""Questions of the agent."""

from __future__ import annotations

from tests.chat.driver import IDLE, Driver, call

from eca_nvim.chat.effects import TellAnswer
from eca_nvim.chat.events import AgentGone, QuestionAsked, ToolFinished, ToolRunning

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
        {"chat": "chat", "id": "q", "title": "Which colour?"}
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
    driver.hear(QuestionAsked("q2", "More?"), IDLE)
    assert driver.items == []
    assert len(driver.told(TellAnswer)) == 3


def test_a_question_outside_a_turn_waits_too_15() -> None:
    driver = Driver()
    driver.hear(COLOUR)
    assert driver.state == "waiting"
    driver.hear(AgentGone("gone"))
    assert driver.state == "idle"
    assert not driver.told(TellAnswer)
