"""The tool servers of an ECA server: reports that come twice, late or never, and acting on them."""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import Any

import anyio
import pytest
from tests.agents.client import AgentClient, make_agent, running
from tests.support import script
from tests.support.factories import PrepareScript
from tests.support.recording import read_recording
from tests.support.screen import Value
from tests.support.servers import RECORDINGS

from eca_nvim.agents.abilities import AgentLacks, AgentRefused, Target, ToolServerAction
from eca_nvim.agents.eca import tool_servers
from eca_nvim.agents.eca.older.forms import read_notification
from eca_nvim.agents.eca.tool_servers import EcaToolServers
from eca_nvim.chat.vocabulary.agent_events import Offered, Tool, ToolServerChanged
from eca_nvim.chat.vocabulary.agent_events import ToolServerState as State
from eca_nvim.protocol.eca.tools import ToolServerUpdated

pytestmark = pytest.mark.anyio

ENABLE, START, STOP = ToolServerAction.ENABLE, ToolServerAction.START, ToolServerAction.STOP
RESTART, DISABLE = ToolServerAction.RESTART, ToolServerAction.DISABLE
NONE: Value = {"prompts": None, "resources": None}


def servers() -> EcaToolServers:
    nothing: Any = None
    return EcaToolServers(nothing, lambda _: None, (), {})


def tell(known: EcaToolServers, **said: Value) -> ToolServerChanged:
    """Tell of the server `s`; return what is known of it then."""
    update = read_notification("tool/serverUpdated", {"name": "s", **said})
    assert isinstance(update, ToolServerUpdated)
    known.updated(update)
    return known.known["s"]


def test_a_partial_report_completes_what_is_known() -> None:
    known = servers()
    echo = {"name": "echo", "description": "says", "parameters": {"a": 1}, "disabled": True}
    whole = {"type": "mcp", "status": "running", "tools": [echo], "command": "python3"}
    tell(known, **whole, args=["a b"], prompts=[{"name": "greet"}], resources=[{"uri": "u:1"}])
    after = tell(known, type="mcp", status="running", tools=[{"name": "other"}])
    assert after.tools == (Tool("other"),)
    assert after.prompts == (Offered("greet"),)
    assert after.resources == (Offered("u:1"),)
    assert after.command == ("python3", "a b")
    assert tell(known, status=None, tools=None) == after
    assert tell(known, status="running", tools=[], **NONE).prompts == ()  # told once it runs
    assert known.known["s"].tools == ()
    assert tell(known, status="dancing").status is State.UNKNOWN


def test_a_server_that_starts_again_keeps_what_it_offered() -> None:
    known = servers()
    offers = {"tools": [{"name": "echo", "description": "d"}], "prompts": [{"name": "greet"}]}
    tell(known, status="running", **offers)
    for said in (
        {"status": "starting", "tools": []},
        {"status": "running", "tools": [{"name": "n"}]},
    ):
        after = tell(known, **said, **NONE)
        assert (len(after.tools or ()), after.prompts) == (1, (Offered("greet"),))
    assert tell(known, status="failed", tools=[], **NONE).prompts == ()


def test_what_has_not_changed_is_not_told_and_one_that_is_gone_is_told_once() -> None:
    known = servers()
    told = ToolServerUpdated(name="s", status="running")
    assert [it.status for it in known.updated(told)] == [State.RUNNING]
    assert known.updated(told) == []
    assert [it.removed for it in known.removed("s")] == [True]
    assert known.removed("s") == []
    for status in ("failed", "stopped", "running", None):
        assert known.updated(ToolServerUpdated(name="s", status=status)) == []
    assert known.known == {}
    assert tell(known, status="starting").status is State.STARTING  # it is added again
    assert tell(known, status="failed").status is State.FAILED


@pytest.mark.parametrize(
    ("line", "error"),
    [
        (
            "12:00 ERROR - [MCP] Could not initialize MCP server s: error=2, No such file",
            "error=2, No such file",
        ),
        ("[MCP] Could not initialize MCP server s. Error: it ended", "Error: it ended"),
        ("[MCP] Unexpected error initializing MCP server s: boom", "boom"),
        ("[MCP] Initialization of MCP server s was interrupted", "was interrupted"),
        ("[MCP] Could not initialize MCP server s2: another", ""),
        ("[MCP] Started MCP server s", ""),
    ],
)
def test_why_a_server_has_failed_stands_on_standard_error(line: str, error: str) -> None:
    known = servers()
    known.said(line)
    assert tell(known, status="failed").error == error  # told before, and below after
    late = servers()
    tell(late, status="failed")
    late.said(line)
    assert late.known["s"].error == error
    assert tell(late, status="starting").error == ""


