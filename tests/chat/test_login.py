"""A login: what is asked, and what is shown, sent, held and kept."""

from __future__ import annotations

import pytest
from tests.agents.eca_driver import ACCEPTED, FINISHED, IDLE, Answer, EcaDriver
from tests.chat.driver import LOGIN, RUNNING, said, system, user
from tests.support.told import TellAnswer, TellLogin, TellSteer, TellStop

from eca_nvim.chat.handlers.turn import LOGIN_QUESTION, SILENT_LOGIN
from eca_nvim.chat.vocabulary.effects import Prompt
from eca_nvim.chat.vocabulary.events import AgentGone, QuestionAsked
from eca_nvim.chat.vocabulary.ops import SetInput

PROVIDERS = (("anthropic", ""), ("z-ai", ""))
WHICH = QuestionAsked("q1", "Select the provider:", PROVIDERS, allow_freeform=False)
KEY = "sk-secret-99999"


def log_in(driver: EcaDriver, *, asks: bool = False) -> None:
    """Begin a login as the real server does, with a question or without."""
    driver.send("/login" if asks else "/login z-ai")
    driver.hear(user("/login\n"), system("Login started"), user("\n"))
    if asks:
        driver.hear(LOGIN, FINISHED, WHICH)
    else:
        driver.hear(system("Paste your API Key"), FINISHED, LOGIN, FINISHED, ACCEPTED)
    assert driver.state == "login"


def answer(driver: EcaDriver, text: str) -> None:
    driver.answer(LOGIN_QUESTION, text)


def asked(driver: EcaDriver) -> list[tuple[object, object]]:
    """Return what is asked, and whether the answer is a secret."""
    return [(item["title"], item.get("secret")) for item in driver.items]


def shown(driver: EcaDriver) -> str:
    return "\n".join(driver.view.lines)


@pytest.mark.parametrize("asks", [True, False])
def test_it_lasts_until_the_agent_is_idle(asks: bool) -> None:
    driver = EcaDriver()
    log_in(driver, asks=asks)
    assert driver.ends == []
    assert "elapsed" not in driver.view.status
    driver.hear(system("Login successful!"), FINISHED, IDLE, ACCEPTED)
    assert driver.state == "idle"
    assert driver.ends == ["done"]
    driver.run("next")
    driver.hear(IDLE, FINISHED)
    assert driver.ends == ["done", "done"]


def test_only_the_key_is_a_secret_and_no_echo_is_shown() -> None:
    driver = EcaDriver()
    log_in(driver)
    assert asked(driver) == [("Paste your API Key", True)]
    answer(driver, KEY)
    assert driver.effects[-1] == TellLogin("chat", KEY)
    assert not driver.told(TellSteer)
    driver.hear(user("*****\n"), system("Inform one or more models"), FINISHED)
    assert asked(driver) == [], "the response is missing"
    driver.hear(ACCEPTED)
    assert asked(driver) == [("Inform one or more models", None)]
    assert "✓ Paste your API Key → *****" in driver.view.lines
    assert "Paste your API Key" not in driver.view.lines, "it is said once"
    assert driver.state == "login"
    answer(driver, "glm-4")
    driver.hear(user(f"{KEY} glm-4\n"), system("saved"), FINISHED, IDLE, ACCEPTED)
    assert KEY not in shown(driver)
    assert "✓ Inform one or more models → glm-4" in driver.view.lines
    assert driver.told(TellLogin) == [TellLogin("chat", KEY), TellLogin("chat", "glm-4")]
    assert asked(driver) == []


@pytest.mark.parametrize(
    ("line", "secret"),
    [
        ("Paste your API Key", True),
        ("Authenticate there, then paste the code and press enter:", True),
        ("Your token?", True),
        ("PASSWORD", True),
        ("Inform one or more models (separated by `,`):", None),
        ("Inform the URL:", None),
    ],
)
def test_what_asks_for_a_secret_says_so_in_its_last_line(line: str, secret: bool | None) -> None:
    driver = EcaDriver()
    driver.send("/login z-ai")
    driver.hear(system(f"Have your key at hand\n\n{line}\n"), FINISHED, LOGIN, FINISHED, ACCEPTED)
    assert asked(driver) == [(line, secret)]


def test_what_it_says_between_questions_of_its_own_is_not_asked() -> None:
    """As recorded: the response comes before the text that follows the last answer."""
    driver = EcaDriver()
    log_in(driver, asks=True)
    driver.hear(FINISHED)
    driver.answer("q1", "z-ai")
    driver.hear(ACCEPTED)
    assert asked(driver) == []
    driver.hear(system("Open: https://a.org\n\nThen paste the code"), FINISHED)
    assert asked(driver) == [("Then paste the code", True)]
    driver.hear(system("Sorry, paste the token"), FINISHED)
    assert asked(driver) == [("Sorry, paste the token", True)]
    answer(driver, KEY)
    assert driver.told(TellLogin) == [TellLogin("chat", KEY)]


