"""The agent's task list: one block, one line, always the newest."""

from __future__ import annotations

from tests.chat.driver import ENDED, Driver, call, said
from tests.chat.view import View
from tests.support.calls import eca_call

from eca_nvim.chat.handlers import reducer
from eca_nvim.chat.user_actions.earlier_messages import (
    Page,
    show_above,
    show_history,
    show_older,
)
from eca_nvim.chat.user_actions.folding import redraw
from eca_nvim.chat.vocabulary.call_details import Task, TaskList, TaskStatus
from eca_nvim.chat.vocabulary.events import (
    Addressed,
    ChatCleared,
    ChatEvent,
    PlanChanged,
    ToolFinished,
    ToolRunning,
)
from eca_nvim.chat.vocabulary.ops import BlockKind, SetTaskList


def told(call_id: str, done: int, doing: str | None = None) -> ToolFinished:
    """Let the agent tell a plan of two tasks, `done` of them done."""
    return ToolFinished(call(call_id, "task", details=two_tasks(done, doing)))


def two_tasks(done: int, doing: str | None = None) -> TaskList:
    current = TaskStatus.IN_PROGRESS if doing else TaskStatus.PENDING
    states = [TaskStatus.DONE] * done + [current, TaskStatus.PENDING]
    tasks = (Task(str(number), f"Step {number}", it) for number, it in enumerate(states[:2], 1))
    return TaskList(tuple(tasks), doing)


def plans(driver: Driver) -> list[object]:
    return [op.plan for op in driver.view.other if isinstance(op, SetTaskList)]


def test_a_new_telling_takes_the_place_of_the_one_before() -> None:
    driver = Driver()
    driver.run()
    driver.hear(told("a", 0), *said("I begin."), told("b", 0, "Stepping"))
    assert driver.view.lines == [
        "hello",
        "I begin.",
        "▢ tasks 0/2 · Stepping",
        "  ◐ 1. Step 1",
        "  ▢ 2. Step 2",
    ]
    assert plans(driver) == [
        {"block": 2, "done": 0, "total": 2, "doing": ""},
        {"block": 4, "done": 0, "total": 2, "doing": "Stepping"},
    ]
    assert driver.view.blocks[-1].kind is BlockKind.TASKS


def test_calls_between_which_a_plan_was_are_neighbours_again() -> None:
    driver = Driver()
    driver.run()
    for key, done in (("a", 0), ("b", 1), ("c", 2)):
        read = call(f"read {key}", "read_file", arguments={"path": f"/workspace/{key}"})
        driver.hear(told(key, done), ToolFinished(read, (), False, 100))
    assert driver.view.lines == ["hello", "✓ read a, b", "✓ tasks 2/2", "✓ read c  0.1s"]


def test_a_plan_that_is_done_collapses() -> None:
    driver = Driver()
    driver.run()
    driver.hear(told("a", 0), told("b", 2))
    assert driver.view.lines == ["hello", "✓ tasks 2/2"]


def test_what_the_user_collapsed_stays_so() -> None:
    driver = Driver()
    driver.run()
    driver.hear(told("a", 0))
    driver.toggle(2)
    driver.hear(told("b", 1))
    assert driver.view.lines == ["hello", "▢ tasks 1/2"]


def test_a_plan_that_is_put_away_leaves_its_last_block() -> None:
    driver = Driver()
    driver.run()
    driver.hear(told("a", 2))
    driver.hear(ToolFinished(eca_call("", "task", details=TaskList(()))))
    assert plans(driver)[-1] is None
    assert driver.view.lines == ["hello", "✓ tasks 2/2"]
    driver.hear(told("b", 0))
    assert driver.view.lines[:3] == ["hello", "✓ tasks 2/2", "▢ tasks 0/2"]


def test_a_plan_that_is_cleared_says_so() -> None:
    driver = Driver()
    driver.run()
    driver.hear(told("a", 1), ToolFinished(call("b", "task", details=TaskList(()))))
    assert driver.view.lines == ["hello", "▢ tasks 1/2", "✓ tasks cleared"]
    assert plans(driver)[-1] is None


def test_a_plan_goes_with_the_chat() -> None:
    driver = Driver()
    driver.run()
    driver.hear(told("a", 1), ChatCleared())
    assert plans(driver)[-1] is None


def test_a_plan_goes_with_the_agent_that_told_it() -> None:
    driver = Driver()
    driver.take(reducer.server_changed(driver.chat, "ready", 0))
    driver.run()
    driver.hear(told("a", 1, "Stepping"))
    driver.take(reducer.server_changed(driver.chat, "failed", 0))
    assert plans(driver)[-1] is None
    assert driver.view.lines[:2] == ["hello", "▢ tasks 1/2 · Stepping"]
    driver.take(reducer.server_changed(driver.chat, "starting", 0))
    assert len(plans(driver)) == 2


