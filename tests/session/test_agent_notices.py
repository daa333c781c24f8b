"""The agent's notices about itself, each shown as one line."""

import pytest
from msgspec.structs import replace
from tests.session.rig import Rig
from tests.support.announced import announced

from eca_nvim.agents.base import AgentExit
from eca_nvim.chat.vocabulary import intents
from eca_nvim.chat.vocabulary.agent_events import (
    JobsChanged,
    Offered,
    Tool,
    ToolServerChanged,
    ToolServerState,
)
from eca_nvim.chat.vocabulary.call_details import ToolCall
from eca_nvim.chat.vocabulary.events import Addressed, ToolFinished, ToolRequested, ToolRunning
from eca_nvim.chat.vocabulary.ops import (
    Notify,
    SetHeader,
    SetJobs,
    SetStatus,
    SetToolServer,
    SetWork,
)
from eca_nvim.chat.vocabulary.options import ALL_ABILITIES, AbilitiesChanged, Ability
from eca_nvim.chat.vocabulary.turn_events import Job, JobState, TurnEnded
from eca_nvim.session import incoming

pytestmark = pytest.mark.anyio

NO_MODEL = "no model: send the prompt /login, or see :Eca log"


async def test_that_there_is_no_model_is_said_with_the_way_out(rig: Rig) -> None:
    rig.do(intents.OpenChat("a"))
    await rig.done()
    await rig.starting()
    rig.agent.announce(announced(models=(), agents=("code",)))
    assert NO_MODEL not in rig.view.text()  # they may still be loading
    rig.agent.ready()
    rig.do(intents.OpenChat("b"))
    await rig.done()
    assert rig.view.text().split("\n").count(NO_MODEL) == 2


@pytest.mark.parametrize("models", [None, ("some/model",)])
async def test_where_there_may_be_a_model_nothing_is_said(
    rig: Rig, models: tuple[str, ...] | None
) -> None:
    rig.do(intents.OpenChat("a"))
    await rig.done()
    await rig.starting()
    rig.agent.announce(announced(models=models))
    rig.agent.ready()
    assert NO_MODEL not in rig.view.text()


FAILED, RUNNING = ToolServerState.FAILED, ToolServerState.RUNNING


async def test_a_tool_server_that_fails_is_named_once_with_the_reason(rig: Rig) -> None:
    agent = await rig.ready()
    for status in (ToolServerState.STARTING, FAILED, FAILED, ToolServerState.STARTING, FAILED):
        agent.announce(ToolServerChanged("mine\nown", status))
    agent.announce(ToolServerChanged("mine\nown", FAILED, error="no such file, api_key=sk-secret1"))
    assert rig.view.of(Notify) == [
        Notify("warn", "the MCP server mine own failed: :Eca mcp shows it"),
        Notify("warn", "the MCP server mine own failed: no such file, api_key=[hidden]"),
    ]


async def test_errors_that_differ_each_time_are_one_message(rig: Rig) -> None:
    agent = await rig.ready()
    for number in range(50):
        agent.announce(ToolServerChanged("mine", FAILED, error=f"refused after {number} ms"))
    failed = "the MCP server mine failed: refused after 0 ms"
    assert rig.view.of(Notify) == [Notify("warn", failed)]
    for number in range(300):  # nor does it end with names
        agent.announce(ToolServerChanged(f"mine {number}", FAILED))
    assert len(rig.view.of(Notify)) == incoming.MOST_WARNED


async def test_a_tool_server_that_needs_a_login_is_named_with_the_way_out(rig: Rig) -> None:
    agent = await rig.ready()
    for status in (ToolServerState.STARTING, *[ToolServerState.NEEDS_LOGIN] * 2, RUNNING):
        agent.announce(ToolServerChanged("mine", status))
    assert rig.view.of(Notify) == [Notify("warn", "the MCP server mine needs a login: :Eca login")]


