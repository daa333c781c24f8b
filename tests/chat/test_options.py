"""Options of a chat: what the agent lists is shown, what it refuses has a line."""

import pytest
from tests.chat.driver import Driver
from tests.support.calls import eca_call

from eca_nvim.chat.render.status import option_rows
from eca_nvim.chat.user_actions.approvals import set_trust
from eca_nvim.chat.vocabulary.effects import Decision
from eca_nvim.chat.vocabulary.events import ToolRequested, ToolRunning
from eca_nvim.chat.vocabulary.options import (
    MODE,
    MODEL,
    THOUGHT_LEVEL,
    TRUST,
    ChatOption,
    OptionKind,
    OptionOffer,
    OptionRefused,
    OptionsChanged,
    SetOptions,
    Unasked,
)
from eca_nvim.chat.vocabulary.requests import ALLOW, REJECT, Choice, ChoiceKind

MODES = (OptionOffer("https://modes#plan", "Plan"), OptionOffer("https://modes#auto", "Auto"))
PLAN = ChatOption("mode-1", "Mode", category=MODE, value=MODES[0].value, offers=MODES)
AUTO = ChatOption(
    "mode-1",
    "Mode",
    category=MODE,
    value=MODES[1].value,
    offers=MODES,
    unasked={MODES[1].value: Unasked.EDITS},
)
WEB = ChatOption("web", "Web search", kind=OptionKind.TOGGLE, value=False)
EFFORT = ChatOption(
    "effort",
    "Effort",
    category=THOUGHT_LEVEL,
    value="low",
    offers=(OptionOffer("low", "Low"), OptionOffer("high", "High \x1b[1m\nest", "slow", "Dear")),
)
SESSION_TRUSTS = (PLAN, WEB, EFFORT)


@pytest.fixture
def driver() -> Driver:
    driver = Driver()
    driver.run()
    driver.hear(OptionsChanged(SESSION_TRUSTS))
    return driver


def shown(driver: Driver) -> dict[str, object]:
    listed = [op for op in driver.view.other if isinstance(op, SetOptions)][-1]
    return {row["name"]: row["shown"] for row in listed.options}


def test_names_are_shown_and_values_are_sent(driver: Driver) -> None:
    assert driver.view.status["agent"] == "Plan"
    assert shown(driver) == {"Mode": "Plan", "Web search": "off", "Effort": "Low"}
    mode, web, effort = option_rows(SESSION_TRUSTS)
    assert (mode["value"], mode["command"]) == ("https://modes#plan", "agent")
    assert (web["kind"], web["value"], "command" in web) == ("toggle", False, False)
    assert list(effort["offers"])[1] == {
        "value": "high",
        "name": "High est",
        "description": "slow",
        "group": "Dear",
    }


def test_only_the_first_of_a_category_has_its_command() -> None:
    models = (ChatOption("m", "Model", category=MODEL), ChatOption("s", "Small", category=MODEL))
    trust = ChatOption("t", "Trust", category=TRUST, kind=OptionKind.TOGGLE, value=False)
    odd = ChatOption("model", "Odd", category="new")
    commands = [row.get("command") for row in option_rows((odd, *models, trust))]
    assert commands == [None, "model", None, "trust"]


def test_a_list_is_drawn_when_it_changed(driver: Driver) -> None:
    before = len(driver.view.other)
    driver.hear(OptionsChanged(SESSION_TRUSTS))
    assert len(driver.view.other) == before
    driver.hear(OptionsChanged(()), child="sub")
    assert driver.chat.options == SESSION_TRUSTS


def test_a_mode_that_does_not_ask_is_in_the_status(driver: Driver) -> None:
    assert "unasked" not in driver.view.status
    toggle = ChatOption(
        "all", "Allow all", kind=OptionKind.TOGGLE, value=True, unasked={True: Unasked.ALL}
    )
    driver.hear(OptionsChanged((toggle, AUTO)))
    assert driver.view.status["unasked"] == ["Allow all: on", "Auto"]
    assert driver.view.status["agent"] == "Auto"


def test_a_refused_value_goes_back_with_one_line(driver: Driver) -> None:
    driver.chat.asked_options["effort"] = "high"
    driver.hear(OptionRefused("effort", "this model\ncannot"))
    assert driver.view.lines[-1] == "Effort stays Low: this model cannot"
    assert driver.chat.asked_options == {}
    assert shown(driver)["Effort"] == "Low"
    driver.hear(OptionRefused("unknown", "no such option"))
    assert driver.view.lines[-1] == "no such option"


def test_a_value_that_a_newer_list_does_not_offer_goes_back_with_one_line(driver: Driver) -> None:
    driver.chat.asked_options |= {"effort": "high", "web": True, "mode-1": MODES[1].value}
    low = ChatOption("effort", "Effort", value="low", offers=EFFORT.offers[:1])
    driver.hear(OptionsChanged((PLAN, low)))
    assert driver.view.lines[-2:] == [
        "Effort stays Low: the server no longer offers High est",
        "Web search is not set: the server no longer has it",
    ]
    assert driver.chat.asked_options == {"mode-1": MODES[1].value}, "it may still come"
    driver.hear(OptionsChanged((AUTO,)))
    assert driver.chat.asked_options == {}


# --- trust where the agent has no option for it --------------------------------------------------

ALWAYS = Choice("a", "Always", ChoiceKind.ALLOW_ALWAYS)
ONCE = Choice("once", "Yes", ChoiceKind.ALLOW_ONCE)


def asked(driver: Driver, call: str, *choices: Choice, request: str | None = None) -> list[object]:
    """Have the agent ask; returns how it is answered at once."""
    before = len(driver.told(Decision))
    offered = choices or (ALWAYS, ONCE, REJECT)
    driver.hear_exactly(ToolRequested(eca_call(call), True, offered, request))
    return [effect.choice for effect in driver.told(Decision)[before:]]


def trust(driver: Driver, *, trusted: bool = True) -> None:
    driver.take(set_trust(driver.chat, 0, trusted=trusted))


def test_a_trusted_chat_allows_once_and_never_always(driver: Driver) -> None:
    assert asked(driver, "1") == []
    trust(driver)
    assert driver.items, "what waits still asks"
    assert asked(driver, "2") == ["once"]
    assert asked(driver, "3", ALWAYS, REJECT) == []
    trust(driver, trusted=False)
    assert asked(driver, "4") == []


def test_a_call_that_runs_and_asks_again_is_allowed_again(driver: Driver) -> None:
    trust(driver)
    assert asked(driver, "1", request="1") == ["once"]
    driver.hear(ToolRunning(eca_call("1")))
    assert asked(driver, "1", request="2") == ["once"]
    assert not driver.items


def test_a_turn_that_is_stopped_allows_nothing(driver: Driver) -> None:
    trust(driver)
    driver.stop()
    assert asked(driver, "1") == []


def test_an_agent_with_an_option_for_trust_asks_what_it_must(driver: Driver) -> None:
    option = ChatOption("t", "Trust", category=TRUST, kind=OptionKind.TOGGLE, value=False)
    driver.hear(OptionsChanged((option,)))
    assert driver.chat.trust is False, "no agent switches it on"
    trust(driver)
    assert asked(driver, "1", ALLOW, REJECT) == []
    driver.hear(OptionRefused("t", "not here"))
    assert driver.view.status["trust"] is False
