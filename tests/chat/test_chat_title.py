"""Titles of chats, and what is said if the agent does not know a chat."""

from __future__ import annotations

import pytest
from tests.chat.driver import ENDED, Driver, said, user

from eca_nvim.chat.handlers import reducer
from eca_nvim.chat.handlers.chat_state import FORGOTTEN
from eca_nvim.chat.vocabulary.events import AgentGone, ChatCleared, ChatOpened, TitleChanged
from eca_nvim.chat.vocabulary.ops import BlockKind
from eca_nvim.chat.vocabulary.turn_events import TurnBegan


def become(driver: Driver, *states: str) -> None:
    """Let the agent's process be in one state after the other."""
    for state in states:
        driver.take(reducer.server_changed(driver.chat, state, driver.now))


def begin(driver: Driver, text: str, title: str | None, *, known: bool = False) -> None:
    """Send a prompt; the agent opens the chat unless it knows it, and may give it a title."""
    driver.send(text)
    driver.hear(*([] if known else [ChatOpened()]), user(f"{text}\n"))
    driver.hear(*([] if title is None else [TitleChanged(title)]), TurnBegan())


def talk(driver: Driver, text: str, title: str | None, *, known: bool = False) -> None:
    """Take a whole turn."""
    begin(driver, text, title, known=known)
    driver.hear(*said(f"You said {text}."), ENDED)


@pytest.fixture
def driver() -> Driver:
    """Return a chat with one answered prompt; the agent is ready."""
    driver = Driver()
    become(driver, "starting", "ready")
    talk(driver, "one", "First")
    return driver


def test_a_new_agent_that_does_not_know_the_chat_leaves_its_title(driver: Driver) -> None:
    driver.hear(AgentGone("it crashed"))
    become(driver, "failed", "starting", "ready")
    talk(driver, "two", "Second")
    assert driver.chat.title == "First"
    assert driver.view.lines == [
        "one",
        "You said one.",
        "it crashed",
        FORGOTTEN,
        "two",
        "You said two.",
    ]


def test_it_is_said_once_for_each_agent(driver: Driver) -> None:
    for number in ("two", "three"):
        become(driver, "stopped", "starting", "ready")
        talk(driver, number, number)
        talk(driver, f"more of {number}", number)
        driver.hear(ChatOpened())
    assert driver.chat.title == "First"
    assert driver.view.lines.count(FORGOTTEN) == 2


def test_an_agent_that_keeps_its_chats_goes_on_with_the_title(driver: Driver) -> None:
    become(driver, "stopped", "starting", "ready")
    talk(driver, "two", "Better", known=True)
    assert driver.chat.title == "Better"
    assert FORGOTTEN not in driver.view.lines


def test_a_chat_without_a_title_takes_that_of_the_new_agent() -> None:
    driver = Driver()
    become(driver, "starting", "ready")
    talk(driver, "one", None)
    become(driver, "stopped", "starting", "ready")
    talk(driver, "two", "Second")
    talk(driver, "three", "Third", known=True)
    assert driver.chat.title == "Second"


def test_nothing_is_forgotten_where_nothing_was_answered() -> None:
    driver = Driver()
    become(driver, "starting")
    begin(driver, "one", None)
    driver.hear(AgentGone("it crashed"))
    become(driver, "failed", "starting", "ready")
    talk(driver, "two", "Second")
    assert FORGOTTEN not in driver.view.lines
    assert driver.chat.title == "Second"


def test_an_empty_chat_is_named_again(driver: Driver) -> None:
    become(driver, "stopped", "starting", "ready")
    begin(driver, "two", "Second")
    driver.hear(ENDED, ChatCleared(), TitleChanged("Third"))
    assert driver.chat.title == "Third"


def test_what_a_subagent_is_called_is_not_the_chats_title(driver: Driver) -> None:
    driver.hear(TitleChanged("Other"), ChatOpened("Other"), child="sub")
    assert driver.chat.title == "First"


def test_the_word_stands_above_the_prompt_also_where_the_agent_has_spoken(driver: Driver) -> None:
    become(driver, "stopped", "starting", "ready")
    driver.send("two")
    driver.hear(ChatOpened(), *said("Well."))
    kinds = [block.kind for block in driver.view.blocks]
    assert kinds[-3:] == [BlockKind.SYSTEM, BlockKind.USER, BlockKind.ASSISTANT]
