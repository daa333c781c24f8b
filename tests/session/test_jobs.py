"""The jobs of a server: what is kept of them, their times, and what they have printed."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eca_nvim.agents.abilities import OutputLine
from eca_nvim.chat.vocabulary.turn_events import Job, JobState
from eca_nvim.session import jobs
from eca_nvim.session.jobs import JobList, Output, overlap

RUNS = Job("make", id="job-1", started=90.0)


class Clock:
    """A clock that goes as the test says."""

    time = 100.0

    def __call__(self) -> float:
        return self.time


def known(*told: Job) -> tuple[JobList, Clock]:
    clock = Clock()
    listed = JobList("eca", clock)
    listed.update(told)
    return listed, clock


def states(listed: JobList) -> list[str]:
    return [it.job.state.value for it in listed]


def ended(job: Job, state: JobState = JobState.COMPLETED, code: int | None = 0) -> Job:
    return Job(job.title, state, code, id=job.id, started=job.started)


def test_a_job_that_the_server_forgets_or_that_dies_with_it_is_kept() -> None:
    listed, clock = known(RUNS, Job("tail", id="job-2"), Job("gone", id="job-3"))
    listed.update([ended(RUNS), Job("tail", id="job-2")])
    assert states(listed) == ["completed", "running", "ended"]
    listed.update([Job("tail", id="job-2")])
    clock.time += 5
    assert [it.title for it in listed.agent_ended()] == ["tail"]
    assert states(listed) == ["completed", "killed", "ended"]
    assert [it.seconds(clock.time) for it in listed] == [10, 5, 0]
    assert not any(it.is_known for it in listed)
    assert listed.in_background == []


def test_ids_that_a_new_process_repeats_are_other_jobs() -> None:
    listed, _ = known(RUNS)
    listed.agent_ended()
    listed.update([Job("other", id="job-1")])
    first, second = listed
    assert (first.job.title, first.job.state) == ("make", JobState.KILLED)
    assert (second.job.title, second.job.state) == ("other", JobState.RUNNING)
    assert first.key != second.key
    assert listed.get(second.key) is second


def test_what_has_ended_does_not_run_again() -> None:
    listed, _ = known(RUNS)
    listed.update([ended(RUNS)])
    listed.update([RUNS])
    assert states(listed) == ["completed"]


def test_only_the_last_of_the_forgotten_ones_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "MOST_FORGOTTEN", 2)
    listed, _ = known(*(ended(Job(str(number), id=str(number))) for number in range(5)))
    assert len([*listed]) == 5, "the server lists them"
    listed.update([RUNS])
    assert [it.job.title for it in listed] == ["3", "4", "make"]
    listed.agent_ended()
    listed.update([Job("new", id="0")])
    assert [it.job.title for it in listed] == ["4", "make", "new"]


@pytest.mark.parametrize("started", [None, 1e12, 100.5])
def test_a_time_is_never_negative(started: float | None) -> None:
    listed, clock = known(Job("make", id="1", started=started))
    (job,) = listed
    clock.time = 50
    assert job.seconds(clock.time) == 0
    clock.time = 107
    assert job.seconds(clock.time) == 7
    listed.update([Job("make", JobState.FAILED, 2, id="1", started=started)])
    clock.time = 200
    assert job.seconds(clock.time) == 7


def test_how_long_a_job_ran_that_had_ended_before_is_not_known() -> None:
    listed, clock = known(ended(RUNS))
    (job,) = listed
    assert job.seconds(clock.time) is None
    assert job.over.is_set()


def test_the_view_gets_a_bounded_list(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "MOST_TOLD", 2)
    running = [Job(f"r{it}", id=f"r{it}", chat_id="inner") for it in range(3)]
    listed, _ = known(*running, *(ended(Job(f"e{it}", id=f"e{it}")) for it in range(3)))
    told = listed.told(lambda chat: f"outer of {chat}")
    assert [it["title"] for it in told] == ["r1", "r2", "e1", "e2"]
    assert told[0]["chat"] == "outer of inner"


# --- output -------------------------------------------------------------------------------------


def lines(texts: Sequence[str]) -> list[OutputLine]:
    return [OutputLine(it) for it in texts]


@given(st.text("ab", max_size=9), st.text("ab", max_size=9))
def test_the_overlap_is_the_longest_one(old: str, new: str) -> None:
    longest = max(size for size in range(min(len(old), len(new)) + 1) if old.endswith(new[:size]))
    assert overlap(lines(old), lines(new)) == longest


def test_lines_keep_their_numbers_while_the_buffer_moves() -> None:
    texts = [f"line {number}" for number in range(5000)]
    output = Output()
    for end in (0, 10, 1990, 2005, 2006, 3500, 5000):
        output = output.then(lines(texts[max(0, end - 2000) : end]))
        for place in {0, len(output.lines) // 2, len(output.lines) - 1} if output.lines else ():
            assert output.lines[place].text == f"line {output.first + place}", end
    output = output.then(lines(["all", "else"]))
    assert output.first == 5000


def test_output_is_bounded() -> None:
    output = Output().then(lines(["x" * 10_000] * 3000))
    assert (len(output.lines), output.first) == (2000, 1000)
    assert len(output.lines[0].text) == 2001


def test_repeated_lines_take_linear_time() -> None:
    old, new = lines(["tick"] * 1999 + ["end"]), lines(["tick"] * 2000)
    assert overlap(old, new) == 0
    assert overlap(new, new) == 2000
