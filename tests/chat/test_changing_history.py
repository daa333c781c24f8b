"""Prompts wait while the history of their chat changes."""

from __future__ import annotations

import pytest
from tests.chat.driver import ENDED, LOGIN, RUNNING, Driver, user
from tests.support.told import TellGiveUp, TellSteer

from eca_nvim.chat.user_actions.history_edits import begin_change, end_change
from eca_nvim.chat.user_actions.prompts import send_prompt
from eca_nvim.chat.vocabulary.contexts import FileContext
from eca_nvim.chat.vocabulary.effects import Prompt
from eca_nvim.chat.vocabulary.events import AgentGone, ChatCleared, ChatEvent
from eca_nvim.chat.vocabulary.ops import Notify


@pytest.fixture
def driver() -> Driver:
    """Return a chat whose history has begun to change after a turn."""
    driver = Driver()
    driver.run()
    driver.hear(ENDED)
    begin_change(driver.chat)
    return driver


def prompts(driver: Driver) -> list[str]:
    return [effect.text for effect in driver.told(Prompt)]


def change(driver: Driver, *, sends: bool = True) -> None:
    """Let the history be cleared, and nothing change any more."""
    driver.hear(ChatCleared(usage=True))
    driver.take(end_change(driver.chat, driver.now, sends=sends))


def test_the_first_prompt_is_sent_afterwards_and_the_others_follow(driver: Driver) -> None:
    file = FileContext("/a.py")
    driver.take(send_prompt(driver.chat, "one", driver.now, (file,)))
    driver.send("two", queue=True)
    driver.send("/three")
    assert driver.view.queue == [("queue", "one"), ("queue", "two"), ("queue", "/three")]
    assert (driver.state, prompts(driver)) == ("running", ["hello"])
    change(driver)
    assert driver.told(Prompt)[-1] == Prompt("chat", "one", (file,))
    assert driver.view.lines == ["one"]
    assert driver.view.queue == [("queue", "two"), ("queue", "/three")]
    driver.send("steer")
    assert driver.told(TellSteer) == [TellSteer("chat", "steer")]
    for _ in range(3):
        driver.hear(ENDED)
    assert prompts(driver) == ["hello", "one", "steer", "two", "/three"]


def test_a_waiting_prompt_counts_as_busy_until_its_turn_ends(driver: Driver) -> None:
    assert driver.state == "idle"
    driver.tick(60_000)
    driver.send("one")
    driver.tick(2_000)
    assert (driver.state, driver.view.status["elapsed"]) == ("running", 2_000)
    states = {driver.state}
    change(driver)
    states.add(driver.state)
    driver.hear(user("one\n"), RUNNING)
    states.add(driver.state)
    assert states == {"running"}
    driver.hear(ENDED)
    assert driver.state == "idle"


def test_without_a_prompt_nothing_is_shown_or_sent(driver: Driver) -> None:
    driver.send("")
    assert end_change(driver.chat, driver.now).ops == []
    assert (driver.state, prompts(driver)) == ("idle", ["hello"])


def test_a_stop_keeps_prompts_queued_and_the_next_one_goes_before_them(driver: Driver) -> None:
    driver.send("one")
    driver.stop()
    assert (driver.state, driver.view.queue) == ("idle", [("queue", "one")])
    assert driver.told(TellGiveUp) == [TellGiveUp("chat")]
    driver.send("two")
    assert driver.state == "running"
    change(driver)
    assert prompts(driver) == ["hello", "two"]
    assert driver.view.queue == [("queue", "one")]


def test_a_prompt_that_a_stop_left_can_be_sent_again_meanwhile(driver: Driver) -> None:
    driver.send("one")
    driver.stop()
    driver.send("")
    driver.send("")
    assert (driver.state, driver.view.queue) == ("running", [("queue", "one")])
    change(driver)
    assert prompts(driver) == ["hello", "one"]


def test_a_stop_with_no_prompt_says_that_nothing_runs(driver: Driver) -> None:
    driver.stop()
    assert driver.view.other[-1] == Notify("info", "no turn is running")


def test_what_was_left_by_a_stop_is_not_sent_by_a_change() -> None:
    driver = Driver()
    driver.run()
    driver.send("left", queue=True)
    driver.stop()
    driver.hear(ENDED)
    begin_change(driver.chat)
    change(driver)
    assert (prompts(driver), driver.view.queue) == (["hello"], [("queue", "left")])


def test_a_waiting_prompt_can_be_taken_back(driver: Driver) -> None:
    driver.send("one")
    driver.unqueue(1, edit=True)
    assert (driver.state, driver.view.queue) == ("idle", [])
    change(driver)
    assert prompts(driver) == ["hello"]


def test_prompts_stay_queued_if_they_are_not_to_be_sent(driver: Driver) -> None:
    driver.send("one")
    driver.hear(AgentGone("the server was stopped"))
    change(driver, sends=False)
    assert (driver.state, driver.view.queue) == ("idle", [("queue", "one")])
    driver.send("")
    assert prompts(driver) == ["hello", "one"]


def test_a_turn_that_ends_meanwhile_sends_nothing_until_then() -> None:
    driver = Driver()
    driver.run()
    driver.send("later", queue=True)
    begin_change(driver.chat)
    driver.send("now")
    assert driver.told(TellSteer) == []
    driver.hear(ENDED)
    assert (driver.state, prompts(driver)) == ("running", ["hello"])
    driver.take(end_change(driver.chat, driver.now))
    assert prompts(driver) == ["hello", "now"]
    driver.hear(ENDED)
    assert prompts(driver) == ["hello", "now", "later"]


def test_a_prompt_that_would_follow_a_turn_follows_the_change() -> None:
    driver = Driver()
    driver.run()
    driver.send("steer")
    begin_change(driver.chat)
    driver.hear(ENDED)
    assert (driver.state, prompts(driver)) == ("running", ["hello"])
    driver.take(end_change(driver.chat, driver.now))
    assert prompts(driver) == ["hello", "steer"]


@pytest.mark.parametrize("begun", [RUNNING, LOGIN])
def test_a_turn_of_the_agent_is_awaited_too(driver: Driver, begun: ChatEvent) -> None:
    driver.send("one")
    driver.hear(begun)
    driver.take(end_change(driver.chat, driver.now))
    assert (prompts(driver), driver.view.queue) == (["hello"], [("queue", "one")])
    driver.hear(ENDED)
    assert prompts(driver) == ["hello", "one"]


def test_steers_that_were_not_read_stay_ahead_of_what_was_sent_later() -> None:
    driver = Driver()
    driver.run()
    driver.send("last", queue=True)
    driver.send("one")
    driver.send("two")
    begin_change(driver.chat)
    driver.send("three")
    driver.hear(ENDED)
    assert [text for _, text in driver.view.queue] == ["one", "two", "three", "last"]
    driver.take(end_change(driver.chat, driver.now))
    for _ in range(4):
        driver.hear(ENDED)
    assert prompts(driver) == ["hello", "one", "two", "three", "last"]
