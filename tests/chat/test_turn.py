"""How turns begin, stop and end; numbers are findings about real servers."""

from __future__ import annotations

import pytest
from tests.agents.eca_driver import ACCEPTED, FINISHED, IDLE, Answer, EcaDriver
from tests.chat.driver import RUNNING, STOPPING, call, said, system, user
from tests.support.told import TellStop

from eca_nvim.chat.handlers.turn import NO_ANSWER, STOPPED_HERE
from eca_nvim.chat.render.whole_chat import transcript
from eca_nvim.chat.vocabulary.effects import Prompt
from eca_nvim.chat.vocabulary.events import (
    AgentGone,
    ChatDeleted,
    ChatEvent,
    ProgressChanged,
    QuestionAsked,
    ToolFinished,
    ToolRejected,
    ToolRequested,
    ToolRunning,
)
from eca_nvim.chat.vocabulary.states import (
    CALL_STEPS,
    ENDED_CALLS,
    CallState,
    TurnEnd,
)
from eca_nvim.chat.vocabulary.turn_events import LoginBegan, TurnEnded


def test_a_prompt_is_shown_at_once_and_the_echo_adds_nothing() -> None:
    driver = EcaDriver()
    driver.send("hello")
    assert driver.view.lines == ["hello"]
    assert driver.state == "running"
    assert driver.effects == [Prompt("chat", "hello")]
    driver.hear(user("hello\n"), RUNNING)
    assert driver.view.lines == ["hello"]
    driver.hear(user("hello\n"))
    assert driver.view.lines == ["hello", "hello"], "the same words again are said again"


def test_a_normal_turn_starts_and_ends_once() -> None:
    driver = EcaDriver()
    driver.run()
    driver.hear(ACCEPTED, *said("Hi"), IDLE, FINISHED)
    assert driver.state == "idle"
    assert driver.ends == ["done"]
    assert len(driver.view.fired("EcaTurnStarted")) == 1


def test_stop_without_idle_unlocks_1() -> None:
    driver = EcaDriver()
    driver.run()
    driver.hear(ToolRunning(call()))
    driver.stop()
    assert driver.state == "stopping"
    assert driver.told(TellStop) == [TellStop("chat")]
    driver.hear(system("\nPrompt stopped\n"), STOPPING, FINISHED, ToolRejected(call(), "user"))
    assert driver.state == "idle"
    assert driver.ends == ["stopped"]
    assert "⊘ read stopped" in driver.view.lines
    driver.run("again")
    driver.hear(IDLE, FINISHED)
    assert driver.ends == ["stopped", "done"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ((), (STOPPED_HERE,)),
        (said("Half an"), ("Half an", STOPPED_HERE)),
        ((ToolFinished(call()),), ("✓ read", STOPPED_HERE)),
        ((*said("Half an"), system("Prompt stopped")), ("Half an", "Prompt stopped")),
        ((ToolRunning(call()),), ("⊘ read may still run", STOPPED_HERE)),
        ((ToolRequested(call(), needs_approval=True),), ("⊘ read stopped",)),
        ((QuestionAsked("q", "Which?"),), ("⊘ Which? not answered", STOPPED_HERE)),
    ],
)
def test_the_chat_and_its_export_say_where_a_turn_was_stopped(
    before: tuple[ChatEvent, ...], after: tuple[str, ...]
) -> None:
    driver = EcaDriver()
    driver.run()
    driver.hear(*before)
    driver.stop()
    driver.hear(STOPPING, TurnEnded(TurnEnd.STOPPED))
    assert [line.strip() for line in driver.view.lines] == ["hello", *after]
    assert (STOPPED_HERE in after) == (STOPPED_HERE in transcript(driver.chat, 0))


