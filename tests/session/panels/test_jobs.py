"""The panel of jobs: which it lists, what they have printed, and how they are ended."""

from collections.abc import Sequence
from itertools import count

import anyio
import pytest
from tests.session.panels.jobs import FakeJobs
from tests.session.panels.test_panels import applied
from tests.session.rig import Rig

from eca_nvim.agents.abilities import AgentRefused
from eca_nvim.agents.base import AgentExit
from eca_nvim.chat.vocabulary.agent_events import JobsChanged
from eca_nvim.chat.vocabulary.intents import OpenChat
from eca_nvim.chat.vocabulary.ops import Answer, Notify, ShowOutput
from eca_nvim.chat.vocabulary.panels import ActInPanel, ClosePanel, Row, SetRows, ShowPanel
from eca_nvim.chat.vocabulary.turn_events import Job, JobState
from eca_nvim.session.panels import jobs as panel

pytestmark = pytest.mark.anyio

RUNS = Job("make", chat_id="a", id="job-1", started=0.0)
FAILED = Job("false", JobState.FAILED, 3, chat_id="gone", id="job-2")

NUMBERS = count(1)


@pytest.fixture(autouse=True)
def fast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(panel, "READ_AGAIN", 0.01)


def rows(rig: Rig) -> list[Row]:
    """Return the rows that the view has."""
    shown: list[Row] = []
    for op in rig.view.of(SetRows):
        shown = applied(shown, [op])
    return shown


def texts(rig: Rig) -> list[str]:
    lines = ("".join(text + " " * (cells > 0) for text, _, cells in it.line) for it in rows(rig))
    return [" ".join(line.split()) for line in lines]


def below(rig: Rig) -> list[str]:
    """Return what the rows below the first job say, without its facts."""
    return [text for text, row in zip(texts(rig), rows(rig), strict=True) if "\n" in row.id][1:]


async def with_jobs(rig: Rig, *told: Job, printed: Sequence[str] | None = ()) -> FakeJobs:
    agent = await rig.ready()
    agent.jobs = jobs = FakeJobs(agent)
    jobs.printed = {"job-1": printed}
    agent.announce(JobsChanged(told))
    rig.do(OpenChat("a"))
    rig.do(ShowPanel("jobs", "a"))
    await rig.view.until(lambda: len(rows(rig)) >= max(1, len(told)))
    return jobs


async def act(rig: Rig, action: str, row: str = "eca/1") -> object:
    return await rig.ask(ActInPanel("jobs", action, next(NUMBERS), row=row))


async def test_what_runs_stands_first_then_what_has_ended_last(rig: Rig) -> None:
    first, second = Job("first", id="1", started=10.0), Job("second", id="2", started=20.0)
    old = Job("old", JobState.COMPLETED, 0, id="3")
    await with_jobs(rig, first, old, Job("x", id="4"), Job("y", id="5"), second)
    ended = [Job(it, JobState.KILLED, id=number) for it, number in (("y", "5"), ("x", "4"))]
    rig.agent.announce(JobsChanged((first, old, ended[0], Job("x", id="4"), second)))
    rig.agent.announce(JobsChanged((first, old, *ended, second)))
    await rig.view.until(
        lambda: [it.split()[-1] for it in texts(rig)] == ["second", "first", "x", "y", "old"]
    )
    assert [it.split()[0] for it in texts(rig)] == [
        "running",
        "running",
        "killed",
        "killed",
        "done",
    ]
    assert all("kill" in row.actions for row in rows(rig)[:2])
    assert not any("kill" in row.actions for row in rows(rig)[2:])


async def test_all_that_the_server_knows_is_asked_for_at_the_begin(rig: Rig) -> None:
    agent = await rig.ready()
    agent.jobs = jobs = FakeJobs(agent)
    jobs.listed = [FAILED]
    agent.announce(JobsChanged((RUNS,)))
    rig.do(ShowPanel("jobs", "a"))
    await rig.view.until(lambda: "failed 3 false" in texts(rig))
    assert texts(rig)[0].startswith("ended"), "nobody said how"


async def test_output_follows_while_it_is_shown(rig: Rig) -> None:
    jobs = await with_jobs(rig, RUNS, printed=["one", "\x1b[31mtwo\x1b[m", "!three"])
    assert await act(rig, "output") is None
    await rig.view.until(lambda: below(rig) == ["one", "two", "three"])
    assert [it.line[1][1] for it in rows(rig)[2:]] == ["", "EcaAnsiRed", "EcaStderr"]
    last = rows(rig)[-1].id
    jobs.printed["job-1"] = ["two", "!three", "10 %\r20 %", "a\u202eb\x1b]0;x\x07\x1b[2J"]
    await rig.view.until(lambda: below(rig)[-2:] == ["20 %", "a<U+202E>b"])
    assert rows(rig)[-1].id == last, "the cursor stays at the end"
    assert len({row.id for row in rows(rig)}) == len(rows(rig))
    await act(rig, "output", last)
    await rig.view.until(lambda: len(rows(rig)) == 1)
    await rig.done()
    count = len(jobs.read)
    await anyio.sleep(0.1)
    assert len(jobs.read) <= count + 1


async def test_output_is_not_asked_for_without_the_panel(rig: Rig) -> None:
    jobs = await with_jobs(rig, RUNS, printed=["one"])
    await anyio.sleep(0.05)
    assert jobs.read == []
    await act(rig, "output")
    rig.do(ClosePanel("jobs"))
    await rig.done()
    count = len(jobs.read)
    await anyio.sleep(0.1)
    assert len(jobs.read) <= count + 1


