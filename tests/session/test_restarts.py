"""A server that crashes at rest is started again by itself, a few times; nothing else is."""

from collections.abc import Callable, Sequence

import anyio
import pytest
from tests.session.rig import FakeAgent, Rig

from eca_nvim.agents.base import AGAIN, AgentExit, AgentFault, EndedEarly
from eca_nvim.chat.vocabulary.agent_events import JobsChanged
from eca_nvim.chat.vocabulary.events import QuestionAsked, Role, TextReceived
from eca_nvim.chat.vocabulary.intents import (
    OpenChat,
    QuitServer,
    SendPrompt,
    StartServer,
    StopTurn,
)
from eca_nvim.chat.vocabulary.turn_events import Job, LoginBegan, TurnBegan, TurnEnded
from eca_nvim.session.restarts import LASTING, WAITS, Restarts

pytestmark = pytest.mark.anyio

CRASH = AgentExit(f"the server ended, exit code 3: {AGAIN}", 3)
KILLED = AgentExit(f"the server ended, signal 9 (Killed): {AGAIN}", None)
DONE = AgentExit(f"the server ended, exit code 0: {AGAIN}", 0)
EARLY = EndedEarly("eca ended before it could be used, exit code 255")
DOWN = "the server stays down until your next prompt or :Eca restart"
SHORT = 5.0
FAILED = 0.0


@pytest.mark.parametrize(
    ("lives", "waits"),
    [
        ([SHORT] * 5, [*WAITS, None, None]),
        ([FAILED, FAILED], [None, None]),
        ([SHORT, FAILED, FAILED, FAILED, SHORT], [*WAITS, None, None]),
        ([SHORT, SHORT, LASTING, SHORT], [1, 4, 1, 4]),
        ([*[SHORT] * 4, LASTING, *[SHORT] * 3], [1, 4, 16, None, 1, 4, 16, None]),
    ],
    ids=["crashes", "never ready", "does not come back", "sound between", "sound after giving up"],
)
def test_the_time_until_the_next_start(
    lives: Sequence[float], waits: Sequence[float | None]
) -> None:
    restarts = Restarts()
    for lived, wait in zip(lives, waits, strict=True):
        assert restarts.after(lived) == wait
        assert restarts.is_due == (wait is not None)


@pytest.fixture
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eca_nvim.session.restarts.WAITS", (0.01, 0.02, 0.03))