async def test_other_code_is_told_what_has_changed_of_a_tool_server(rig: Rig) -> None:
    agent = await rig.ready()
    known = ToolServerChanged("mine", RUNNING, "mcp", (Tool("echo"),))
    for changed in (known, replace(known, prompts=(Offered("greet"),)), replace(known, tools=())):
        agent.announce(changed)
    told = {"name": "mine", "server_name": "eca", "status": "running", "kind": "mcp"}
    assert [op.told for op in rig.view.of(SetToolServer)] == [
        told | {"tools": 1},
        told | {"tools": 0},
    ]
    agent.end(AgentExit("gone"))
    await rig.view.until(lambda: len(rig.view.of(SetToolServer)) == 3)
    assert rig.view.of(SetToolServer)[-1].told["status"] == "removed"


async def test_commands_in_the_background_are_said_while_they_run(rig: Rig) -> None:
    agent = await rig.ready()
    long, ended = Job("x" * 99, id="2"), Job("true", JobState.COMPLETED, id="3")
    agent.announce(JobsChanged((Job("npm run\ndev", id="1"), ended)))
    assert rig.view.of(SetWork)[-1].titles == ("job: npm run dev",)
    agent.announce(
        JobsChanged((long, Job("npm run\ndev", id="1"), Job("ls", id="4", in_turn=True)))
    )
    (line,) = rig.view.of(SetWork)[-1].titles
    assert line == "2 jobs: npm run dev"
    agent.announce(JobsChanged((long,)))
    assert len(rig.view.of(SetWork)[-1].titles[0]) < 50
    agent.announce(JobsChanged(()))
    assert rig.view.of(SetWork)[-1] == SetWork(())
    agent.announce(JobsChanged((Job("sleep"),)))
    agent.end(AgentExit("gone"))
    await rig.view.until(lambda: rig.view.of(SetWork)[-1] == SetWork(()))


def header(rig: Rig) -> str:
    """Return the header that was drawn last."""
    return "".join(text for text, _ in rig.view.of(SetHeader)[-1].header)


async def test_a_job_is_shown_at_its_call_and_ends_with_its_agent(rig: Rig) -> None:
    agent = await rig.ready()
    rig.do(intents.SendPrompt("a", "go"))
    await rig.done()
    tool = ToolCall("t1", command="sleep 40")
    for event in (ToolRequested(tool), ToolRunning(tool), ToolFinished(tool), TurnEnded()):
        agent.announce(Addressed("a", event))
    unknown = Job("make", chat_id="gone", call_id="t1", id="2")
    agent.announce(JobsChanged((Job("sleep 40", chat_id="a", call_id="t1", id="1"), unknown)))
    listed = [(it["chat"], it["title"], it["state"]) for it in rig.view.of(SetJobs)[-1].jobs]
    assert listed == [("a", "sleep 40", "running"), ("gone", "make", "running")]
    assert header(rig) == "● $ sleep 40 in the background"
    agent.end(AgentExit("gone"))
    await rig.view.until(lambda: rig.view.of(SetWork)[-1] == SetWork(()))
    assert header(rig).startswith("⊘ $ sleep 40 in the background killed")


async def test_what_the_agent_can_do_is_known_in_every_chat_until_it_ends(rig: Rig) -> None:
    agent = await rig.ready()
    rig.do(intents.OpenChat("a"))
    await rig.done()
    agent.announce(AbilitiesChanged(ALL_ABILITIES - {Ability.FORK, Ability.STEER}))
    rig.do(intents.OpenChat("b"))
    await rig.done()
    lacks = {op.chat: op.status.get("lacks") for op in rig.view.of(SetStatus)}
    assert lacks["a"] == lacks["b"] == ["fork", "steer"]
    agent.end(AgentExit("gone"))
    await rig.view.until(lambda: "lacks" not in rig.view.of(SetStatus)[-1].status)


async def test_an_option_without_effect_is_said_when_the_server_starts(rig: Rig) -> None:
    rig.warnings = ("servers.eca.mcp has no effect",)
    await rig.ready()
    assert rig.view.of(Notify) == [Notify("warn", "servers.eca.mcp has no effect")]
