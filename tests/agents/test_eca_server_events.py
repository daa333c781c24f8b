"""What a server says about itself: partial updates stay partial."""

from collections.abc import Sequence
from typing import Any

import pytest
from msgspec import Struct
from tests.support.screen import Value

from eca_nvim.agents.eca.chat_options import ChatOptions
from eca_nvim.agents.eca.inbox import Inbox
from eca_nvim.agents.eca.introduction import Readiness
from eca_nvim.agents.eca.login import EcaProviders, ProviderLogins
from eca_nvim.agents.eca.older.chat_ids import ChatIds
from eca_nvim.agents.eca.older.dialect import Dialect
from eca_nvim.agents.eca.older.forms import read_notification
from eca_nvim.agents.eca.prompts import Mentions, Selection
from eca_nvim.agents.eca.replay import Replays
from eca_nvim.agents.eca.tool_servers import EcaToolServers
from eca_nvim.agents.eca.turns import Turns
from eca_nvim.chat.vocabulary.agent_events import (
    AgentEvent,
    JobsChanged,
    MessageShown,
    TrustWanted,
    Welcomed,
    WorkChanged,
)
from eca_nvim.chat.vocabulary.events import Addressed
from eca_nvim.chat.vocabulary.options import OptionsChanged
from eca_nvim.chat.vocabulary.turn_events import Job, JobState
from eca_nvim.protocol.eca.chat import ConfigUpdated
from eca_nvim.protocol.eca.code import RewriteContentReceived, RewriteReplace
from eca_nvim.protocol.eca.lifecycle import ShowMessage, TaskProgress
from eca_nvim.protocol.eca.tools import JobsUpdated


def heard(message: object) -> AgentEvent:
    """Read a message that is about the server as a whole."""
    [event] = read(message)
    return event


def read(message: object) -> Sequence[AgentEvent]:
    """Read a message."""
    ids, turns, nothing = ChatIds(), Turns(), Dialect()
    options = ChatOptions(ids, turns, nothing)
    server: Any = None
    providers = EcaProviders(server, lambda _: None)
    logins = ProviderLogins(providers), EcaToolServers(server, lambda _: None, (), {})
    return Inbox(turns, options, Mentions(), Replays(), Readiness(), *logins).read(message)


CHAT = "our-1"


class Choices(Struct):
    """What a chat has after announcements, and what else was said."""

    selected: Selection
    offers: dict[str, list[str]]
    said: list[AgentEvent]


def choices(*announced: Value, chat_id: str | None = None) -> Choices:
    """Read config/updated for an open chat, one after the other; the last may be of one chat."""
    options = ChatOptions(ChatIds(), Turns(), Dialect())
    [listed] = options.open_chat(CHAT)
    said: list[AgentEvent] = []
    for number, chat in enumerate(announced, 1):
        of_chat = chat_id if number == len(announced) else None
        update = read_notification("config/updated", {"chatId": of_chat, "chat": chat})
        assert isinstance(update, ConfigUpdated)
        said = [*options.announce(update)]
        listed = next((it for it in said if isinstance(it, Addressed)), listed)
    assert isinstance(listed, Addressed)
    assert isinstance(listed.event, OptionsChanged)
    offers = {it.id: [offer.value for offer in it.offers] for it in listed.event.options}
    return Choices(options.selection(CHAT), offers, [it for it in said if it is not listed])


ALL = {
    "models": ["m", "n"],
    "agents": ["code"],
    "variants": ["high"],
    "selectModel": "m",
    "selectAgent": "code",
    "selectVariant": "high",
    "selectTrust": True,
    "welcomeMessage": "Hi",
}
OFFERS = {"model": ["m", "n"], "agent": ["code"], "variant": ["", "high"]}


def test_all_choices() -> None:
    every = choices(ALL)
    assert (every.selected, every.offers) == (Selection("m", "code", "high"), OFFERS)
    assert every.said == [Welcomed("Hi"), TrustWanted(True)]


def test_what_is_left_out_or_null_stays_as_it_was_but_a_null_takes_a_variant_away() -> None:
    nulls = {"selectModel": None, "selectAgent": None, "selectTrust": None, "models": None}
    for chat in ({}, nulls):
        after = choices(ALL, chat)
        assert (after.selected, after.offers, after.said) == (
            Selection("m", "code", "high"),
            OFFERS,
            [],
        )
    assert choices(ALL, {"selectVariant": None}).selected == Selection("m", "code", "")


def test_an_empty_list_means_that_there_is_nothing_to_choose() -> None:
    after = choices(ALL, {"models": [], "agents": []})
    assert (after.offers["model"], after.offers["agent"]) == ([], [])


def test_the_choices_of_one_chat_are_its_own_and_its_trust_only_repeats_the_users() -> None:
    mine = {"selectModel": "n", "selectTrust": True}
    assert choices(ALL, mine, chat_id=CHAT).selected.model == "n"
    assert choices(ALL, mine, chat_id=CHAT).said == []
    assert choices(ALL, mine, chat_id="other").selected.model == "m"


def test_older_names_are_read() -> None:
    after = choices({"behaviors": ["plan"], "selectBehavior": "plan"})
    assert (after.selected.agent, after.offers["agent"]) == ("plan", ["plan"])


def test_a_default_counts_where_nothing_is_selected() -> None:
    chat = {"defaultModel": "m", "defaultAgent": "code"}
    assert choices(chat).selected == Selection("m", "code", "")
    assert choices({**chat, "selectModel": "n"}).selected == Selection("n", "code", "")


@pytest.mark.parametrize(
    ("said", "ours"),
    [
        ({"type": "start", "taskId": "t", "title": "T"}, WorkChanged("t", "T", done=False)),
        ({"type": "finish", "taskId": "t"}, WorkChanged("t", "t", done=True)),
    ],
)
def test_work_begins_and_ends(said: Value, ours: WorkChanged) -> None:
    progress = read_notification("$/progress", said)
    assert isinstance(progress, TaskProgress)
    assert heard(progress) == ours


@pytest.mark.parametrize(
    ("kind", "level"),
    [("error", "error"), ("warning", "warn"), ("info", "info"), ("fanfare", "info")],
)
def test_messages_have_our_levels(kind: str, level: str) -> None:
    shown = read_notification("$/showMessage", {"type": kind, "message": "M"})
    assert isinstance(shown, ShowMessage)
    assert heard(shown) == MessageShown(level, "M")


def test_jobs_are_those_whose_state_is_known() -> None:
    jobs = [
        {"id": "job-1", "label": "make", "status": "failed", "exitCode": 3, "toolCallId": "t1"},
        {"id": "job-2", "summary": "later", "status": "running", "chatId": "ours"},
        {"id": "job-3", "status": "dreaming"},
    ]
    update = read_notification("jobs/updated", {"jobs": jobs})
    assert isinstance(update, JobsUpdated)
    assert heard(update) == JobsChanged(
        (
            Job("make", JobState.FAILED, 3, None, "t1", "job-1"),
            Job("later", JobState.RUNNING, None, "ours", id="job-2"),
        )
    )


@pytest.mark.parametrize(("rewrite", "count"), [("aside-1", 1), ("our-1", 0), ("", 0)])
def test_a_rewrite_says_nothing_in_a_chat(rewrite: str, count: int) -> None:
    said = RewriteContentReceived(rewrite_id=rewrite, content=RewriteReplace(text="all"))
    assert len(read(said)) == count
