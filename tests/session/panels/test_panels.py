"""Panels: only what differs is drawn, and actions say whether they worked."""

import tracemalloc
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.session.panels.jobs import FakeJobs
from tests.session.rig import Rig

from eca_nvim.agents.abilities import AgentRefused
from eca_nvim.chat.vocabulary.agent_events import JobsChanged
from eca_nvim.chat.vocabulary.intents import OpenChat
from eca_nvim.chat.vocabulary.ops import Notify
from eca_nvim.chat.vocabulary.panels import (
    ActInPanel,
    ClosePanel,
    Row,
    SetPanel,
    SetRows,
    ShowPanel,
)
from eca_nvim.chat.vocabulary.turn_events import Job, JobState
from eca_nvim.session.panels import difference, panel

pytestmark = pytest.mark.anyio


def rows_of(text: str) -> list[Row]:
    return [Row(letter, [(letter, "", 0)]) for letter in text]


def applied(old: Sequence[Row], ops: Sequence[SetRows]) -> list[Row]:
    """Apply ops as the view does."""
    rows = list(old)
    for op in ops:
        rows[op.at : op.at + op.removed] = op.rows
    return rows


@given(st.text("abc", max_size=6), st.text("abc", max_size=6))
def test_what_is_sent_makes_the_new_rows_of_the_old_ones(before: str, after: str) -> None:
    old, new = rows_of(before), rows_of(after)
    ops = difference("x", 1, old, new)
    assert applied(old, ops) == new
    if old == new:
        assert not ops


def test_only_the_row_that_differs_is_sent() -> None:
    old, new = rows_of("abcde"), rows_of("abXde")
    assert difference("x", 1, old, new) == [SetRows("x", 1, 2, 1, [new[2]])]


def test_many_rows_are_sent_in_pieces() -> None:
    new = [Row(str(number), []) for number in range(5000)]
    ops = difference("x", 1, rows_of("a"), new)
    assert max(len(op.rows) for op in ops) == 200
    assert applied(rows_of("a"), ops) == new


def shown(rig: Rig) -> list[str]:
    """Return the texts of the rows that the view has."""
    rows: list[Row] = []
    for op in rig.view.of(SetRows):
        rows = applied(rows, [op])
    return [" ".join(text for text, *_ in row.line) for row in rows]


JOBS = (
    Job("sleep\n9", chat_id="a", id="job-1"),
    Job("make", JobState.FAILED, 2, chat_id="a", id="2"),
    Job("true", JobState.COMPLETED, 0, chat_id="a", id="3"),
)


async def with_jobs(rig: Rig) -> FakeJobs:
    """Show the panel, with three jobs."""
    agent = await rig.ready()
    agent.jobs = jobs = FakeJobs(agent)
    agent.announce(JobsChanged(JOBS))
    rig.do(ShowPanel("jobs", "a"))
    await rig.view.until(lambda: len(shown(rig)) == len(JOBS))
    return jobs


async def test_rows_are_what_there_is_and_follow_it(rig: Rig) -> None:
    await with_jobs(rig)
    assert [line.split()[0] for line in shown(rig)] == ["running", "failed", "done"]
    assert rig.view.of(SetPanel)[-1].title == "jobs: 1 running, 2 ended"
    before = len(rig.view.of(SetRows))
    rig.agent.announce(JobsChanged((*JOBS, Job("last", JobState.KILLED, id="4"))))
    await rig.view.until(lambda: len(shown(rig)) == len(JOBS) + 1)
    (op,) = rig.view.of(SetRows)[before:]
    assert (op.at, op.removed, len(op.rows)) == (3, 0, 1)
    assert rig.view.of(SetPanel)[-1].title == "jobs: 1 running, 3 ended"


async def test_many_changes_at_once_are_one_drawing(rig: Rig) -> None:
    await with_jobs(rig)
    before = len(rig.view.of(SetRows))
    for number in range(100):
        rig.agent.announce(JobsChanged((Job(f"{number}", id="job-1"), *JOBS[1:])))
    await rig.view.until(lambda: shown(rig) and shown(rig)[0].endswith("99"))
    assert len(rig.view.of(SetRows)) == before + 1


async def test_a_closed_panel_is_not_drawn(rig: Rig) -> None:
    await with_jobs(rig)
    rig.do(ClosePanel("jobs"))
    await rig.done()
    before = len(rig.view.of(SetRows))
    rig.agent.announce(JobsChanged(()))
    rig.do(OpenChat("b"))
    await rig.done()
    assert len(rig.view.of(SetRows)) == before
    rig.do(ShowPanel("jobs", "a", showing=2))  # it is drawn whole again
    await rig.view.until(lambda: len(rig.view.of(SetRows)) > before)
    assert rig.view.of(SetRows)[before].at == 0
    assert [op.showing for op in rig.view.of(SetRows)[before - 1 :]] == [0, 2]
    assert [op.showing for op in rig.view.of(SetPanel)] == [0, 2]


async def test_an_action_shows_that_it_was_sent_until_it_has_ended(rig: Rig) -> None:
    jobs = await with_jobs(rig)
    rig.do(ActInPanel("jobs", "kill", 7, row="eca/1"))
    await rig.view.until(lambda: "end it …" in shown(rig)[0])
    jobs.may_go_on.set()
    await rig.view.until(lambda: "end it" not in shown(rig)[0])
    assert jobs.killed == ["job-1"]
    assert not rig.view.of(Notify)


async def test_an_action_that_waits_is_not_sent_again(rig: Rig) -> None:
    jobs = await with_jobs(rig)
    rig.do(ActInPanel("jobs", "kill", 7, row="eca/1"))
    await rig.view.until(lambda: jobs.killed)
    assert await rig.ask(ActInPanel("jobs", "kill", 8, row="eca/1")) is None
    assert rig.view.of(Notify) == [Notify("warn", "still waiting: end it")]
    assert jobs.killed == ["job-1"]
    jobs.may_go_on.set()


async def test_an_action_that_is_refused_says_why(rig: Rig) -> None:
    jobs = await with_jobs(rig)
    jobs.fault = AgentRefused("it does not\nlisten")
    jobs.may_go_on.set()
    assert await rig.ask(ActInPanel("jobs", "kill", 7, row="eca/1")) is None
    assert rig.view.of(Notify) == [Notify("warn", "it does not listen")]


async def test_an_action_without_an_effect_says_so_after_its_time(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    await with_jobs(rig)
    monkeypatch.setattr(panel, "ANSWER_SECONDS", 0.01)
    assert await rig.ask(ActInPanel("jobs", "kill", 7, row="eca/1")) is None
    (told,) = rig.view.of(Notify)
    assert told.text.startswith("end it: nothing has happened after")
    await rig.view.until(lambda: "end it" not in shown(rig)[0])


async def test_what_is_gone_is_said(rig: Rig) -> None:
    await with_jobs(rig)
    assert await rig.ask(ActInPanel("jobs", "kill", 7, row="eca/9")) is None
    assert rig.view.of(Notify) == [Notify("warn", "this job is gone")]


def test_texts_that_no_panel_shows_any_more_take_little_memory() -> None:
    tracemalloc.start()
    for number in range(1 << 15):
        panel.cell(f"a title that is shown once {number}")
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept < 7_000_000