@pytest.fixture
def _never(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eca_nvim.session.restarts.WAITS", (600, 600, 600))


@pytest.mark.usefixtures("_soon")
@pytest.mark.parametrize("ending", [CRASH, KILLED])
async def test_it_is_started_three_times_and_the_next_prompt_begins_anew(
    rig: Rig, ending: AgentExit
) -> None:
    agent = await rig.ready()
    for number, wait in enumerate(("0.01", "0.02", "0.03"), 2):
        agent.end(ending)
        agent = await rig.starting(number)
        agent.ready()
        line = ending.reason.replace(AGAIN, f"it starts again in {wait} s, :Eca stop prevents it")
        assert rig.view.text().count(line) == 1
        assert AGAIN not in rig.view.text()
    agent.end(ending)
    await rig.view.until(lambda: ending.reason in rig.view.text())
    await anyio.sleep(0.1)
    assert len(rig.agents) == 4
    rig.do(SendPrompt("a", "go on"))
    agent = await rig.starting(5)
    agent.ready()
    assert agent.told == [("prompt", "a", "go on")]
    agent.say("a", TurnBegan(), TurnEnded())
    agent.end(ending)
    await rig.starting(6)


@pytest.mark.usefixtures("_soon")
async def test_a_start_that_fails_is_tried_again_only_after_a_crash(rig: Rig) -> None:
    (await rig.ready()).end(CRASH)
    (await rig.starting(2)).end(EARLY)
    (await rig.starting(3)).end(AgentFault("eca is not executable"))
    await rig.view.until(lambda: "eca is not executable\n:Eca restart" in rig.view.text())
    assert f"{EARLY}\nit starts again in 0.02 s, :Eca stop prevents it" in rig.view.text()
    rig.do(StartServer(restart=True))
    (await rig.starting(4)).end(EARLY)
    await rig.view.until(lambda: f"{EARLY}\n:Eca restart" in rig.view.text())
    await anyio.sleep(0.1)
    assert len(rig.agents) == 4


@pytest.mark.usefixtures("_soon")
async def test_a_prompt_for_a_start_that_fails_is_given_back(rig: Rig) -> None:
    (await rig.ready()).end(CRASH)
    agent = await rig.starting(2)
    rig.do(SendPrompt("a", "go on"))
    await rig.done()
    agent.end(EARLY)
    await rig.view.until(lambda: rig.states()[-1] == "failed")
    await anyio.sleep(0.1)
    assert len(rig.agents) == 2


async def _turn(rig: Rig, agent: FakeAgent) -> None:
    rig.do(SendPrompt("a", "hi"))
    await rig.done()
    agent.say("a", TurnBegan(), TextReceived(Role.ASSISTANT, "hello"))


async def _queue(rig: Rig, agent: FakeAgent) -> None:
    rig.do(SendPrompt("a", "hi"), SendPrompt("a", "then", queue=True))
    await rig.done()
    agent.say("a", TurnBegan())


def _says(*events: object) -> Callable[[Rig, FakeAgent], object]:
    async def say(_: Rig, agent: FakeAgent) -> None:
        for event in events:
            if isinstance(event, JobsChanged):
                agent.announce(event)
            else:
                agent.say("a", event)  # type: ignore[arg-type]

    return say


async def _busy(_: Rig, agent: FakeAgent) -> None:
    agent.is_busy = True


@pytest.mark.usefixtures("_soon")
@pytest.mark.parametrize(
    "before",
    [
        _turn,
        _queue,
        _says(LoginBegan()),
        _says(QuestionAsked("q", "which?")),
        _says(JobsChanged((Job("make"),))),
        _busy,
    ],
    ids=["a turn", "the queue", "a login", "a question", "a job", "a terminal"],
)
async def test_nothing_is_started_where_something_may_be_lost(
    rig: Rig, before: Callable[[Rig, FakeAgent], object]
) -> None:
    agent = await rig.ready()
    await before(rig, agent)  # type: ignore[misc]
    agent.end(CRASH)
    await rig.view.until(lambda: CRASH.reason in rig.view.text())
    await anyio.sleep(0.1)
    assert len(rig.agents) == 1


@pytest.mark.usefixtures("_soon")
async def test_a_server_that_ends_without_a_fault_stays_down(rig: Rig) -> None:
    (await rig.ready()).end(DONE)
    await rig.view.until(lambda: DONE.reason in rig.view.text())
    await anyio.sleep(0.1)
    assert len(rig.agents) == 1


@pytest.mark.usefixtures("_never")
@pytest.mark.parametrize(
    ("intent", "starts"),
    [
        (StopTurn("a"), 1),
        (QuitServer(), 1),
        (StartServer(), 2),
        (StartServer(restart=True), 2),
        (OpenChat("b"), 2),
        (SendPrompt("a", "hi"), 2),
    ],
)
async def test_what_the_user_asks_cancels_it(
    rig: Rig, intent: OpenChat | StartServer, starts: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    slept = anyio.Event()

    async def sleep(seconds: float) -> None:
        assert seconds == 600
        await slept.wait()

    (await rig.ready()).end(CRASH)
    monkeypatch.setattr("eca_nvim.session.server.anyio.sleep", sleep)
    await rig.view.until(lambda: "it starts again in 600 s" in rig.view.text())
    rig.do(intent)
    await rig.done()
    if starts > 1:
        await rig.starting(starts)
    slept.set()
    await anyio.wait_all_tasks_blocked()
    assert len(rig.agents) == starts
    is_told = DOWN in rig.lines()
    assert is_told == isinstance(intent, StopTurn)
    assert "no turn is running" not in rig.lines()
