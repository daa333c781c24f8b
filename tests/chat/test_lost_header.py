"""Headers for the case that the host ends first: the view has them beforehand."""

from __future__ import annotations

import pytest
from tests.chat.driver import Driver, call

from eca_nvim.chat.vocabulary.call_details import Subagent, Task, TaskList
from eca_nvim.chat.vocabulary.events import (
    ChatEvent,
    QuestionAsked,
    ReasoningFinished,
    ReasoningStarted,
    ToolFinished,
    ToolPreparing,
    ToolRejected,
    ToolRequested,
    ToolRunning,
)

GREP = call("g", "grep", arguments={"path": "/workspace", "pattern": "def"})
AGENT = call(
    "a",
    "spawn_agent",
    arguments={"agent": "explorer", "activity": "looking"},
    details=Subagent("explorer", step=3),
)
ASK = call("t1", "ask_user", arguments={"question": "Which colour?"})
COLOUR = QuestionAsked("q", "Which colour?", (("red", ""),), False, "t1")
TODO = TaskList((Task("1", "later"),))


@pytest.mark.parametrize(
    ("events", "lost"),
    [
        ([ToolPreparing(GREP, '{"pattern":"def"}')], "⊘ grep def stopped"),
        ([ToolRequested(GREP, needs_approval=True)], "⊘ grep def stopped"),
        ([ToolRequested(GREP, needs_approval=False), ToolRunning(GREP)], "⊘ grep def stopped"),
        ([ToolRunning(AGENT)], "⊘ agent explorer: looking stopped"),
        ([ReasoningStarted("r")], "▸ thought"),
        ([COLOUR], "⊘ Which colour? stopped"),
        ([ToolRunning(ASK), COLOUR], "⊘ Which colour? stopped"),
    ],
)
def test_what_goes_on_is_said_to_be_stopped(events: list[ChatEvent], lost: str) -> None:
    driver = Driver()
    driver.run()
    driver.hear(*events)
    assert driver.view.lost == [lost]


def test_the_time_that_a_call_takes_is_not_in_it() -> None:
    driver = Driver()
    driver.run()
    driver.hear(ToolRunning(GREP))
    driver.tick(5000)
    assert driver.view.lines[-1].endswith("5s")
    assert driver.view.lost == ["⊘ grep def stopped"]


@pytest.mark.parametrize(
    "events",
    [
        [ToolRunning(GREP), ToolFinished(GREP)],
        [ToolRunning(GREP), ToolFinished(GREP, ("no",), failed=True)],
        [ToolRequested(GREP, needs_approval=True), ToolRejected(GREP)],
        [ToolFinished(call("t", "task", details=TODO))],
        [ReasoningStarted("r"), ReasoningFinished("r", 1000)],
    ],
)
def test_what_has_ended_reads_the_same(events: list[ChatEvent]) -> None:
    driver = Driver()
    driver.run()
    driver.hear(*events)
    assert driver.view.lost == []


def test_a_rejected_call_stays_rejected() -> None:
    driver = Driver()
    driver.run()
    driver.hear(ToolRequested(GREP, needs_approval=True))
    driver.reject("g")
    assert driver.view.lost == []


def test_an_answered_question_stays_answered() -> None:
    driver = Driver()
    driver.run()
    driver.hear(ToolRunning(ASK), COLOUR)
    driver.answer("q", "red")
    assert driver.view.lost == []