def test_a_plan_goes_with_the_next_turn_that_does_not_speak_of_it() -> None:
    driver = Driver()
    driver.run()
    driver.hear(told("a", 1, "Stepping"), ENDED)
    driver.run()
    driver.hear(told("b", 1, "Stepping"), ENDED)
    assert None not in plans(driver)
    driver.run()
    driver.hear(*said("Something else."))
    assert None not in plans(driver)
    driver.hear(ENDED)
    assert plans(driver)[-1] is None
    driver.run()
    driver.hear(ENDED)
    assert plans(driver).count(None) == 1


def test_late_words_on_a_telling_that_was_replaced_do_no_harm() -> None:
    driver = Driver()
    driver.run()
    driver.hear(told("a", 0), told("b", 0), ToolRunning(call("a", "task")))
    assert driver.view.lines[-1] == "● tasks"


def test_a_subagents_plan_is_a_call_like_any_other() -> None:
    driver = Driver()
    driver.run()
    driver.hear(told("a", 0), child="sub")
    assert plans(driver) == []


def test_a_failed_call_tells_no_plan() -> None:
    driver = Driver()
    driver.run()
    driver.hear(ToolFinished(call("a", "task", details=TaskList(())), ("bad",), failed=True))
    assert plans(driver) == []


def test_a_buffer_that_lost_its_text_hears_of_the_plan_again() -> None:
    driver = Driver()
    driver.run()
    driver.hear(told("a", 1))
    driver.chat.shown_status = None
    ops = redraw(driver.chat, driver.now).ops
    assert [op.plan for op in ops if isinstance(op, SetTaskList)] == plans(driver)


def test_a_plan_without_a_call_has_a_block_of_its_own_that_moves() -> None:
    driver = Driver()
    driver.run()
    driver.hear(PlanChanged(two_tasks(0)), *said("I begin."))
    assert driver.view.lines[1:] == ["▢ tasks 0/2", "  ▢ 1. Step 1", "  ▢ 2. Step 2", "I begin."]
    driver.hear(PlanChanged(two_tasks(0, "Stepping")))
    assert driver.view.lines == [
        "hello",
        "I begin.",
        "▢ tasks 0/2 · Stepping",
        "  ◐ 1. Step 1",
        "  ▢ 2. Step 2",
    ]
    assert driver.view.blocks[-1].kind is BlockKind.TASKS
    assert plans(driver)[-1] == {"block": 4, "done": 0, "total": 2, "doing": "Stepping"}
    driver.hear(PlanChanged(two_tasks(2)))
    assert driver.view.lines == ["hello", "I begin.", "✓ tasks 2/2"]
    driver.hear(PlanChanged(TaskList(())))
    assert driver.view.lines == ["hello", "I begin.", "✓ tasks 2/2"]
    assert plans(driver)[-1] is None


def test_a_plan_without_a_call_keeps_the_fold_and_ends_with_its_turn() -> None:
    driver = Driver()
    driver.run()
    driver.hear(PlanChanged(two_tasks(0)))
    driver.toggle(2)
    driver.hear(PlanChanged(two_tasks(1)), ENDED)
    assert driver.view.lines == ["hello", "▢ tasks 1/2"]
    assert plans(driver)[-1] is not None
    driver.run()
    driver.hear(ENDED)
    assert plans(driver)[-1] is None


def test_a_subagents_plan_without_a_call_is_not_shown() -> None:
    driver = Driver()
    driver.run()
    driver.hear(PlanChanged(two_tasks(0)), child="sub")
    assert driver.view.lines == ["hello"]
    assert plans(driver) == []


def test_a_list_in_older_messages_does_not_replace_the_present_one() -> None:
    past: list[ChatEvent] = [told("a", 0), *said("I began."), PlanChanged(two_tasks(0))]
    history = Page([Addressed("chat", it) for it in past])
    for show in show_older, show_above:
        driver = Driver()
        driver.take(show_history(driver.chat, Page(older="c1"), driver.now))
        driver.run()
        driver.hear(told("b", 1), *said("I go on."))
        if show is show_above:
            driver.view = View()  # all of it is drawn again
        driver.take(show(driver.chat, history, driver.now))
        tasks = ["▢ tasks 1/2", "  ✓ 1. Step 1", "  ▢ 2. Step 2"]
        shown = [line for line in driver.view.lines if not line.startswith("▴")]
        assert shown == ["I began.", "hello", *tasks, "I go on."]
        driver.hear(told("c", 2))
        assert driver.view.lines[-2:] == ["I go on.", "✓ tasks 2/2"]
