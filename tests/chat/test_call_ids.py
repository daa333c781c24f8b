"""Calls with the same id: in two lanes, in sequence, at once; and late messages about a call."""

from __future__ import annotations

from tests.chat.driver import ENDED, Driver, call

from eca_nvim.chat.user_actions.approvals import is_still_approved
from eca_nvim.chat.vocabulary.call_details import Subagent, ToolCall
from eca_nvim.chat.vocabulary.effects import Decision
from eca_nvim.chat.vocabulary.events import (
    ToolFinished,
    ToolPreparing,
    ToolRejected,
    ToolRequested,
    ToolRunning,
)
from eca_nvim.chat.vocabulary.requests import ALLOW


def shell(command: str, call_id: str = "t1") -> ToolCall:
    return call(call_id, "shell_command", arguments={"command": command})


def wants(command: str) -> ToolRequested:
    return ToolRequested(shell(command), needs_approval=True)


def titles(driver: Driver) -> list[object]:
    return [item["title"] for item in driver.items]


def answers(driver: Driver) -> list[tuple[str, str]]:
    """Return the chat of each answer, and what it is."""
    return [(chat, "yes" if choice == ALLOW.id else "no") for chat, _, choice in driver.decided]


def both_lanes() -> Driver:
    """Let a call wait in the chat and one with the same id in its subagent."""
    driver = Driver()
    driver.run()
    driver.hear(ToolRunning(call("s", "spawn_agent", details=Subagent("explorer", "child"))))
    driver.hear(wants("rm -rf /"))
    driver.hear(wants("echo safe"), child="child")
    return driver


def item_of(driver: Driver, title: str) -> tuple[int, str]:
    (item,) = [item for item in driver.items if item["title"] == title]
    block, digest = item["block"], item["digest"]
    assert isinstance(block, int)
    assert isinstance(digest, str)
    return block, digest


def test_of_two_lanes_with_one_id_just_the_one_is_answered() -> None:
    driver = both_lanes()
    assert len({item["id"] for item in driver.items}) == 2
    driver.approve_shown(item_of(driver, "$ echo safe"))
    assert answers(driver) == [("child", "yes")]
    assert titles(driver) == ["$ rm -rf /"]
    driver.reject_shown(item_of(driver, "$ rm -rf /"))
    assert answers(driver) == [("child", "yes"), ("chat", "no")]
    assert driver.items == []


def test_what_one_lane_tells_changes_nothing_in_the_other() -> None:
    driver = both_lanes()
    driver.hear(ToolFinished(shell("echo safe")), child="child")
    assert titles(driver) == ["$ rm -rf /"]


def test_an_id_that_is_asked_for_again_is_another_call() -> None:
    driver = Driver()
    driver.run()
    for command in ("make one", "make two"):
        driver.hear(ToolPreparing(shell(command)), wants(command))
        assert titles(driver) == [f"$ {command}"]
        driver.approve("t1")
        driver.hear(ToolRunning(shell(command)), ToolFinished(shell(command), total_ms=5))
    assert driver.view.lines[1:] == ["✓ $ make one", "✓ $ make two"]
    assert answers(driver) == [("chat", "yes")] * 2


def test_what_was_done_is_told_as_it_was() -> None:
    driver = Driver()
    driver.run()
    driver.hear(wants("make"))
    driver.approve("t1")
    driver.hear(ToolFinished(shell("make")), ENDED)
    driver.run("again")
    driver.hear(wants("rm -rf ~"))
    assert driver.view.lines[1] == "✓ $ make"
    assert titles(driver) == ["$ rm -rf ~"]
    driver.hear(ENDED)
    assert driver.view.lines[1] == "✓ $ make"
    assert driver.view.lines[-1] == "⊘ $ rm -rf ~ stopped"


def test_what_is_told_of_an_ended_call_makes_no_ghost() -> None:
    driver = Driver()
    driver.run()
    driver.hear(wants("make"))
    driver.approve("t1")
    driver.hear(ToolFinished(shell("make"), ("fine",), total_ms=5))
    before = driver.view.lines
    other = shell("rm -rf ~")
    driver.hear(ToolRunning(other), ToolFinished(other, ("bad",), failed=True), ToolRejected(other))
    driver.hear(ENDED, ToolPreparing(other, "{"))
    assert driver.view.lines == before
    assert driver.chat.live == {}


def test_a_repeated_request_asks_once() -> None:
    driver = Driver()
    driver.run()
    driver.hear(wants("make"), wants("make"))
    assert len(driver.items) == 1
    driver.approve("t1")
    driver.hear(wants("make"), ToolRunning(shell("make")), wants("make"))
    assert driver.items == []
    assert driver.view.lines[1:] == ["● $ make", "  $ make"]


def test_of_two_calls_at_once_with_one_id_the_end_is_of_the_one_that_runs() -> None:
    driver = Driver()
    driver.run()
    driver.hear(ToolRequested(shell("echo safe")), ToolRunning(shell("echo safe")))
    driver.hear(wants("rm -rf ~"))
    driver.hear(ToolFinished(shell("echo safe"), total_ms=5))
    assert titles(driver) == ["$ rm -rf ~"]
    assert driver.view.lines[1] == "✓ $ echo safe"
    driver.reject("t1")
    driver.hear(ToolRejected(shell("rm -rf ~")))
    assert driver.view.lines[-1] == "⊘ $ rm -rf ~ rejected"


def test_of_two_calls_at_once_with_one_id_the_one_with_the_arguments_runs() -> None:
    driver = Driver()
    driver.run()
    driver.hear(ToolRequested(shell("echo safe")), ToolRunning(shell("echo safe")))
    driver.hear(wants("rm -rf ~"), ToolRunning(shell("rm -rf ~")))
    assert driver.items == []
    assert driver.view.lines[1:] == ["● $ echo safe", "● $ rm -rf ~", "  $ rm -rf ~"]
    driver.hear(ToolFinished(shell("echo safe"), total_ms=5))
    assert driver.view.lines[1:3] == ["✓ $ echo safe", "● $ rm -rf ~"]


def test_what_was_let_is_no_other_call_by_the_time_it_is_told() -> None:
    """Only a tree keeps an approval back; see the session for that."""
    driver = Driver()
    driver.run()
    driver.hear(wants("echo safe"))
    driver.approve("t1")
    driver.hear(wants("rm -rf ~"))
    (told,) = driver.told(Decision)
    assert not is_still_approved(driver.chat, told)
    assert titles(driver) == ["$ rm -rf ~"]
