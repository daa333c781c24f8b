"""What real agents of the second protocol send, as the chat gets it: each thing has its end."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from tests.chat.driver import ENDED, Driver, said
from tests.support.told import TellSteer, TellStop

from eca_nvim.chat.handlers import reducer
from eca_nvim.chat.handlers.call_steps import CHANGED
from eca_nvim.chat.user_actions import approvals
from eca_nvim.chat.vocabulary.call_details import Task, TaskList, TaskStatus, ToolCall, ToolKind
from eca_nvim.chat.vocabulary.effects import Prompt
from eca_nvim.chat.vocabulary.events import (
    ApprovalWithdrawn,
    PlanChanged,
    Role,
    TextReceived,
    ToolFinished,
    ToolRequested,
    ToolRunning,
)
from eca_nvim.chat.vocabulary.ops import Notify
from eca_nvim.chat.vocabulary.options import Ability
from eca_nvim.chat.vocabulary.requests import ALLOW, Choice, ChoiceKind
from eca_nvim.chat.vocabulary.states import TurnEnd
from eca_nvim.chat.vocabulary.turn_events import TurnEnded

CALL = ToolCall("t1", kind=ToolKind.EDIT, title=("old.txt: two => TWO",), origin="acp")
YES, NO = Choice("y", "Yes", ChoiceKind.ALLOW_ONCE), Choice("n", "No", ChoiceKind.REJECT_ONCE)
SESSION = Choice("s", "Allow for this session", ChoiceKind.ALLOW_ALWAYS)
PROJECT = Choice("p", "Always allow in project: echo *", ChoiceKind.ALLOW_ALWAYS)


def asks(request: str = "1", *choices: Choice, call: ToolCall = CALL) -> ToolRequested:
    offered = choices or (YES, NO)
    return ToolRequested(call, needs_approval=True, choices=offered, request_id=request)


@pytest.fixture
def driver() -> Driver:
    driver = Driver()
    driver.run()
    return driver


def outcomes(driver: Driver) -> list[object]:
    return [data["outcome"] for data in driver.view.fired("EcaApprovalResolved")]


def offered(driver: Driver, field: str) -> list[object]:
    [item] = driver.items
    choices = item["choices"]
    assert isinstance(choices, list)
    return [choice[field] for choice in choices]


def calls(driver: Driver) -> list[str]:
    return [line for line in driver.view.lines if "old.txt" in line]


def test_a_call_that_runs_may_ask_1(driver: Driver) -> None:
    driver.hear_exactly(ToolRunning(CALL), asks())
    assert [item["call"] for item in driver.items] == ["t1"]
    driver.decide_shown(driver.shown("t1"), "y")
    assert driver.decided == [("chat", "t1", "y")]
    driver.hear_exactly(ToolRunning(CALL), ToolFinished(CALL))
    assert calls(driver) == ["✓ edit old.txt: two => TWO"]


def test_that_it_runs_is_no_answer_2(driver: Driver) -> None:
    driver.hear_exactly(asks(), ToolRunning(CALL))
    assert [item["call"] for item in driver.items] == ["t1"]
    assert outcomes(driver) == []


def test_an_id_may_be_used_again_in_the_next_turn_3(driver: Driver) -> None:
    driver.hear_exactly(asks())
    driver.decide_shown(driver.shown("t1"), "y")
    driver.hear_exactly(ToolFinished(CALL), ENDED)
    driver.run("again")
    driver.hear_exactly(asks("2"))
    assert [item["call"] for item in driver.items] == ["t1"]


def test_what_was_rejected_does_not_run_9(driver: Driver) -> None:
    driver.hear_exactly(asks())
    driver.decide_shown(driver.shown("t1"), "n")
    driver.hear_exactly(ToolRunning(CALL), ENDED)
    assert calls(driver) == ["⊘ edit old.txt: two => TWO rejected"]
    assert driver.ends == ["rejected"]


@pytest.mark.parametrize("end", [TurnEnd.DONE, TurnEnd.STOPPED])
def test_a_turn_may_end_without_a_word_of_the_rejected_call_10(
    driver: Driver, end: TurnEnd
) -> None:
    driver.hear_exactly(asks())
    driver.decide_shown(driver.shown("t1"), "n")
    driver.hear_exactly(TurnEnded(end))
    assert calls(driver) == ["⊘ edit old.txt: two => TWO rejected"]
    assert driver.ends == ["rejected"]


def test_text_may_come_after_the_end_11(driver: Driver) -> None:
    driver.hear_exactly(*said("one"), ENDED, *said("two"))
    assert driver.view.lines[-1] == "two"
    assert driver.state == "idle"


def test_content_may_come_after_the_end_of_a_call_12(driver: Driver) -> None:
    driver.hear_exactly(ToolRunning(CALL), ToolFinished(CALL), ToolFinished(CALL, ("more",)))
    driver.hear_exactly(ToolFinished(CALL, ("too much",)))
    assert calls(driver) == ["✓ edit old.txt: two => TWO"]
    block = driver.chat.root.calls["t1"]
    driver.toggle(block.id)
    assert driver.view.lines[-1] == "  more"


@pytest.mark.parametrize(
    ("end", "told"),
    [
        (TurnEnded(TurnEnd.FAILED, "HTTP 400"), "HTTP 400"),
        (TurnEnded(TurnEnd.LIMIT, "max_turn_requests"), "max_turn_requests"),
        (TurnEnded(TurnEnd.DECLINED, "I will not do that"), "I will not do that"),
    ],
)
def test_the_end_says_why_13(driver: Driver, end: TurnEnded, told: str) -> None:
    driver.send("held", queue=True)
    driver.hear_exactly(*said("well"), end)
    assert driver.ends == [end.end.value]
    assert driver.view.lines[-1] == told
    assert driver.view.queue == [("queue", "held")]


@pytest.mark.parametrize("began", [True, False])
def test_a_question_may_be_withdrawn(driver: Driver, began: bool) -> None:
    before = [ToolRunning(CALL)] if began else []
    driver.hear_exactly(*before, asks(), ApprovalWithdrawn(CALL), ApprovalWithdrawn(CALL))
    assert driver.items == []
    assert outcomes(driver) == ["withdrawn"]
    driver.hear_exactly(asks("2"))
    assert len(driver.items) == 1


def test_a_call_may_ask_twice(driver: Driver) -> None:
    driver.hear_exactly(asks())
    driver.decide_shown(driver.shown("t1"), "y")
    driver.hear_exactly(asks(), asks("2", YES, SESSION, NO))
    assert offered(driver, "id") == ["y", "s", "n"]
    driver.decide_shown(driver.shown("t1"), "s")
    assert driver.decided == [("chat", "t1", "y"), ("chat", "t1", "s")]


def test_other_choices_are_another_request(driver: Driver) -> None:
    driver.hear_exactly(asks())
    before = driver.shown("t1")
    driver.hear_exactly(asks("2", YES, SESSION, NO))
    driver.decide_shown(before, "y")
    assert driver.decided == []
    assert driver.view.other[-1] == Notify("warn", CHANGED)


@pytest.mark.parametrize(
    ("choices", "listed"),
    [
        ((ALLOW, NO), None),
        ((YES, Choice("a", "Always allow", ChoiceKind.ALLOW_ALWAYS), NO), None),
        ((YES, SESSION, NO), True),
        ((YES, Choice("a", "Always", ChoiceKind.ALLOW_ALWAYS), PROJECT, NO), True),
        ((YES, NO, Choice("x", "Never", ChoiceKind.REJECT_ALWAYS)), True),
    ],
)
def test_names_that_say_more_than_their_kind_are_listed(
    driver: Driver, choices: tuple[Choice, ...], listed: bool | None
) -> None:
    driver.hear_exactly(asks("1", *choices))
    [item] = driver.items
    assert item.get("listed") is listed
    assert offered(driver, "name") == [it.name for it in choices]


def test_a_name_is_one_harmless_line(driver: Driver) -> None:
    driver.hear_exactly(asks("1", YES, Choice("a", "x\n! y\x1b[8m", ChoiceKind.ALLOW_ALWAYS)))
    assert offered(driver, "name")[1] == "x ! y␛[8m"


def test_without_a_choice_that_rejects_nothing_is_chosen(driver: Driver) -> None:
    driver.hear_exactly(asks("1", YES))
    driver.decide_shown(driver.shown("t1"), None)
    assert driver.decided == [("chat", "t1", None)]
    assert outcomes(driver) == ["rejected"]


def test_a_plan_needs_no_call_6(driver: Driver) -> None:
    steps = Task("1", "Look", TaskStatus.DONE), Task("2", "Change", TaskStatus.IN_PROGRESS)
    driver.hear_exactly(PlanChanged(TaskList(steps)))
    assert driver.view.lines[1:] == ["▢ tasks 1/2 · Change", "  ✓ 1. Look", "  ◐ 2. Change"]
    assert driver.chat.task_list == TaskList(steps)


def test_a_prompt_waits_where_nothing_can_be_steered_7(driver: Driver) -> None:
    driver.take(reducer.abilities_changed(driver.chat, frozenset({Ability.LIST}), 0))
    driver.send("and then")
    assert driver.view.queue == [("queue", "and then")]
    assert driver.told(TellSteer) == []
    driver.hear_exactly(ENDED)
    assert [prompt.text for prompt in driver.told(Prompt)][-1] == "and then"


def rejected(driver: Driver, reason: str | None) -> None:
    driver.hear_exactly(asks())
    block, digest = driver.shown("t1")
    driver.take(approvals.decide(driver.chat, block, digest, "n", driver.now, reason))


def test_an_agent_that_goes_on_after_a_no_is_stopped_for_the_reason(driver: Driver) -> None:
    rejected(driver, "use pathlib")
    driver.hear_exactly(ToolFinished(CALL, failed=True))
    assert driver.told(TellStop) == []
    driver.hear_exactly(TextReceived(Role.ASSISTANT, "then I will"))
    assert len(driver.told(TellStop)) == 1
    driver.hear_exactly(TextReceived(Role.ASSISTANT, " try"), TurnEnded(TurnEnd.STOPPED))
    assert len(driver.told(TellStop)) == 1
    assert [prompt.text for prompt in driver.told(Prompt)][-1] == "use pathlib"
    assert driver.view.fired("EcaTurnFinished")[-1]["reason"] == "stopped"


def test_an_agent_that_ends_its_turn_after_a_no_is_not_stopped(driver: Driver) -> None:
    rejected(driver, "use pathlib")
    driver.hear_exactly(TurnEnded(TurnEnd.STOPPED))
    assert driver.told(TellStop) == []
    assert [prompt.text for prompt in driver.told(Prompt)][-1] == "use pathlib"
    assert driver.view.fired("EcaTurnFinished")[-1]["reason"] == "rejected"


def test_after_a_no_without_a_reason_the_agent_may_go_on(driver: Driver) -> None:
    rejected(driver, None)
    driver.hear_exactly(TextReceived(Role.ASSISTANT, "then I will"), TurnEnded())
    assert driver.told(TellStop) == []
    assert driver.view.fired("EcaTurnFinished")[-1]["reason"] == "done"


def test_a_request_with_an_id_is_about_the_call_whatever_its_arguments(driver: Driver) -> None:
    driver.hear_exactly(ToolRequested(replace(CALL, arguments={"a": 1})))
    driver.hear_exactly(asks(call=replace(CALL, arguments={"a": 2})))
    assert len(calls(driver)) == 1
    assert [item["call"] for item in driver.items] == ["t1"]


def test_what_the_agent_says_of_a_call_is_part_of_the_request(driver: Driver) -> None:
    explained = replace(CALL, arguments={"path": "x"}, note="because\npath: y")
    driver.hear_exactly(asks(call=explained))
    [item] = driver.items
    assert item["lines"] == ["says: because", "  path: y", "path: x"]
    before = driver.shown("t1")
    driver.hear_exactly(asks(call=replace(explained, note="no reason")))
    driver.decide_shown(before, "y")
    assert driver.decided == []
    driver.decide_shown(driver.shown("t1"), "y")
    driver.hear_exactly(ToolFinished(explained))
    assert driver.view.lines[-1] == "✓ edit old.txt: two => TWO"


def test_how_long_a_call_ran_is_measured(driver: Driver) -> None:
    driver.hear_exactly(asks())
    driver.now += 5_000
    driver.decide_shown(driver.shown("t1"), "y")
    driver.hear_exactly(ToolRunning(CALL))
    driver.now += 2_300
    driver.hear_exactly(ToolFinished(CALL))
    assert calls(driver) == ["✓ edit old.txt: two => TWO  2s"]
