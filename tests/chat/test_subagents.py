"""Subagents: their blocks, approvals and ends inside the chat that spawned them."""

from __future__ import annotations

from tests.chat.driver import FINISHED, IDLE, RUNNING, Driver, call, said, user

from eca_nvim.chat.details import Subagent
from eca_nvim.chat.effects import TellApproval, TellRejection
from eca_nvim.chat.events import (
    Addressed,
    ChatDeleted,
    TitleChanged,
    ToolFinished,
    ToolPreparing,
    ToolRejected,
    ToolRequested,
    ToolRunning,
)
from eca_nvim.chat.markdown_export import transcript
from eca_nvim.chat.model import Chat
from eca_nvim.chat.routing import route

EXPLORER = Subagent("explorer", "sub", "mock", step=1, max_steps=5)
SPAWN = call("sp", "spawn_agent", details=EXPLORER, arguments={"agent": "explorer"})
READ = call("r", arguments={"path": "/workspace/a"})


def spawned() -> Driver:
    driver = Driver()
    driver.run()
    driver.hear(ToolRequested(SPAWN), ToolRunning(SPAWN))
    driver.hear(user("look"), RUNNING, child="sub")
    return driver


def test_its_blocks_follow_the_call_indented() -> None:
    driver = spawned()
    driver.hear(*said("Working"))
    driver.hear(ToolRunning(READ), *said("found"), child="sub")
    assert driver.view.lines == [
        "hello",
        "● agent explorer step 1/5",
        "  explorer · mock · step 1/5",
        "  look",
        "  ● read a",
        "  found",
        "Working",
    ]


def test_its_turn_and_title_are_not_the_chats() -> None:
    driver = spawned()
    driver.hear(TitleChanged("other"), ToolPreparing(READ), IDLE, FINISHED, child="sub")
    assert driver.state == "running"
    assert "title" not in driver.view.status
    assert "  ⊘ read a stopped" in driver.view.lines
    driver.hear(ChatDeleted(), child="sub")
    assert not driver.chat.deleted


def test_its_approval_is_shown_here_and_answered_there() -> None:
    driver = spawned()
    driver.hear(ToolRequested(READ, needs_approval=True), child="sub")
    item = driver.items[0]
    assert (item["chat"], item["id"], item["agent"]) == ("chat", "r", "explorer")
    driver.approve("r")
    assert driver.told(TellApproval) == [TellApproval("sub", "r", remember=False)]


def test_its_rejected_call_does_not_end_the_turn_6() -> None:
    driver = spawned()
    driver.hear(ToolRequested(READ, needs_approval=True), child="sub")
    driver.reject("r")
    assert driver.told(TellRejection) == [TellRejection("sub", "r")]
    driver.hear(ToolRejected(READ), *said("so be it"), child="sub")
    driver.hear(ToolFinished(SPAWN, ("result",)), IDLE, FINISHED)
    assert driver.ends == ["done"]


def test_a_finished_subagent_collapses_with_all_its_blocks() -> None:
    driver = spawned()
    driver.hear(*said("found"), child="sub")
    driver.hear(ToolFinished(SPAWN, ("result",), total_ms=1100))
    assert driver.view.lines == ["hello", "✓ agent explorer  1s"]
    driver.hear(*said(" more"), ToolPreparing(READ), child="sub")
    assert driver.view.lines == ["hello", "✓ agent explorer  1s"]
    driver.toggle(2)
    assert driver.view.lines[-3:] == ["  look", "  found more", "  … read a"]
    driver.toggle(2)
    assert driver.view.lines == ["hello", "✓ agent explorer  1s"]
    assert "found more" in transcript(driver.chat, 0)


def test_a_waiting_call_opens_the_subagent() -> None:
    driver = spawned()
    driver.hear(ToolFinished(SPAWN))
    driver.hear(ToolRequested(READ, needs_approval=True), child="sub")
    assert "  ? read a waiting" in driver.view.lines


def test_blocks_that_come_before_their_call_are_kept() -> None:
    driver = Driver()
    driver.run()
    driver.hear(*said("early"), child="sub")
    driver.hear(ToolRequested(SPAWN))
    driver.hear(*said(" bird"), child="sub")
    assert driver.view.lines[1] == "  early bird"
    driver.hear(ToolFinished(SPAWN))
    assert driver.view.lines == ["hello", "✓ agent explorer"]


def test_a_subagent_of_a_subagent_is_shown_one_level_deep() -> None:
    driver = spawned()
    inner = call("in", "spawn_agent", details=Subagent("inner", "subsub"))
    driver.hear(ToolRequested(inner), child="sub")
    driver.hear(*said("deep"), child="subsub")
    assert driver.view.lines[-1] == "  deep"


def test_events_find_the_chat_that_shows_them() -> None:
    driver = spawned()
    chats = {"chat": driver.chat, "other": Chat("other")}
    assert route(chats, Addressed("chat", IDLE)) == ("chat", None)
    assert route(chats, Addressed("sub", IDLE)) == ("chat", "sub")
    assert route(chats, Addressed("sub", IDLE, "chat")) == ("chat", "sub")
    assert route(chats, Addressed("subsub", IDLE, "sub")) == ("chat", "subsub")
    assert route(chats, Addressed("new", IDLE)) == ("new", None)
    assert route(chats, Addressed(None, IDLE)) == (None, None)
