"""The MCP servers of the option `mcp`, as an agent gets them."""

import json
import logging
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import pytest
from tests.agents.acp.acp_client import CHAT, make_agent, remembering, running
from tests.agents.acp.conftest import PrepareScript
from tests.agents.acp.scripted import Scripted
from tests.agents.acp.session_turns import BOUND, OLD, opens, refuses
from tests.support import acp_script as agent

from eca_nvim.agents.acp.setup import McpOptions
from eca_nvim.agents.base import NO_FURTHER_FOLDERS
from eca_nvim.chat.vocabulary.agent_events import MessageShown
from eca_nvim.protocol.acp.sessions import McpCapabilities
from eca_nvim.redaction import without_keys

SECRET: Final = "correct-horse"
FOLDER, PYTHON = str(Path(sys.executable).parent), Path(sys.executable).name
FAR = {"url": "https://example.com/mcp", "headers": {"X-Who": SECRET}}
OPTION: Final[dict[str, object]] = {
    "local": {"command": [PYTHON, "-V"], "env": {"WHO": SECRET}},
    "far": FAR,
    "old": {**FAR, "type": "sse"},
}
NAMED = [{"name": "X-Who", "value": SECRET}]
WIRE: Final = {
    "local": {
        "name": "local",
        "command": sys.executable,
        "args": ["-V"],
        "env": [{"name": "WHO", "value": SECRET}],
    },
    "far": {"type": "http", "name": "far", "url": FAR["url"], "headers": NAMED},
    "old": {"type": "sse", "name": "old", "url": FAR["url"], "headers": NAMED},
}
ALL = McpCapabilities(http=True, sse=True)


@pytest.fixture
def scripted(tmp_path: Path) -> Scripted:
    return Scripted(tmp_path)


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("can", "gets"),
    [
        ({"http": True}, ["far", "local"]),
        ({"sse": True, "http": True}, ["far", "local", "old"]),
    ],
)
async def test_an_agent_gets_what_it_can_use(
    scripted: Scripted,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    can: dict[str, bool],
    gets: list[str],
) -> None:
    caplog.set_level(logging.DEBUG, "eca_nvim")
    capabilities = {"mcpCapabilities": can}
    scripted.play([], initialize={"agentCapabilities": capabilities})
    made = make_agent(scripted.command, tmp_path, mcp=McpOptions("mine", OPTION, FOLDER))
    async with running(made) as client:
        await client.say("hi")
        lines = [it.text for it in client.all(MessageShown)]
    [opened] = [it["params"] for it in scripted.report if it.get("method") == "session/new"]
    assert opened["mcpServers"] == [WIRE[name] for name in gets]
    assert scripted.faults() == []
    assert [line.split()[0] for line in lines] == [
        f"servers.mine.mcp.{name}" for name in ("far", "old") if name not in gets
    ]
    assert "mcpServers" in caplog.text
    assert SECRET not in without_keys(caplog.text)
    assert SECRET not in str(lines)


@pytest.mark.anyio
async def test_each_way_to_open_a_session_names_the_same_servers(
    scripted_acp: PrepareScript, tmp_path: Path
) -> None:
    server = scripted_acp(
        agent.handshake(**agent.can("resume", "fork", load=True)),
        refuses("session/resume"), refuses("session/load"), agent.session(OLD), agent.turn(),
        opens("session/fork", agent.said("old", "text", "copy"), sessionId="copy"),
    )  # fmt: skip
    memory = remembering(BOUND, shown=True)
    mcp = McpOptions("mine", {"local": OPTION["local"]}, FOLDER)
    made = make_agent(server.command, tmp_path, memory=memory, mcp=mcp)
    async with running(made) as client:
        await client.say("hi")
        await client.agent.archive.fork(CHAT, None)
    for way in ("resume", "load", "new", "fork"):
        [opened] = server.received(f"session/{way}")
        assert opened["params"]["mcpServers"] == [WIRE["local"]]


@pytest.mark.anyio
@pytest.mark.parametrize("takes", [True, False])
async def test_only_an_agent_that_takes_further_folders_gets_them(
    scripted_acp: PrepareScript, tmp_path: Path, *, takes: bool
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    can = ["fork", "additionalDirectories"] if takes else ["fork"]
    server = scripted_acp(
        *(agent.handshake(**agent.can(*can)), agent.session(OLD), agent.turn()),
        opens("session/fork", agent.said("old", "text", "copy"), sessionId="copy"),
    )
    made = make_agent(server.command, tmp_path / "first")
    (tmp_path / "first").mkdir()
    async with running(made) as client:
        await client.say("hi")
        folder = made._workspace.folders.add(str(other))
        line = made.folder_changed(folder, removed=False)
        assert line == ("opens its next chat with" if takes else NO_FURTHER_FOLDERS)
        line = made.folder_changed(folder, removed=True)
        assert line == ("opens its next chat without" if takes else None)
        await client.agent.archive.fork(CHAT, None)
    for way, added in (("new", None), ("fork", [str(other)] if takes else None)):
        [opened] = server.received(f"session/{way}")
        assert opened["params"].get("additionalDirectories") == added


def usable(told: object) -> tuple[Sequence[object], list[str]]:
    return McpOptions("mine", {"it": told}, FOLDER).usable(ALL)


@pytest.mark.parametrize(
    ("told", "why"),
    [
        ({}, "it needs a command or a url"),
        (True, "it needs a command or a url"),
        ({"command": []}, "it needs a command or a url"),
        ({"url": "file:///etc"}, "its url must begin with https:// or http://"),
        ({"command": ["no-such\nprogram"]}, "'no-such\\nprogram' was not found"),
        ({"command": ["/no/such"]}, "'/no/such' was not found"),
        ({"command": ["tests"], "env": {"PATH": "/nowhere"}}, "'tests' was not found"),
    ],
)
def test_a_server_that_is_wrong_is_left_out_with_a_line(told: object, why: str) -> None:
    servers, [line] = usable(told)
    assert servers == ()
    assert line.startswith(f"servers.mine.mcp.it is left out: {why}")
    assert "\n" not in line


def test_a_project_brings_no_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "tool"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o700)
    monkeypatch.chdir(tmp_path)
    for command, path in (("./tool", "/bin"), ("tool", ".:/bin")):
        servers, [line] = usable({"command": [command], "env": {"PATH": path}})
        assert servers == ()
        assert "is not a program on PATH nor an absolute path" in line


def test_our_own_server_is_started_when_it_is_named() -> None:
    own = {"name": "editor", "command": "/python", "args": ["bridge", "socket"], "env": []}
    options = McpOptions("mine", {"editor": True}, editor=lambda: ("/python", "bridge", "socket"))
    assert json.loads(json.dumps(options.usable(ALL))) == [[own], []]
    assert McpOptions("mine", {"editor": False}, editor=_fails).usable(ALL) == ((), [])
    servers, [line] = McpOptions("mine", {"editor": True}, editor=_fails).usable(ALL)
    assert servers == ()
    assert line.endswith("mcp.editor is left out: it does not start, No space left on device")


def _fails() -> Sequence[str]:
    raise OSError(28, "No space left on device")