def test_the_real_server_starts_what_it_has_changed_twice_and_that_is_not_seen() -> None:
    """A whole recording: from `enable` on, nothing that runs is shown as stopped."""
    known = servers()
    seen: list[State] = []
    for event in read_recording(RECORDINGS / "mcp.jsonl"):
        method, params = event.message.get("method"), event.message.get("params") or {}
        if method == "mcp/enableServer":
            seen.clear()
        if method in ("mcp/enableServer", "mcp/updateServer"):
            known.changing(params["name"])
        if method == "mcp/removeServer" and params["name"] == "mockmcp":
            mock = known.known["mockmcp"]
        if method == "tool/serverRemoved":
            known.removed(params["name"])
        if method == "tool/serverUpdated":
            update = read_notification(method, params)
            assert isinstance(update, ToolServerUpdated)
            known.updated(update)
            of_mock = known.known.get("mockmcp")
            seen += [of_mock.status] if of_mock else []
    assert {*seen} == {State.RUNNING, State.RESTARTING}
    assert "failing" not in known.known  # that its start failed came after its removal
    assert (len(mock.tools or ()), len(mock.prompts), mock.command[-1]) == (2, 1, "v2")


def test_a_server_that_gets_no_environment_fails_at_last() -> None:
    """A recording: names of variables and headers were changed by the wire."""
    known = servers()
    seen: list[tuple[str, State]] = []
    for event in read_recording(RECORDINGS / "mcp_env.jsonl"):
        if event.message.get("method") == "tool/serverUpdated":
            update = read_notification("tool/serverUpdated", event.message["params"])
            assert isinstance(update, ToolServerUpdated)
            seen += [(it.name, it.status) for it in known.updated(update)]
    assert seen[1:] == [
        *(("envtest", State.STARTING), ("http1", State.STARTING)),
        *(("http1", State.FAILED), ("envtest", State.FAILED)),
    ]
    assert known.known["http1"].url == "http://127.0.0.1:1/mcp"


# --- acting, with a server that speaks the wire ---------------------------------------------------


def state(*statuses: str, name: str = "s", **more: Value) -> script.Steps:
    said = {"name": name, "type": "mcp", **more}
    return [*chain(*(script.send("tool/serverUpdated", said | {"status": it}) for it in statuses))]


def statuses(client: AgentClient) -> list[State]:
    return [it.status for it in client.all(ToolServerChanged)]


@pytest.mark.parametrize(
    ("before", "action", "played", "seen"),
    [
        (
            "stopped",
            START,
            [script.expect("mcp/startServer"), state("starting", "running")],
            ["starting", "running"],
        ),
        (
            "failed",
            START,
            [script.expect("mcp/startServer"), state("starting", "failed")],
            ["starting", "failed"],
        ),
        (
            "running",
            STOP,
            [script.expect("mcp/stopServer"), state("stopping", "stopped")],
            ["stopping", "stopped"],
        ),
        (
            *("disabled", ENABLE),
            [
                *(script.expect("mcp/enableServer"), state("starting", "running")),
                *(
                    state("stopping", "stopped", "starting", "running"),
                    state("stopping", name="end"),
                ),
            ],
            ["starting", "running", "restarting", "running", "stopping"],
        ),
        (
            *("running", DISABLE),
            [script.expect("mcp/disableServer"), state("stopping", "stopped", "disabled")],
            ["stopping", "stopped", "disabled"],
        ),
        (
            *("running", RESTART),
            [
                *(script.expect("mcp/stopServer"), state("stopping", "stopped")),
                *(script.expect("mcp/startServer"), state("starting", "running")),
            ],
            ["stopping", "stopped", "starting", "running"],
        ),
    ],
)
async def test_an_action_is_over_when_it_has_led_to_its_state(
    before: str,
    action: ToolServerAction,
    played: list[script.Steps],
    seen: list[str],
    scripted_server: PrepareScript,
    tmp_path: Path,
) -> None:
    server = scripted_server(script.handshake(), state(before), *played)
    async with running(make_agent(server.command, tmp_path)) as client:
        await client.until(lambda: statuses(client))
        await client.agent.tool_servers.do(action, "s")
        await client.until(lambda: len(statuses(client)) == len(seen) + 1)
        assert statuses(client)[1:] == seen


async def test_what_cannot_work_is_not_sent(scripted_server: PrepareScript, tmp_path: Path) -> None:
    server = scripted_server(
        script.handshake(), state("running", command="x"), state("disabled", name="t")
    )
    async with running(make_agent(server.command, tmp_path)) as client:
        await client.until(lambda: len(statuses(client)) == 2)
        known = client.agent.tool_servers
        for action, name, fault in (
            *((START, "s", "s is running: nothing to start"), (DISABLE, "t", "is disabled")),
            (STOP, "nope\n", "there is no MCP server nope any more"),
        ):
            with pytest.raises(AgentRefused, match=fault):
                await known.do(action, name)
        for work, fault in (
            (known.add("s", Target(("x",)), in_workspace=False), "an MCP server s already"),
            (known.change("nope", Target(("x",))), "there is no MCP server nope"),
            (known.change("s", Target(url="http://a")), "a command cannot become a url: remove s"),
            (known.remove("nope"), "there is no MCP server nope"),
        ):
            with pytest.raises(AgentRefused, match=fault):
                await work
    assert not [it for it in server.received() if str(it.get("method")).startswith("mcp/")]


