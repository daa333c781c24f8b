"""What a server says about itself: partial updates stay partial."""

from typing import Any

import pytest
from tests.support.screen import Value

from eca_nvim.agents.eca import inbox
from eca_nvim.agents.eca.chat_ids import ChatIds
from eca_nvim.agents.eca.chat_options import Announced, ChatOptions
from eca_nvim.agents.eca.dialect import Dialect
from eca_nvim.agents.eca.inbox import Inbox
from eca_nvim.agents.eca.introduction import Readiness
from eca_nvim.agents.eca.login import ProviderLogins, ToolServerLogins
from eca_nvim.agents.eca.older.forms import read_notification
from eca_nvim.agents.eca.prompts import Mentions
from eca_nvim.agents.eca.replay import Replays
from eca_nvim.agents.eca.turns import Turns
from eca_nvim.chat.vocabulary.agent_events import (
    AgentEvent,
    JobsChanged,
    MessageShown,
    ToolServerChanged,
    WorkChanged,
)
from eca_nvim.chat.vocabulary.turn_events import Job, JobState
from eca_nvim.protocol.eca import decode_notification
from eca_nvim.protocol.eca.chat import ConfigUpdated
from eca_nvim.protocol.eca.lifecycle import ShowMessage, TaskProgress
from eca_nvim.protocol.eca.tools import JobsUpdated, ToolServerUpdated


def heard(message: object) -> AgentEvent:
    """Read a message that is about the server as a whole."""
    ids, turns, nothing = ChatIds(), Turns(), Dialect()
    options = ChatOptions(ids, turns, nothing)
    server: Any = None
    logins = ProviderLogins(server), ToolServerLogins(server)
    [event] = Inbox(turns, options, Mentions(), Replays(), Readiness(), *logins).read(message)
    return event


def choices(chat: Value, chat_id: str | None = None) -> Announced:
    """Read a config/updated."""
    update = read_notification("config/updated", {"chatId": chat_id, "chat": chat})
    assert isinstance(update, ConfigUpdated)
    return inbox.changed_choices(update)


def test_what_is_left_out_stays_as_it_was() -> None:
    assert choices({}) == Announced()
    assert choices({"models": ["a"]}) == Announced(models=("a",))


def test_a_null_stays_as_it_was_but_takes_a_variant_away() -> None:
    nulls = {"selectModel": None, "selectAgent": None, "selectTrust": None, "models": None}
    assert choices(nulls) == Announced()
    assert choices({"selectVariant": None}) == Announced(variant="")


def test_an_empty_list_means_that_there_is_nothing_to_choose() -> None:
    assert choices({"variants": [], "models": []}) == Announced(variants=(), models=())


def test_all_of_a_chats_choices() -> None:
    chat = {
        "models": ["m"],
        "agents": ["code"],
        "variants": ["high"],
        "selectModel": "m",
        "selectAgent": "code",
        "selectVariant": "high",
        "selectTrust": True,
        "welcomeMessage": "Hi",
    }
    assert choices(chat, "our-1") == Announced(
        models=("m",),
        agents=("code",),
        variants=("high",),
        model="m",
        agent="code",
        variant="high",
        welcome="Hi",
        chat_id="our-1",
    )


def test_a_server_can_want_trust_for_all_chats_only() -> None:
    assert choices({"selectTrust": True}) == Announced(wants_trust=True)
    assert choices({"selectTrust": False}) == Announced(wants_trust=False)
    assert choices({"selectTrust": True}, "our-1") == Announced(chat_id="our-1")


def test_older_names_are_read() -> None:
    chat = {"behaviors": ["plan"], "selectBehavior": "plan"}
    assert choices(chat) == Announced(agents=("plan",), agent="plan", forced=("agent",))


def test_a_default_counts_where_nothing_is_selected() -> None:
    chat = {"defaultModel": "m", "defaultAgent": "code"}
    assert choices(chat) == Announced(model="m", agent="code")
    selected = Announced(model="n", agent="code", forced=("model",))
    assert choices({**chat, "selectModel": "n"}) == selected


@pytest.mark.parametrize(
    ("said", "ours"),
    [
        (
            {"name": "s", "type": "mcp", "status": "running", "tools": [{"name": "echo"}]},
            ToolServerChanged("s", "running", "mcp", ("echo",)),
        ),
        ({"name": "s", "status": "stopped"}, ToolServerChanged("s", "stopped")),
        ({"name": "s", "status": None, "tools": None}, ToolServerChanged("s")),
        ({"name": "s", "tools": []}, ToolServerChanged("s", tools=())),
    ],
)
def test_a_tool_server_changes_in_part(said: Value, ours: ToolServerChanged) -> None:
    update = decode_notification("tool/serverUpdated", said)
    assert isinstance(update, ToolServerUpdated)
    assert heard(update) == ours


@pytest.mark.parametrize(
    ("said", "ours"),
    [
        ({"type": "start", "taskId": "t", "title": "T"}, WorkChanged("t", "T", done=False)),
        ({"type": "finish", "taskId": "t"}, WorkChanged("t", "t", done=True)),
    ],
)
def test_work_begins_and_ends(said: Value, ours: WorkChanged) -> None:
    progress = decode_notification("$/progress", said)
    assert isinstance(progress, TaskProgress)
    assert heard(progress) == ours


@pytest.mark.parametrize(
    ("kind", "level"),
    [("error", "error"), ("warning", "warn"), ("info", "info"), ("fanfare", "info")],
)
def test_messages_have_our_levels(kind: str, level: str) -> None:
    shown = decode_notification("$/showMessage", {"type": kind, "message": "M"})
    assert isinstance(shown, ShowMessage)
    assert heard(shown) == MessageShown(level, "M")


def test_jobs_are_those_whose_state_is_known() -> None:
    jobs = [
        {"id": "job-1", "label": "make", "status": "failed", "exitCode": 3, "toolCallId": "t1"},
        {"id": "job-2", "summary": "later", "status": "running", "chatId": "ours"},
        {"id": "job-3", "status": "dreaming"},
    ]
    update = decode_notification("jobs/updated", {"jobs": jobs})
    assert isinstance(update, JobsUpdated)
    assert heard(update) == JobsChanged(
        (
            Job("make", JobState.FAILED, 3, None, "t1"),
            Job("later", JobState.RUNNING, None, "ours"),
        )
    )