@pytest.mark.parametrize(
    ("prompt", "is_command"),
    [("/costs", True), ("/compact now", True), ("/etc/hosts is wrong", False), ("hi /x", False)],
)
def test_the_end_of_a_turn_says_whether_its_prompt_was_a_command(
    prompt: str, *, is_command: bool
) -> None:
    driver = EcaDriver()
    driver.run(prompt)
    driver.hear(IDLE, FINISHED)
    assert driver.view.fired("EcaTurnFinished")[-1]["command"] is is_command
    assert (NO_ANSWER in driver.view.lines) is not is_command


def test_a_turn_that_ends_by_itself_and_a_login_that_is_cancelled_say_nothing_of_a_stop() -> None:
    driver = EcaDriver()
    driver.run()
    driver.hear(*said("Hi"), IDLE)
    driver.run("/login")
    driver.hear(LoginBegan())
    driver.stop()
    driver.hear(TurnEnded(TurnEnd.STOPPED))
    assert driver.view.lines == ["hello", "Hi", "/login"]


def test_a_slash_command_after_a_stop_ends_too_5() -> None:
    driver = EcaDriver()
    driver.run()
    driver.hear(ACCEPTED)
    driver.stop()
    driver.hear(STOPPING, FINISHED)
    driver.send("/costs")
    driver.hear(user("/costs\n"), system("\nTotal: $0"), IDLE, FINISHED, ACCEPTED)
    assert driver.ends == ["stopped", "done"]
    assert driver.state == "idle"


def test_the_answer_to_a_slash_command_does_not_reopen_the_turn_5() -> None:
    driver = EcaDriver()
    driver.send("/costs")
    driver.hear(user("/costs\n"), system("\nTotal: $0"), IDLE, FINISHED, ACCEPTED)
    assert driver.state == "idle"
    assert driver.ends == ["done"]
    assert driver.view.lines == ["/costs", "Total: $0"]


def test_an_error_before_the_model_is_said_once_5() -> None:
    driver = EcaDriver()
    driver.send("hello")
    refused = Answer(accepted=False, fault="error")
    driver.hear(user("hello\n"), system("Error: No model"), IDLE, FINISHED, refused)
    assert driver.view.lines == ["hello", "Error: No model"]
    assert driver.ends == ["done"]


@pytest.mark.parametrize("before", [[], [RUNNING]])
def test_a_refused_prompt_ends_the_turn_33(before: list[ChatEvent]) -> None:
    driver = EcaDriver()
    driver.send("hello")
    driver.hear(*before, Answer(accepted=False, fault="Internal error"))
    assert driver.state == "idle"
    assert driver.ends == ["failed"]
    assert driver.view.lines == ["hello", "Internal error"]


def test_rejecting_ends_the_turn_6() -> None:
    driver = EcaDriver()
    driver.run()
    driver.hear(ToolRequested(call(), needs_approval=True))
    assert driver.state == "waiting"
    driver.reject("t1")
    assert driver.state == "running"
    driver.hear(ToolRejected(call(), "user"), system("Tell what to do"), IDLE, FINISHED)
    assert driver.state == "idle"
    assert driver.ends == ["rejected"]


def test_finished_after_idle_does_not_end_the_queued_turn() -> None:
    driver = EcaDriver()
    driver.run("one")
    driver.send("two", queue=True)
    driver.hear(IDLE)
    assert driver.state == "running"
    driver.hear(FINISHED)
    assert driver.state == "running"
    driver.hear(user("two\n"), RUNNING, *said("2"), IDLE, FINISHED)
    assert driver.ends == ["done", "done"]


def test_a_late_answer_does_not_end_the_queued_turn() -> None:
    driver = EcaDriver()
    driver.send("one")
    driver.send("two", queue=True)
    refused = Answer(accepted=False, fault="error")
    driver.hear(user("one\n"), system("Error"), IDLE, FINISHED, refused)
    assert driver.state == "running"
    driver.hear(user("two\n"), RUNNING, ACCEPTED, IDLE, FINISHED)
    assert driver.ends == ["done", "done"]


def test_an_old_server_says_only_finished() -> None:
    driver = EcaDriver()
    driver.send("one")
    driver.hear(ACCEPTED, *said("1"), FINISHED)
    driver.send("two")
    driver.hear(ACCEPTED, *said("2"), FINISHED)
    assert driver.ends == ["done", "done"]


