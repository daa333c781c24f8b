"""A request that changes while it waits is shown again, and refuses older answers."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from itertools import chain
from pathlib import Path

import pytest
from tests.chat.driver import Driver, all_pending, call, said
from tests.chat.test_call_ids import shell, wants
from tests.support.told import TellAnswer

from eca_nvim import chat
from eca_nvim.chat.handlers.call_steps import CHANGED, CHANGED_TYPED
from eca_nvim.chat.handlers.reducer import apply
from eca_nvim.chat.model.chat import Chat
from eca_nvim.chat.vocabulary.call_details import FileChange, Subagent, ToolCall
from eca_nvim.chat.vocabulary.events import (
    ChatEvent,
    QuestionAsked,
    ToolFinished,
    ToolPreparing,
    ToolRequested,
    ToolRunning,
)
from eca_nvim.chat.vocabulary.ops import Notify, SetInput
from eca_nvim.chat.vocabulary.requests import DiskReport, Request

HUNK = "@@ -1,60 +1,60 @@\n" + "\n".join(f"+line {number}" for number in range(60))


def edit(diff: str) -> ToolCall:
    return call("t1", "edit_file", details=FileChange("/workspace/a", diff, 60, 0))


def waiting(event: ToolRequested) -> Driver:
    driver = Driver()
    driver.run()
    driver.hear(event)
    return driver


def asks_to(name: str, arguments: Mapping[str, object], **fields: object) -> ToolRequested:
    return ToolRequested(call("t1", name, arguments=arguments, **fields), needs_approval=True)


def test_nothing_is_kept_that_was_derived_from_other_arguments() -> None:
    """Else the diff of one call would be shown for the text of another."""
    safe, evil = ({"path": "/workspace/a", "content": text} for text in ("safe", "evil"))
    change = FileChange("/workspace/a", "@@ -0,0 +1 @@\n+safe\n", 1, 0)
    driver = waiting(asks_to("write_file", safe, details=change, summary="Writing"))
    assert driver.items[0]["language"] == "diff"
    driver.hear(asks_to("write_file", evil))
    assert driver.items[0]["detail"] == "path: /workspace/a\ncontent: evil"


def test_values_that_only_python_takes_for_equal_are_others() -> None:
    driver = waiting(asks_to("delete", {"all": 1}))
    driver.hear(asks_to("delete", {"all": True}))
    assert driver.items[0]["detail"] == "all: true"


def test_a_call_that_changes_is_asked_for_again() -> None:
    driver = waiting(wants("echo safe"))
    (before,) = driver.items
    changes = driver.take(apply(driver.chat, wants("rm -rf ~"), driver.now))
    assert changes.pending_changed
    (item,) = driver.items
    assert item["title"] == "$ rm -rf ~"
    assert item["id"] == before["id"]
    assert item["digest"] != before["digest"]
    told = driver.view.fired("EcaApprovalRequested")
    assert [(data["id"], data["title"]) for data in told] == [
        (item["id"], "$ echo safe"),
        (item["id"], "$ rm -rf ~"),
    ]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (wants("echo safe"), wants("echo safe ")),
        (wants("x" * 60_000 + "a"), wants("x" * 60_000 + "b")),
        (
            ToolRequested(edit(HUNK), needs_approval=True),
            ToolRequested(edit(HUNK.replace("59", "0")), needs_approval=True),
        ),
    ],
    ids=["blank", "beyond what is shown", "beyond the lines of a diff"],
)
def test_an_answer_to_what_was_shown_before_is_not_sent(
    before: ToolRequested, after: ToolRequested
) -> None:
    driver = waiting(before)
    shown = driver.shown("t1")
    driver.hear(after)
    driver.approve_shown(shown)
    driver.reject_shown(shown)
    assert driver.decided == []
    assert driver.decided == []
    assert driver.view.other[-2:] == [Notify("warn", CHANGED)] * 2
    assert driver.state == "waiting"
    driver.approve("t1")
    assert len(driver.decided) == 1


def test_what_was_typed_for_another_request_comes_back() -> None:
    driver = waiting(wants("echo safe"))
    shown = driver.shown("t1")
    driver.hear(wants("rm -rf ~"))
    driver.reject_shown(shown, "use rg\x07")
    assert driver.view.other[-2:] == [
        SetInput("chat", "use rg␇"),
        Notify("warn", CHANGED_TYPED),
    ]
    assert driver.decided == []


def test_what_comes_back_to_what_it_was_has_to_be_seen_again() -> None:
    driver = waiting(wants("echo safe"))
    shown = driver.shown("t1")
    for command in ("rm -rf ~", "echo safe"):
        driver.hear(wants(command))
        assert driver.items
    driver.approve_shown(shown)
    assert driver.decided == []


def test_what_says_nothing_new_leaves_the_request_as_it_is() -> None:
    driver = waiting(wants("echo safe"))
    shown = driver.shown("t1")
    again = apply(driver.chat, wants("echo safe"), driver.now)
    late = apply(driver.chat, ToolPreparing(shell("rm -rf ~"), "{"), driver.now)
    assert (again.pending_changed, late.pending_changed) == (False, False)
    driver.approve_shown(shown)
    assert len(driver.decided) == 1


def test_what_the_model_goes_on_to_say_shows_no_request_again() -> None:
    driver = waiting(wants("echo safe"))
    shown = driver.shown("t1")
    events: list[ChatEvent] = [*said("a", "b"), ToolPreparing(shell("other", "t2"), "{")]
    for event in events:
        assert not apply(driver.chat, event, driver.now).pending_changed
    assert driver.shown("t1") == shown


def test_a_file_that_comes_up_beside_it_changes_the_request() -> None:
    here = Chat("chat")
    apply(here, wants("echo safe"), 0)
    (before,) = all_pending([here]).items
    report = DiskReport(("there is a file already",))
    (after,) = all_pending([here], lambda _chat, _call: report).items
    assert before["digest"] != after["digest"]


def test_who_asks_is_part_of_the_request() -> None:
    driver = waiting(wants("make"))
    driver.hear(wants("echo safe"), child="child")
    (before,) = [item for item in driver.items if item["title"] == "$ echo safe"]
    spawn = call("s", "spawn_agent", details=Subagent("explorer", "child"))
    changes = driver.take(apply(driver.chat, ToolRunning(spawn), driver.now))
    assert changes.pending_changed
    (after,) = [item for item in driver.items if item["title"] == "$ echo safe"]
    assert after["agent"] == "explorer"
    assert after["digest"] != before["digest"]


def test_an_answer_is_to_the_question_that_was_shown() -> None:
    driver = Driver()
    driver.run()
    ask = call(name="ask_user")
    driver.hear(ToolRunning(ask), QuestionAsked("q1", "Keep it?", (("yes", ""),), True, "t1"))
    first = driver.shown("q1")
    driver.answer("q1", "yes")
    driver.now += 1
    driver.hear(QuestionAsked("q2", "Delete it?", (("yes", ""),), True, "t1"))
    second = driver.shown("q2")
    assert second[0] == first[0]
    before = len(driver.view.other)
    driver.answer_shown(first, "yes")
    driver.answer_shown(first, "in my own words")
    assert [told.text for told in driver.told(TellAnswer)] == ["yes"]
    assert driver.view.other[before:] == [
        Notify("warn", CHANGED),
        SetInput("chat", "in my own words"),
        Notify("warn", CHANGED_TYPED),
    ]


def test_the_end_of_a_call_ends_the_questions_of_its_own_lane_only() -> None:
    driver = Driver()
    driver.run()
    driver.hear(QuestionAsked("q1", "Here?", tool_call_id="t1"))
    driver.hear(ToolFinished(call()), child="child")
    assert [item["call"] for item in driver.items] == ["q1"]


def test_ids_are_of_one_time_that_something_waits() -> None:
    driver = waiting(wants("make"))
    (first,) = driver.items
    other = Chat("other")
    apply(other, wants("make"), driver.now)
    assert {item["id"] for item in all_pending([driver.chat, other]).items} > {first["id"]}
    assert len({item["id"] for item in all_pending([driver.chat, other]).items}) == 2


def test_a_call_changes_where_that_is_noticed_and_nowhere_else() -> None:
    """Elsewhere what waits could change without being shown again."""
    found = set()
    for path in sorted(Path(chat.__path__[0]).rglob("*.py")):
        for function in ast.walk(ast.parse(path.read_text())):
            if isinstance(function, ast.FunctionDef):
                targets = (it.targets for it in ast.walk(function) if isinstance(it, ast.Assign))
                names = [it.attr for it in chain(*targets) if isinstance(it, ast.Attribute)]
                found |= {(path.stem, function.name)} if "call" in names else set()
    assert found == {("tool_calls", "_merge"), ("earlier_messages", "_put_back_calls")}


def test_what_cannot_be_told_apart_is_never_taken_for_the_same() -> None:
    deep: object = []
    for _ in range(100_000):
        deep = [deep]
    request = Request("r", 0)
    assert request.show({"title": "x"}, deep) != request.show({"title": "x"}, deep)
