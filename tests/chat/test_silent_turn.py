"""A silent turn: the agent is asked, and only its answer ends the turn."""

from __future__ import annotations

import pytest
from tests.chat.driver import ENDED, RUNNING, Driver, call, said, user

from eca_nvim.chat.handlers import reducer
from eca_nvim.chat.vocabulary.effects import Prompt, SilentTurn
from eca_nvim.chat.vocabulary.events import ChatEvent, ProgressChanged, ToolRequested, ToolRunning
from eca_nvim.chat.vocabulary.turn_events import TurnLapsed


@pytest.fixture
def driver() -> Driver:
    driver = Driver()
    driver.take(reducer.server_changed(driver.chat, "ready", driver.now))
    driver.run()
    return driver


def asked(driver: Driver, *seconds: int) -> list[int]:
    """Let seconds pass, and return after how many the agent was asked."""
    found, before = [], len(driver.told(SilentTurn))
    for second in range(1, seconds[0] + 1):
        driver.tick(1000)
        if len(driver.told(SilentTurn)) > before:
            found.append(second)
            before += 1
    return found


def test_a_running_turn_is_asked_about_ever_more_seldom(driver: Driver) -> None:
    assert asked(driver, 1100) == [30, 90, 210, 450, 750, 1050]
    driver.hear(*said("still here"))
    assert asked(driver, 60) == [30]


def test_the_user_is_told_for_how_long_until_the_agent_speaks(driver: Driver) -> None:
    told = []
    for _ in range(3):
        driver.tick(29_000)
        told.append(driver.view.status.get("silent"))
    assert told == [None, 58_000, 87_000]
    driver.hear(*said("still here"))
    driver.tick(1000)
    assert "silent" not in driver.view.status


def test_a_stop_without_an_answer_is_asked_about_soon(driver: Driver) -> None:
    driver.stop()
    assert asked(driver, 16) == [5, 15]
    driver.stop()
    assert asked(driver, 5) == [5]


@pytest.mark.parametrize(
    "event",
    [
        ToolRequested(call(), needs_approval=True),
        ToolRequested(call(), needs_approval=False),
        ToolRunning(call()),
        ProgressChanged("Retrying in 60s", is_retry=True),
    ],
)
def test_what_takes_its_time_is_not_asked_about(driver: Driver, event: ChatEvent) -> None:
    driver.hear(event)
    assert asked(driver, 600) == []
    driver.stop()
    assert asked(driver, 16) == [5, 15]


def test_a_chat_that_is_idle_or_has_no_server_is_not_asked_about(driver: Driver) -> None:
    driver.take(reducer.server_changed(driver.chat, "starting", driver.now))
    assert asked(driver, 60) == []
    driver.take(reducer.server_changed(driver.chat, "ready", driver.now))
    driver.hear(ENDED)
    assert asked(driver, 600) == []


def test_a_turn_that_the_agent_calls_idle_ends(driver: Driver) -> None:
    driver.send("later", queue=True)
    driver.tick(30_000)
    (question,) = driver.told(SilentTurn)
    driver.hear(TurnLapsed(question.number, question.times_asked, is_idle=True))
    assert driver.ends == ["failed"]
    assert driver.view.lines[-1].endswith("it ends here.")
    assert [waiting.text for waiting in driver.chat.queue] == ["later"]
    driver.send("next")
    driver.hear(user("next\n"), RUNNING)
    assert driver.state == "running"


def test_a_turn_of_which_the_agent_says_nothing_goes_on(driver: Driver) -> None:
    driver.tick(30_000)
    (question,) = driver.told(SilentTurn)
    driver.hear(TurnLapsed(question.number, question.times_asked, is_idle=False))
    assert driver.ends == []


def test_a_stop_that_nobody_confirms_ends_the_turn(driver: Driver) -> None:
    driver.send("do this instead", queue=True)
    driver.stop()
    driver.tick(5_000)
    (question,) = driver.told(SilentTurn)
    driver.hear(TurnLapsed(question.number, question.times_asked, is_idle=False))
    assert driver.ends == ["stopped"]
    assert driver.told(Prompt)[1:] == []


def test_an_answer_that_comes_too_late_ends_nothing(driver: Driver) -> None:
    driver.tick(30_000)
    (question,) = driver.told(SilentTurn)
    driver.hear(*said("a word"))
    driver.hear(TurnLapsed(question.number, question.times_asked, is_idle=True))
    assert driver.ends == []
