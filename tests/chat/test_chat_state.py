"""What the agent says about a whole chat: status, usage, choices, cleared."""

from __future__ import annotations

from tests.chat.driver import ENDED, Driver, call, said, user

from eca_nvim.chat.handlers.reducer import apply, server_changed
from eca_nvim.chat.user_actions.approvals import set_trust
from eca_nvim.chat.user_actions.folding import redraw
from eca_nvim.chat.vocabulary.completion import Command, CommandsChanged
from eca_nvim.chat.vocabulary.events import (
    ChatCleared,
    ChatOpened,
    ProgressChanged,
    ReasoningText,
    TitleChanged,
    ToolRequested,
)
from eca_nvim.chat.vocabulary.ops import SetStatus, SetUsage
from eca_nvim.chat.vocabulary.options import (
    MODE,
    MODEL,
    THOUGHT_LEVEL,
    ChatOption,
    OptionOffer,
    OptionsChanged,
)
from eca_nvim.chat.vocabulary.turn_events import UsageCategory, UsageReported

OPTIONS = (
    ChatOption("m", "Model", category=MODEL, value="m"),
    ChatOption("a", "Mode", category=MODE, value="#code", offers=(OptionOffer("#code", "code"),)),
    ChatOption("v", "Effort", category=THOUGHT_LEVEL, value="high"),
)


def test_the_status_tells_what_is_known_and_only_changes() -> None:
    driver = Driver()
    driver.take(server_changed(driver.chat, "ready", 0))
    driver.hear(TitleChanged("  ## a\ntitle \x1b[1m"), OptionsChanged(OPTIONS))
    driver.take(set_trust(driver.chat, 0, trusted=True))
    driver.hear(UsageReported(34_000, 200_000, session_cost="0.09"), ChatOpened())
    assert driver.view.status == {
        "server": "ready",
        "server_name": "eca",
        "state": "idle",
        "title": "## a title",
        "model": "m",
        "agent": "code",
        "variant": "high",
        "trust": True,
        "pending": 0,
        "tokens": 34_000,
        "limit": 200_000,
        "cost": "0.09",
    }
    assert apply(driver.chat, OptionsChanged(OPTIONS), 0).ops == []


def test_one_event_draws_the_status_once() -> None:
    driver = Driver()
    driver.run()
    changes = apply(driver.chat, ToolRequested(call(), needs_approval=True), 0)
    assert sum(isinstance(op, SetStatus) for op in changes.ops) == 1


def test_a_cleared_chat_is_empty_and_goes_on() -> None:
    driver = Driver()
    driver.send("hello")
    driver.hear(ToolRequested(call(), needs_approval=True), ChatCleared(messages=False))
    assert driver.items
    driver.hear(ChatCleared())
    assert driver.view.lines == []
    assert driver.items == []
    driver.hear(user("hello\n"), *said("Hi"))
    assert driver.view.lines == ["hello", "Hi"]


def test_a_lost_buffer_is_drawn_anew() -> None:
    driver = Driver()
    driver.run()
    driver.hear(ReasoningText("r", "hm"), *said("Hi"), ToolRequested(call(), needs_approval=True))
    driver.send("later", queue=True)
    lines, status = driver.view.lines, driver.view.status
    driver.view.status = {}
    changes = driver.take(redraw(driver.chat, driver.now))
    assert driver.view.lines == lines
    assert driver.view.status == status
    assert changes.pending_changed


def test_usage_is_told_whole_and_what_is_not_known_is_absent() -> None:
    driver = Driver()
    conversation = UsageCategory("Conver\nsation", 7, "#98c379")
    usage = UsageReported(
        session_tokens=9,
        context_limit=100,
        session_cost="0.02",
        auto_compact_percentage=75,
        categories=(conversation, UsageCategory("Skills", 2)),
        free_tokens=91,
    )
    driver.hear(usage, UsageReported(session_tokens=3))
    told = [op.rows for op in driver.view.other if isinstance(op, SetUsage)]
    assert [rows[0] for rows in told] == [
        [("9 of 100 tokens", "EcaWinbarTitle")],
        [("3 tokens", "EcaWinbarTitle")],
    ]


def test_trying_again_is_told_until_something_else_happens_14() -> None:
    driver = Driver()
    driver.run()
    driver.hear(ProgressChanged("Retrying in 2s (attempt 1/10)", is_retry=True))
    assert driver.view.status["retrying"] is True
    driver.hear(ProgressChanged("Generating"))
    assert "retrying" not in driver.view.status
    driver.hear(ProgressChanged("Retrying", is_retry=True), ENDED)
    assert "retrying" not in driver.view.status


def test_a_cost_that_is_not_in_dollars_names_its_currency() -> None:
    driver = Driver()
    driver.hear(UsageReported(10, session_cost="0.09"))
    assert "currency" not in driver.view.status
    driver.hear(UsageReported(10, session_cost="0.09", currency="E\nUR"))
    assert (driver.view.status["cost"], driver.view.status["currency"]) == ("0.09", "E UR")
    usage = [op for op in driver.view.other if isinstance(op, SetUsage)][-1]
    assert usage.rows[-1][0][0] == "this chat 0.09 E UR"


def test_the_commands_of_an_agent_are_known_and_those_of_a_subagent_are_not_ours() -> None:
    driver = Driver()
    commands = (Command("memory show", "Shows what is kept"), Command("plan", hint="a goal"))
    driver.hear(CommandsChanged(commands))
    driver.hear(CommandsChanged(()), child="sub")
    assert driver.chat.commands == commands
    driver.hear(CommandsChanged(commands[:1]))
    assert [it.name for it in driver.chat.commands] == ["memory show"]


def test_how_long_a_server_has_been_starting_is_counted() -> None:
    driver = Driver()
    driver.take(server_changed(driver.chat, "starting", driver.now))
    driver.tick(3000)
    driver.take(server_changed(driver.chat, "starting", driver.now))
    assert driver.view.status["starting"] == 3000
    assert driver.take(server_changed(driver.chat, "ready", driver.now)).runs is False
    assert "starting" not in driver.view.status