async def test_what_ends_while_it_is_read_keeps_its_last_lines(rig: Rig) -> None:
    jobs = await with_jobs(rig, RUNS, printed=["one"])
    await act(rig, "output")
    await rig.view.until(lambda: below(rig) == ["one"])
    jobs.printed["job-1"] = ["one", "the end"]
    rig.agent.announce(JobsChanged((Job("make", JobState.FAILED, 2, id="job-1"),)))
    await rig.view.until(lambda: below(rig) == ["one", "the end"])
    count = len(jobs.read)
    jobs.printed["job-1"] = None
    rig.agent.announce(JobsChanged(()))
    await rig.view.until(lambda: "does not know it any more" in texts(rig)[1])
    assert len(jobs.read) == count, "it has ended"
    assert below(rig) == ["one", "the end"]
    assert "exit code 2" in texts(rig)[1]


async def test_the_server_dies_while_output_is_shown(rig: Rig) -> None:
    await with_jobs(rig, RUNS, printed=["one"])
    await act(rig, "output")
    await rig.view.until(lambda: below(rig) == ["one"])
    rig.agent.end(AgentExit("gone"))
    await rig.view.until(lambda: texts(rig)[0].startswith("killed"))
    assert below(rig) == ["one"]
    assert await act(rig, "output") is None
    assert await act(rig, "output") is None
    await rig.view.until(lambda: below(rig) == ["one"])


async def test_output_that_never_comes_is_waited_for_in_its_row(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(panel, "SLOW", 0.0)
    jobs = await with_jobs(rig, RUNS, FAILED)
    jobs.answers_reads = type(jobs.answers_reads)()
    await act(rig, "output")
    await rig.view.until(lambda: "".join(below(rig)).startswith("no answer for"))
    await rig.view.until(lambda: jobs.read == ["job-1"])
    jobs.may_go_on.set()
    assert await act(rig, "kill") is None, "it blocks nothing"
    await rig.view.until(lambda: texts(rig)[0].startswith("killed"))


async def test_output_that_is_gone_or_empty_is_said(rig: Rig) -> None:
    jobs = await with_jobs(rig, RUNS, FAILED)
    await act(rig, "output")
    await rig.view.until(lambda: below(rig) == ["it has printed nothing so far"])
    jobs.listed = [RUNS]
    await act(rig, "output")
    await act(rig, "output", "eca/2")
    await rig.view.until(lambda: below(rig) == ["what it printed is not known any more"])
    assert await act(rig, "all", "eca/2") is None
    assert rig.view.of(Notify)[-1] == Notify("warn", "nothing is known that it has printed")


async def test_long_output_is_shown_by_its_end_and_whole_in_a_buffer(rig: Rig) -> None:
    printed = [f"line {number}" for number in range(2000)]
    jobs = await with_jobs(rig, RUNS, FAILED, printed=printed)
    await act(rig, "output")
    await rig.view.until(lambda: len(rows(rig)) == 2 + 1 + 1 + 200)
    assert below(rig)[:2] == ["… 1800 earlier lines: o shows all in a buffer", "line 1800"]
    before, line = rows(rig)[2], rows(rig)[3]
    assert before.actions[0] == "all"
    jobs.printed["job-1"] = [*printed[500:], *(f"line {it}" for it in range(2000, 2500))]
    await rig.view.until(lambda: below(rig)[1] == "line 2300")
    for row, shown in ((before.id, 1799), (line.id, 1300), ("eca/1", 1999)):
        await act(rig, "all", row)
        op = rig.view.of(ShowOutput)[-1]
        assert (len(op.lines), op.row) == (2000, shown)
    assert op.lines[-1] == "line 2499"


async def test_a_refusal_to_end_it_is_said_unless_it_has_ended(rig: Rig) -> None:
    jobs = await with_jobs(rig, RUNS)
    jobs.fault = AgentRefused("it says that it does not run")
    jobs.may_go_on.set()
    assert await act(rig, "kill") is None
    assert rig.view.of(Notify) == [Notify("warn", "it says that it does not run")]
    jobs.listed = [Job("make", JobState.KILLED, id="job-1")]  # another one has ended it
    await act(rig, "kill")
    assert len(rig.view.of(Notify)) == 1
    await rig.view.until(lambda: texts(rig)[0].startswith("killed"))
    await act(rig, "kill")
    assert rig.view.of(Notify)[-1] == Notify("warn", "it has ended already")
    assert len(jobs.killed) == 2


async def test_a_chat_that_is_not_open_is_said(rig: Rig) -> None:
    await with_jobs(rig, RUNS, FAILED)
    await act(rig, "chat")
    assert rig.view.of(Answer)[-1].value == {"chat": "a"}
    await act(rig, "chat", "eca/2")
    assert rig.view.of(Notify)[-1].text.startswith("its chat is not open")


async def test_the_servers_are_named_if_several_have_jobs(rig: Rig) -> None:
    await with_jobs(rig, RUNS)
    other = await rig.ready("b", "other", number=2)
    assert len(texts(rig)[0].split()) == 3
    other.announce(JobsChanged((Job("ls", id="job-1"),)))
    await rig.view.until(lambda: len(rows(rig)) == 2)
    assert [it.split()[2] for it in texts(rig)] == ["other", "eca"]