async def test_a_server_that_starts_for_ever_is_started_again_and_not_waited_for(
    scripted_server: PrepareScript, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tool_servers, "STOP_SECONDS", 0.05)
    monkeypatch.setattr(tool_servers, "START_SECONDS", 0.05)
    server = scripted_server(
        *(script.handshake(), state("starting"), script.expect("mcp/stopServer")),
        *(script.expect("mcp/startServer"), state("starting", tools=[{"name": "new"}])),
    )
    async with running(make_agent(server.command, tmp_path)) as client:
        await client.until(lambda: statuses(client))
        with anyio.fail_after(20):
            await client.agent.tool_servers.do(RESTART, "s")
        assert statuses(client)[-1] is State.STARTING


async def test_servers_are_added_changed_and_removed_by_what_the_wire_does_not_change(
    scripted_server: PrepareScript, tmp_path: Path
) -> None:
    exists = "MCP server 'b' already exists"
    server = scripted_server(
        *(script.handshake(), state("running", name="ECA")),
        *(script.expect("mcp/addServer"), state("starting"), script.reply("mcp/addServer", {})),
        *(state("running"), script.expect("mcp/addServer")),
        *(
            script.fail("mcp/addServer", "invalid_request", exists),
            script.expect("mcp/updateServer"),
        ),
        *(
            state("stopping", "stopped", "starting", "running"),
            script.reply("mcp/updateServer", {}),
        ),
        *(script.expect("mcp/removeServer"), state("stopping", "stopped")),
        *(script.send("tool/serverRemoved", {"name": "s"}), script.reply("mcp/removeServer", {})),
        script.expect("mcp/addServer"),
        script.reply("mcp/addServer", {"error": {"code": "x", "message": "not\nthis"}}),
    )
    async with running(make_agent(server.command, tmp_path)) as client:
        await client.until(lambda: statuses(client))
        known = client.agent.tool_servers
        await known.add("s", Target(("python3", "-m", "a b")), in_workspace=True)
        with pytest.raises(AgentRefused, match=exists):
            await known.add("b", Target(url="https://b/mcp"), in_workspace=False)
        await known.change("s", Target(("python3",)))
        assert statuses(client)[-2:] == [State.RESTARTING, State.RUNNING]
        await known.remove("s")
        with pytest.raises(AgentRefused, match=r"^not this$"):
            await known.add("t", Target(("t",)), in_workspace=False)
    uri = tmp_path.as_uri()
    added = {"name": "s", "command": "python3", "args": ["-m", "a b"], "scope": "workspace"}
    assert [it["params"] for it in server.received("mcp/addServer")] == [
        added | {"workspaceUri": uri},
        {"name": "b", "url": "https://b/mcp", "scope": "global"},
        {"name": "t", "command": "t", "args": [], "scope": "global"},
    ]
    changed = {"name": "s", "command": "python3", "args": []}
    assert server.received("mcp/updateServer")[0]["params"] == changed


async def test_older_servers_start_and_stop_and_lack_the_rest(
    scripted_server: PrepareScript, tmp_path: Path
) -> None:
    old = {"chatBehaviors": ["agent"], "models": ["m"], "chatWelcomeMessage": "hi"}
    server = scripted_server(
        *(script.expect("initialize"), script.reply("initialize", old), state("running")),
        *(script.expect("mcp/stopServer"), state("stopped")),
    )
    async with running(make_agent(server.command, tmp_path)) as client:
        await client.until(lambda: statuses(client))
        known = client.agent.tool_servers
        await known.do(STOP, "s")
        with pytest.raises(AgentLacks, match="does not know mcp/enableServer"):
            await known.do(ENABLE, "s")
        with pytest.raises(AgentLacks, match="cannot add MCP servers"):
            await known.add("t", Target(("x",)), in_workspace=False)


async def test_the_files_that_configure_servers_are_those_of_the_workspace_and_the_users(
    tmp_path: Path,
) -> None:
    nothing: Any = None
    known = EcaToolServers(nothing, lambda _: None, ["/a"], {"XDG_CONFIG_HOME": "/c"})
    assert known.config_files == [Path("/a/.eca/config.json"), Path("/c/eca/config.json")]
    home = EcaToolServers(nothing, lambda _: None, [], {"HOME": str(tmp_path)})
    assert home.config_files == [tmp_path / ".config" / "eca" / "config.json"]