def test_what_waits_is_never_an_answer() -> None:
    driver = EcaDriver()
    driver.send("/login z-ai")
    driver.send("one")
    driver.hear(user("/login z-ai\n"), system("Paste your API Key"), FINISHED)
    assert driver.state == "running"
    driver.hear(LOGIN, FINISHED, ACCEPTED)
    driver.send("two")
    driver.send("/three")
    assert driver.view.queue == [("queue", "one"), ("queue", "two"), ("queue", "/three")]
    assert driver.told(TellSteer) == [TellSteer("chat", "one")]
    answer(driver, KEY)
    driver.hear(user("*****\n"), system("saved"), FINISHED)
    assert driver.told(Prompt) == [Prompt("chat", "/login z-ai")]
    driver.hear(IDLE, ACCEPTED)
    assert driver.effects[-1] == Prompt("chat", "one")


def test_its_question_takes_an_option_which_is_no_secret() -> None:
    driver = EcaDriver()
    log_in(driver, asks=True)
    driver.hear(FINISHED)
    driver.answer("q1", " z-ai ")
    assert driver.told(TellAnswer) == [TellAnswer("q1", "z-ai")]
    assert "✓ Select the provider: → z-ai" in driver.view.lines
    assert not driver.told(TellLogin)


def test_a_question_of_its_own_replaces_ours() -> None:
    driver = EcaDriver()
    log_in(driver)
    driver.hear(WHICH)
    assert [item["call"] for item in driver.items] == ["q1"]
    assert not driver.told(TellLogin)


def test_a_question_that_comes_before_the_login_stays_open() -> None:
    driver = EcaDriver()
    driver.send("/login anthropic")
    driver.hear(user("/login anthropic\n"), system("A key takes precedence"), FINISHED, WHICH)
    driver.hear(LOGIN, FINISHED, ACCEPTED)
    assert driver.state == "login"
    assert [item["call"] for item in driver.items] == ["q1"]


def test_a_refusal_is_told_and_the_login_goes_on() -> None:
    driver = EcaDriver()
    log_in(driver)
    answer(driver, KEY)
    driver.hear(user("*****\n"), Answer(accepted=False, fault="no such key"))
    assert asked(driver) == [("no such key", True)]
    assert driver.state == "login"


def test_it_is_cancelled_by_declining_to_answer() -> None:
    driver = EcaDriver()
    log_in(driver)
    driver.answer(LOGIN_QUESTION, None)
    assert driver.told(TellLogin) == [TellLogin("chat", None)]
    assert driver.state == "stopping"


def test_it_is_cancelled_by_its_question() -> None:
    driver = EcaDriver()
    log_in(driver, asks=True)
    driver.stop()
    assert driver.told(TellAnswer) == [TellAnswer("q1", None)]
    assert not driver.told(TellLogin)
    assert driver.state == "stopping"
    driver.hear(system("Login cancelled"), FINISHED)
    assert driver.state == "stopping"
    driver.hear(IDLE)
    assert driver.ends == ["stopped"]


def test_it_is_cancelled_without_a_question_once() -> None:
    driver = EcaDriver()
    log_in(driver)
    driver.send("held")
    driver.stop()
    driver.stop()
    assert driver.told(TellLogin) == [TellLogin("chat", None)]
    assert not driver.told(TellStop)
    driver.hear(user("cancel\n"), system("Login cancelled"), FINISHED, IDLE, ACCEPTED)
    assert driver.ends == ["stopped"]
    assert "cancel" not in driver.view.lines
    assert driver.view.queue == [("queue", "held")]
    assert driver.told(Prompt) == [Prompt("chat", "/login z-ai")]


def test_an_answer_to_the_cancellation_ends_it_where_no_idle_comes() -> None:
    driver = EcaDriver()
    log_in(driver)
    driver.stop()
    driver.hear(ACCEPTED)
    assert driver.state == "idle"
    log_in(driver, asks=True)
    driver.hear(ACCEPTED)
    driver.stop()
    driver.stop()
    assert driver.told(TellLogin) == [TellLogin("chat", None)] * 2, "the question was not enough"


OURS = QuestionAsked("ours", "Allow?", (("No", ""), ("Yes", "")), False, by_agent=False)


