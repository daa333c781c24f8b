"""What an agent does without asking, as its options tell."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import pytest
from msgspec.structs import replace
from tests.agents.acp.agent_options import KEPT, read_options
from tests.agents.acp.test_acp_options import MODELS, MODES, mode

from eca_nvim.agents.acp.options import BESIDE, SessionOptions
from eca_nvim.chat.render.status import unasked_names
from eca_nvim.chat.vocabulary.options import (
    OptionValue,
    Unasked,
)
from eca_nvim.protocol.acp.options import ConfigOption, Offer
from eca_nvim.protocol.acp.sessions import OpenedSession
from scripts.setup.agents import PACKAGES

ALLOW = ConfigOption(id="allow_all", category="permissions", type="boolean", current_value=False)
WEB = ConfigOption(id="web", name="Web search", category="tools", type="boolean")
YOLO = ConfigOption(
    id="mode",
    name="Mode",
    category="mode",
    current_value="default",
    options=(Offer("default", "Ask me"), Offer("yolo", "Yolo")),
)


def lets_run(options: SessionOptions) -> bool:
    """Return whether something is done without asking."""
    return options.unasked > Unasked.UNKNOWN


def set_by_user(
    listed: Sequence[ConfigOption], option_id: str, value: OptionValue
) -> SessionOptions:
    """Return options after the user has set one and the agent has confirmed it."""
    options = SessionOptions()
    options.listed(listed)
    options.user_sets(option_id, value)
    assert not lets_run(options), "the agent has not answered"
    answer = [replace(it, current_value=value) if it.id == option_id else it for it in listed]
    options.was_set(option_id, value, answer)
    return options


def test_a_value_counts_in_its_own_option_alone() -> None:
    """Whatever values other options have that the user has set."""
    model = ConfigOption(id="model", category="model", current_value="", options=(Offer("yolo"),))
    for option_id, value in (("web", True), ("model", "yolo")):
        options = set_by_user([ALLOW, WEB, model, YOLO], option_id, value)
        assert not lets_run(options)
        assert unasked_names(options.changed.options) == []


def test_a_toggle_that_allows_all_counts_once_the_user_has_set_it() -> None:
    options = set_by_user([ALLOW, WEB], "allow_all", True)
    assert len(unasked_names(options.changed.options)) == 1
    assert options.unasked is Unasked.ALL


@pytest.mark.parametrize("name", ["Ask before tools run", "Allow all"])
def test_a_toggle_of_an_unknown_meaning_allows_nothing(name: str) -> None:
    """The category says that it is about asking, but not what "on" means."""
    ask = ConfigOption(id="ask", name=name, category="permissions", type="boolean")
    options = set_by_user([ask], "ask", True)
    assert not lets_run(options)
    assert options.changed.options[0].unsure == {True, False}


@pytest.mark.parametrize(
    ("value", "other", "runs"),
    [
        ("auto", "smart_approve", Unasked.ALL),  # goose
        ("auto", "yolo", Unasked.EDITS),  # qwen, where a model decides
        ("yolo", "default", Unasked.ALL),
        ("turbo", "default", Unasked.UNKNOWN),
    ],
)
def test_how_much_runs_unasked_is_known(value: str, other: str, runs: Unasked) -> None:
    options = set_by_user([replace(YOLO, options=(Offer(value), Offer(other)))], "mode", value)
    assert options.unasked is runs


@pytest.mark.parametrize("value", ["autoEdit", "auto-edit", "auto_edit", "AUTO-EDIT", "x#autoEdit"])
def test_ids_are_compared_without_case_and_signs(value: str) -> None:
    assert mode(value, "default").runs_unasked
    offers = (Offer("default"), Offer(value))
    options = set_by_user([replace(YOLO, options=offers)], "mode", value)
    assert options.unasked is Unasked.EDITS


CHANGED: Mapping[str, Callable[[ConfigOption], ConfigOption | None]] = {
    "another value": lambda it: replace(it, current_value="default"),
    "another name": lambda it: replace(it, name="Something else"),
    "another category": lambda it: replace(it, category="model"),
    "another name of the value": lambda it: replace(
        it, options=(Offer("default", "Ask me"), Offer("yolo", "Careful"))
    ),
    "a toggle": lambda it: replace(it, type="boolean", current_value=True, options=()),
    "gone": lambda _: None,
}


@pytest.mark.parametrize("change", CHANGED)
def test_a_choice_ends_when_the_agent_lists_something_else(change: str) -> None:
    """The same id and value may mean anything later; the user chose what he saw."""
    options = set_by_user([WEB, YOLO], "mode", "yolo")
    assert options.unasked is Unasked.ALL
    set_ = replace(YOLO, current_value="yolo")
    changed = CHANGED[change](set_)
    options.listed([WEB, *([] if changed is None else [changed])])
    assert not lets_run(options)
    options.listed([WEB, set_])
    assert not lets_run(options), "he did not set it again"


@pytest.mark.parametrize("category", ["permissions", "mode"])
def test_a_harmless_choice_never_becomes_one_that_does_not_ask(category: str) -> None:
    options = set_by_user([WEB, YOLO], "web", True)
    on = replace(WEB, category=category, current_value=True)
    for listed in (on, replace(on, id="web", name="Allow all"), replace(on, type="select")):
        options.listed([listed, YOLO])
        assert not lets_run(options)


def test_what_the_agent_refused_is_not_set_whatever_it_does_later() -> None:
    options = SessionOptions()
    options.opened(OpenedSession(modes=MODES, models=MODELS))
    options.user_sets("mode", "yolo")
    options.refused("mode")
    options.mode_changed("yolo")
    assert not lets_run(options)
    options.user_sets("mode", "yolo")
    options.was_set("mode", "yolo", None)
    assert options.unasked is Unasked.ALL
    options.mode_changed("default")
    options.mode_changed("yolo")
    assert not lets_run(options)


@pytest.mark.parametrize("agent", KEPT)
def test_every_value_of_a_known_agent_is_known_as_asking_or_not(agent: str) -> None:
    options = read_options(KEPT[agent])
    assert [it.id for it in options if it.category == "mode"] == ["mode"]
    for option in options:
        assert not option.unsure, option.id


def test_every_agent_that_can_be_tried_is_kept() -> None:
    assert {it.agent for it in PACKAGES} - {"example"} <= {*KEPT}


def test_options_without_a_category_have_been_looked_at() -> None:
    """Nothing but their ids tells what they decide."""
    found = {
        (agent, it.id) for agent in KEPT for it in read_options(KEPT[agent]) if not it.category
    }
    assert found == {("goose", "provider")}


def test_a_value_may_ask_nothing_only_beside_another_one() -> None:
    assert mode("agent", "agent-full-access").runs_unasked
    assert not mode("agent", "plan").runs_unasked


@pytest.mark.parametrize("value", ["turbo", "x#turbo", "Turbo"])
def test_a_mode_that_is_not_known_promises_nothing(value: str) -> None:
    option = mode(value, "default", "yolo", "PLAN", "s#read_only")
    assert option.unsure == {value}
    assert option.unasked == {"yolo": Unasked.ALL}


def test_what_decides_nothing_of_asking_is_never_unsure() -> None:
    beside = [ConfigOption(id=it, category=it, current_value="turbo") for it in BESIDE]
    new = ConfigOption(id="x", category="approval_policy", type="boolean", current_value=True)
    *known, unknown = SessionOptions().listed([*beside, new]).options
    assert all(not option.unsure for option in known)
    assert unknown.unsure == {True, False}


def test_a_mode_that_is_set_without_being_listed_is_judged_alike() -> None:
    options = SessionOptions()
    assert options.mode_changed("turbo").options[0].unsure == {"turbo"}
    options.opened(OpenedSession(modes=MODES))
    [option] = options.mode_changed("turbo").options
    assert option.unsure == {"turbo"}
    assert option.unasked == {"yolo": Unasked.ALL}
    [option] = options.mode_changed("default").options
    assert not option.unsure
    assert option.unasked == {"yolo": Unasked.ALL}
