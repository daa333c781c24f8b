"""A long history that came whole: its end is shown first, and the rest above it by itself."""

from __future__ import annotations

from collections.abc import Iterator
from unittest.mock import MagicMock, patch

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.chat.driver import Driver, call, said
from tests.chat.test_earlier_messages import READ, page, prompt, ran
from tests.chat.test_task_list import told, two_tasks

from eca_nvim.chat.handlers.reducer import HANDLERS
from eca_nvim.chat.model.blocks import Changes
from eca_nvim.chat.render.whole_chat import transcript
from eca_nvim.chat.user_actions import earlier_messages
from eca_nvim.chat.user_actions.earlier_messages import (
    Page,
    show_history,
    show_in_parts,
    show_incomplete,
)
from eca_nvim.chat.vocabulary.call_details import Subagent
from eca_nvim.chat.vocabulary.events import (
    Addressed,
    ChatCleared,
    ChatEvent,
    ChatOpened,
    FlagReceived,
    PlanChanged,
    ReasoningFinished,
    ReasoningStarted,
    TitleChanged,
)
from eca_nvim.chat.vocabulary.ops import OpenBlock

LOADING = "▴ older messages …"


def turns(count: int) -> list[ChatEvent]:
    """Make a history of questions and answers."""
    numbers = range(count)
    return [it for at in numbers for it in (prompt(f"ask {at}", f"u{at}"), *said(f"\nsay {at}"))]


def begun(events: list[ChatEvent]) -> tuple[Driver, Iterator[Changes]]:
    """Show the end of a history; return the rest, too."""
    driver = Driver()
    parts = show_in_parts(driver.chat, page(*events), driver.now)
    driver.take(next(parts))
    return driver, parts


def test_the_end_comes_first_and_the_rest_follows_above() -> None:
    driver, rest = begun(turns(500))
    assert driver.view.lines[0] == LOADING
    assert driver.view.lines[-2:] == ["ask 499", "say 499"]
    assert len(driver.view.lines) == 1 + 100
    counts = []
    for part in rest:
        driver.take(part)
        counts.append(len(driver.view.lines))
    assert counts[:3] == [1 + 200, 1 + 300, 1 + 400]
    assert counts[-1] == 1000
    assert driver.view.lines[:2] == ["ask 0", "say 0"]
    assert driver.chat.older is None


def test_what_comes_between_two_parts_stays_below() -> None:
    driver, rest = begun(turns(200))
    driver.run("and now?")
    driver.hear(*said("This."))
    for part in rest:
        driver.take(part)
    assert driver.view.lines[0] == "ask 0"
    assert driver.view.lines[-3:] == ["say 199", "and now?", "This."]


def test_a_history_that_is_replaced_meanwhile_gets_no_more_parts() -> None:
    for events in (turns(200), []):
        driver, rest = begun(turns(200))
        driver.take(next(rest))
        if events:
            driver.take(show_history(driver.chat, page(*turns(1), older="c1"), driver.now))
        else:
            driver.hear(ChatCleared())
        assert list(rest) == []


def test_a_part_that_fails_takes_nothing_away() -> None:
    """A bug of ours in one event of a history."""
    broken = {FlagReceived: MagicMock(side_effect=RuntimeError)}
    driver, rest = begun([FlagReceived("broken", "f1"), *turns(100)])
    driver.run("and now?")
    driver.hear(told("t1", 1))
    lines, tasks = driver.view.lines, driver.chat.task_list
    with patch.dict(HANDLERS, broken), pytest.raises(RuntimeError):
        list(rest)
    driver.view.status = {}
    driver.take(show_incomplete(driver.chat, driver.now))
    assert driver.view.lines[-len(lines) + 1 :] == lines[1:]
    assert driver.view.lines[0] == "▴ older messages"
    assert driver.chat.task_list is tasks is not None


def test_a_page_of_the_agent_is_not_cut() -> None:
    driver = Driver()
    whole = page(*turns(500), older="c1")
    assert len(list(show_in_parts(driver.chat, whole, driver.now))) == 1


def test_a_turn_is_not_cut() -> None:
    events = [prompt("read", "u1"), *(it for _ in range(90) for it in ran(READ)), *turns(2)]
    driver, rest = begun(events)
    assert driver.view.lines[0] == "read"
    assert list(rest) == []


def test_the_title_is_the_last_one_given() -> None:
    driver, rest = begun([ChatOpened("first"), *turns(200), TitleChanged("last"), *turns(200)])
    assert driver.view.status["title"] == "last"
    for part in rest:
        driver.take(part)
    assert driver.view.status["title"] == "last"


def test_blocks_of_a_part_follow_each_other() -> None:
    """Neovim writes them by one edit."""
    driver, rest = begun(turns(200))
    opened = [op for op in next(rest).ops if isinstance(op, OpenBlock)]
    assert driver.chat.older is not None
    places = [driver.chat.older.block.id, *(op.block for op in opened[:-1])]
    assert [op.after for op in opened] == places


KINDS = st.sampled_from(["prompt", "answer", "call", "agent", "tasks", "plan", "thought", "flag"])


def history_of(kinds: list[str]) -> Page:
    """Make a history of messages with ids of their own; subagents speak after their calls."""
    events = list[Addressed]()
    for number, kind in enumerate(kinds):
        events += [Addressed("chat", it) for it in unit(kind, number)]
        if kind == "agent":
            inside = [prompt("look", f"s{number}"), *said("found")]
            events += [Addressed(f"sub{number}", it, "chat") for it in inside]
    return Page(events)


def unit(kind: str, number: int) -> list[ChatEvent]:
    """Make the events of a message in the chat itself."""
    match kind:
        case "prompt":
            return [prompt(f"ask {number}", f"u{number}")]
        case "answer":
            return list(said(f"\nsay {number}"))
        case "call":
            return ran(call(f"t{number}", arguments={"path": f"/workspace/{number}"}))
        case "agent":
            return ran(call(f"t{number}", details=Subagent(f"agent {number}", f"sub{number}")))
        case "tasks":
            return [told(f"t{number}", number % 3)]
        case "plan":
            return [PlanChanged(two_tasks(number % 3))]
        case "thought":
            return [ReasoningStarted(f"th{number}"), ReasoningFinished(f"th{number}", 9)]
        case _:
            return [FlagReceived(f"flag {number}", f"f{number}")]


GROUPS_BESIDE_TASKS = ["call", "call", "tasks", "call", "call", "prompt", "tasks"]


@example(kinds=GROUPS_BESIDE_TASKS, size=1)
@given(kinds=st.lists(KINDS, max_size=40), size=st.integers(1, 6))
def test_parts_read_like_the_whole(kinds: list[str], size: int) -> None:
    history = history_of(kinds)
    whole, driver = Driver(), Driver()
    whole.take(show_history(whole.chat, history, whole.now))
    with patch.object(earlier_messages, "_SMALLEST_PART", size):
        for part in show_in_parts(driver.chat, history, driver.now):
            driver.take(part)
    assert driver.view.lines == whole.view.lines
    assert transcript(driver.chat, 0) == transcript(whole.chat, 0)
    assert driver.chat.older is None


def test_without_the_host_the_rest_says_how_to_load_it() -> None:
    driver = Driver()
    changes = next(show_in_parts(driver.chat, page(*turns(500)), driver.now))
    [older] = [op for op in changes.ops if isinstance(op, OpenBlock) and op.kind == "older"]
    [(lost, _)] = older.lost or ()
    assert lost == "▴ older messages, not loaded: :Eca restart, then :Eca resume"