def test_a_stop_that_came_too_early_is_said_again() -> None:
    driver = EcaDriver()
    driver.send("hello")
    driver.stop()
    driver.hear(user("hello\n"), RUNNING)
    assert len(driver.told(TellStop)) == 2
    driver.hear(STOPPING, FINISHED)
    assert driver.ends == ["stopped"]


def test_a_stop_when_idle_does_nothing() -> None:
    driver = EcaDriver()
    driver.stop()
    driver.hear(STOPPING, IDLE, FINISHED)
    assert driver.effects == []
    assert driver.ends == []


def test_the_agent_may_begin_a_turn_itself() -> None:
    driver = EcaDriver()
    driver.hear(RUNNING)
    assert driver.state == "running"
    driver.hear(IDLE, FINISHED)
    assert driver.ends == ["done"]


def test_the_end_of_the_agent_ends_everything() -> None:
    driver = EcaDriver()
    driver.run()
    driver.hear(ToolRequested(call(), needs_approval=True), ToolRunning(call("t2")))
    driver.send("later", queue=True)
    driver.hear(AgentGone("eca exited with code 1", ("last words",)))
    assert driver.state == "idle"
    assert driver.ends == ["gone"]
    assert driver.items == []
    assert driver.view.queue == [("queue", "later")]
    assert driver.view.lines[-2:] == [
        "· the last lines of the server's log",
        "eca exited with code 1",
    ]
    assert not driver.told(Prompt)[1:], "nobody is there to be told"
    driver.send("")
    assert driver.effects[-1] == Prompt("chat", "later")


def test_a_fault_above_the_first_prompt_is_told_below_it_only() -> None:
    driver = EcaDriver()
    fault = AgentGone("server.command: /nowhere/eca is not there")
    driver.hear(fault)
    driver.send("hello")
    driver.hear(fault)
    assert driver.view.lines.count(fault.reason) == 1
    assert driver.view.lines[-1] == fault.reason
    driver.send("again")
    driver.hear(fault)
    assert driver.view.lines.count(fault.reason) == 2, "each prompt has its answer"


def test_another_fault_than_the_one_above_is_told_too() -> None:
    driver = EcaDriver()
    driver.hear(AgentGone("not there"))
    driver.send("hello")
    driver.hear(AgentGone("not executable"))
    assert {"not there", "not executable"} <= set(driver.view.lines)


def test_a_deleted_chat_keeps_its_text_18() -> None:
    driver = EcaDriver()
    driver.run()
    driver.hear(*said("text"), ChatDeleted())
    assert driver.state == "idle"
    assert driver.ends == ["gone"]
    assert driver.view.lines[1] == "text"
    assert "deleted" in driver.view.lines[2]


def test_progress_is_shown_while_the_turn_runs_and_never_decides_8() -> None:
    driver = EcaDriver()
    driver.run()
    driver.hear(ToolRequested(call(), needs_approval=True), ProgressChanged("Generating"))
    assert driver.state == "waiting"
    assert driver.view.status["activity"] == "Generating"
    driver.approve("t1")
    driver.hear(IDLE, ProgressChanged("late"))
    assert "activity" not in driver.view.status


def test_time_passes_only_while_the_turn_runs() -> None:
    driver = EcaDriver()
    driver.run()
    driver.tick(2000)
    assert driver.view.status["elapsed"] == 2000
    driver.hear(IDLE)
    assert "elapsed" not in driver.view.status
    before = driver.view.status
    driver.tick(1000)
    assert driver.view.status is before


def test_every_call_state_has_its_row() -> None:
    assert CALL_STEPS.keys() == set(CallState)


def test_a_call_that_has_ended_stays_so() -> None:
    for ended in ENDED_CALLS - {CallState.LEFT, CallState.UNREPORTED}:
        assert not CALL_STEPS[ended]