def test_a_question_of_ours_is_none_of_it() -> None:
    driver = EcaDriver()
    driver.hear(OURS)
    log_in(driver)
    assert [item["call"] for item in driver.items] == ["ours", LOGIN_QUESTION]
    driver.stop()
    assert driver.told(TellLogin) == [TellLogin("chat", None)]


def test_a_stop_that_comes_too_early_cancels_it() -> None:
    driver = EcaDriver()
    driver.send("/login")
    driver.stop()
    driver.hear(user("/login\n"), LOGIN, FINISHED)
    assert driver.told(TellLogin) == [TellLogin("chat", None)]
    driver.hear(ACCEPTED, IDLE)
    assert driver.ends == ["stopped"]


def test_one_in_which_the_agent_says_nothing_is_left_by_a_stop_and_not_by_a_word() -> None:
    driver = EcaDriver()
    driver.send("hello")
    driver.hear(LOGIN, ACCEPTED)
    assert asked(driver) == [(SILENT_LOGIN, True)]
    driver.stop()
    assert driver.told(TellLogin) == []
    assert (driver.state, driver.ends) == ("idle", ["stopped"])
    assert driver.view.lines == ["hello", SILENT_LOGIN]


def test_a_late_answer_is_no_prompt() -> None:
    driver = EcaDriver()
    log_in(driver)
    late = driver.shown(LOGIN_QUESTION)
    driver.hear(IDLE)
    driver.run()
    for _ in range(2):
        driver.answer_shown(late, KEY)
    assert not driver.told(TellSteer)
    assert not driver.told(TellLogin)
    assert [it.text for it in driver.told(Prompt)] == ["/login z-ai", "hello"]
    assert KEY not in shown(driver)
    assert not [it for it in driver.view.other if isinstance(it, SetInput)]


def test_the_end_of_the_agent_ends_it() -> None:
    driver = EcaDriver()
    log_in(driver)
    driver.hear(AgentGone("gone"))
    assert driver.state == "idle"
    assert driver.ends == ["gone"]


def test_a_turn_after_it_is_a_turn() -> None:
    driver = EcaDriver()
    log_in(driver)
    driver.hear(RUNNING, *said("Hi"))
    assert driver.state == "running"
    driver.hear(FINISHED)
    assert driver.ends == ["done"]


def test_a_turn_in_the_place_of_a_cancelled_login_is_stopped() -> None:
    driver = EcaDriver()
    log_in(driver)
    driver.stop()
    driver.hear(user("cancel\n"), RUNNING)
    assert driver.told(TellStop) == [TellStop("chat")]
    driver.hear(FINISHED)
    assert driver.ends == ["stopped"]


def test_finished_before_the_answer_is_no_end() -> None:
    driver = EcaDriver()
    driver.send("/costs")
    driver.send("next", queue=True)
    driver.hear(user("/costs\n"), FINISHED)
    assert driver.ends == []
    driver.hear(ACCEPTED)
    assert driver.ends == ["done"]
    assert driver.effects[-1] == Prompt("chat", "next")


# --- an older server, translated: a turn begins in the place of the login ------------------------


def log_in_to_older() -> EcaDriver:
    driver = EcaDriver()
    driver.send("hello")
    driver.hear(LOGIN, ACCEPTED)
    answer(driver, KEY)
    driver.hear(user(f"{KEY}\n"))
    assert driver.state == "login"
    return driver


def test_a_turn_begins_when_an_older_server_takes_the_answer() -> None:
    driver = log_in_to_older()
    driver.hear(RUNNING, ACCEPTED)
    assert driver.state == "running"
    assert driver.ends == []
    driver.hear(*said("Logged in."), FINISHED)
    assert driver.state == "idle"
    assert driver.ends == ["done"]
    assert "without an answer" not in shown(driver)
    assert KEY not in shown(driver)


def test_a_turn_that_has_finished_before_its_response_ends_the_login() -> None:
    driver = log_in_to_older()
    driver.hear(*said("Logged in."))
    assert driver.state == "login", "the response may ask again"
    driver.hear(RUNNING, FINISHED, ACCEPTED)
    assert driver.state == "idle"
    assert driver.ends == ["done"]


def test_an_older_server_asks_again_or_refuses_and_the_login_goes_on() -> None:
    driver = log_in_to_older()
    driver.hear(LOGIN, ACCEPTED)
    assert driver.state == "login"
    answer(driver, KEY)
    driver.hear(Answer(accepted=False, fault="no such key"))
    assert driver.state == "login"
    answer(driver, KEY)
    answer(driver, KEY)
    assert len(driver.told(TellLogin)) == 3, "the last one answered nothing"
    driver.hear(LOGIN, ACCEPTED)
    answer(driver, KEY)
    driver.hear(RUNNING, ACCEPTED)
    assert driver.state == "running"
