"""An agent that nobody uses is ended quietly, and started again by what needs it."""

import anyio
import pytest
from tests.session.rig import FakeAgent, Rig
from tests.session.saved_chats import asked

from eca_nvim.chat.vocabulary.agent_events import JobsChanged, WorkChanged
from eca_nvim.chat.vocabulary.events import QuestionAsked, Role, TextReceived
from eca_nvim.chat.vocabulary.intents import (
    OpenChat,
    QuitServer,
    SendPrompt,
    StartServer,
)
from eca_nvim.chat.vocabulary.ops import Notify, OpenBlock, SetBody
from eca_nvim.chat.vocabulary.query_intents import ClearMessages
from eca_nvim.chat.vocabulary.states import TurnEnd
from eca_nvim.chat.vocabulary.turn_events import Job, LoginBegan, TurnBegan, TurnEnded
from eca_nvim.session.server import ServerRequest
from eca_nvim.session.servers import NamedServer

pytestmark = pytest.mark.anyio

SOON = 0.01
"""Seconds without use."""


def server_of(rig: Rig) -> NamedServer:
    """Return the server."""
    return rig.session._servers.get()


async def used(rig: Rig) -> FakeAgent:
    """Have a turn with the agent, which never sleeps by itself."""
    agent = await rig.ready()
    rig.do(SendPrompt("a", "hi"))
    await rig.done()
    agent.say("a", TurnBegan(), TextReceived(Role.ASSISTANT, "hello"), TurnEnded())
    return agent


async def asleep(rig: Rig) -> FakeAgent:
    """Have a turn with an agent, which then goes to sleep."""
    rig.idle = SOON
    agent = await used(rig)
    await rig.view.until(lambda: rig.states()[-1] == "asleep")
    rig.idle = 0
    return agent


async def test_an_unused_agent_is_asked_to_end_and_no_line_says_so(rig: Rig) -> None:
    rig.idle = SOON
    agent = await used(rig)
    shown = len([*rig.view.of(OpenBlock), *rig.view.of(SetBody), *rig.view.of(Notify)])
    await rig.view.until(lambda: rig.states()[-1] == "asleep")
    with anyio.fail_after(60):
        await agent._ended.wait()
    await rig.done()
    assert agent.told[-1] == ("close",)
    assert not agent.killed
    assert len([*rig.view.of(OpenBlock), *rig.view.of(SetBody), *rig.view.of(Notify)]) == shown
    assert rig.status()["state"] == "idle"
    assert "hello" in rig.view.text()


async def test_the_next_prompt_starts_it_and_is_sent(rig: Rig) -> None:
    await asleep(rig)
    rig.do(SendPrompt("a", "go on"))
    second = await rig.starting(2)
    second.ready()
    assert second.told == [("prompt", "a", "go on")]
    assert "stopped" not in rig.view.text()


async def test_a_prompt_in_the_moment_of_its_end_is_for_the_next_one(rig: Rig) -> None:
    first = await used(rig)
    rig.do(OpenChat("b"))
    await rig.done()
    server_of(rig).process.request(ServerRequest.SLEEP)
    rig.do(SendPrompt("a", "go on"))
    second = await rig.starting(2)
    second.ready()
    assert first.told[-1] == ("close",)
    assert second.told == [("prompt", "a", "go on")]
    assert "stopped" not in rig.view.text()


async def test_opening_a_chat_starts_it(rig: Rig) -> None:
    await asleep(rig)
    rig.do(OpenChat("b"))
    await rig.starting(2)


async def test_without_the_option_it_never_sleeps(rig: Rig) -> None:
    await used(rig)
    await anyio.sleep(2 * SOON)
    assert rig.states()[-1] == "ready"


async def test_it_rests_only_if_nothing_runs_and_nothing_waits(rig: Rig) -> None:
    agent = await rig.ready()
    server = server_of(rig)
    assert server.is_at_rest()
    rig.do(SendPrompt("a", "hi"))
    await rig.done()
    assert not server.is_at_rest(), "a turn runs"
    agent.say("a", TurnBegan(), TurnEnded())
    assert server.is_at_rest()
    agent.say("a", LoginBegan())
    assert not server.is_at_rest(), "a login runs"
    agent.say("a", TurnEnded())
    agent.say("a", QuestionAsked("q", "which?"))
    assert not server.is_at_rest(), "a question waits"
    rig.do(rig.answer("q", "this"))
    await rig.done()
    assert server.is_at_rest()
    agent.announce(JobsChanged((Job("make"),)))
    assert not server.is_at_rest(), "a command runs in the background"
    agent.announce(JobsChanged(()), WorkChanged("1", "reading the project", done=False))
    assert not server.is_at_rest(), "it does something"
    agent.announce(WorkChanged("1", "", done=True))
    agent.is_busy = True
    assert not server.is_at_rest(), "a command runs in a terminal"
    agent.is_busy = False
    assert server.is_at_rest()


async def test_a_prompt_in_the_queue_keeps_it_awake(rig: Rig) -> None:
    agent = await rig.ready()
    rig.do(SendPrompt("a", "hi"), SendPrompt("a", "then", queue=True))
    await rig.done()
    agent.say("a", TurnBegan())
    agent.say("a", TurnEnded(TurnEnd.FAILED, "no model"))
    assert rig.status()["state"] == "idle"
    assert not server_of(rig).is_at_rest()


async def test_a_request_for_what_was_said_keeps_it_awake(rig: Rig) -> None:
    gate = (await used(rig)).archive.gate = anyio.Event()
    await asked(rig, ClearMessages("a"))
    assert not server_of(rig).is_at_rest()
    gate.set()
    await anyio.wait_all_tasks_blocked()
    assert server_of(rig).is_at_rest()


async def test_other_servers_stay_awake(rig: Rig) -> None:
    rig.idle = SOON
    await rig.ready()
    rig.idle = 0
    await rig.ready("b", "demo", 2)
    await rig.view.until(lambda: rig.states()[-1] == "asleep")
    assert rig.states("demo")[-1] == "ready"


@pytest.mark.parametrize(
    ("intent", "state"), [(QuitServer(), "stopped"), (StartServer(restart=True), "starting")]
)
async def test_what_the_user_asks_counts_while_it_sleeps(
    rig: Rig, intent: QuitServer | StartServer, state: str
) -> None:
    await asleep(rig)
    rig.do(intent)
    await rig.view.until(lambda: rig.states()[-1] == state)


async def test_who_is_busy_when_the_time_is_over_gets_it_again(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = iter([False, False, True])
    monkeypatch.setattr(NamedServer, "is_at_rest", lambda _: next(answers))
    await asleep(rig)
    assert next(answers, None) is None


async def test_each_use_starts_the_time_again(rig: Rig) -> None:
    agent = await rig.ready()
    process = server_of(rig).process
    run = process._current
    assert run is not None
    for use in (process.use, process.asking, lambda: agent.say("a", TurnBegan())):
        run.used_at = 0.0
        use()
        assert run.used_at > 0
