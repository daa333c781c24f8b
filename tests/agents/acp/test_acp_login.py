"""Logging in to an ACP agent: its ways as real agents describe them, and what each leads to."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import anyio
import pytest
from tests.agents.acp.acp_client import CHAT, make_agent, running
from tests.agents.acp.conftest import PrepareReplay, PrepareScript
from tests.agents.acp.no_process import NoProcess
from tests.agents.client import TIMEOUT
from tests.support import acp_script as agent
from tests.support import script
from tests.support.replay_acp import read_lives
from tests.support.servers import ACP_RECORDINGS, PROGRAM

from eca_nvim.agents.abilities import AgentRefused, LoginCommand, LoginEnd
from eca_nvim.agents.acp import login
from eca_nvim.agents.acp.link import Program
from eca_nvim.agents.acp.login import Logins
from eca_nvim.chat.vocabulary.login import LoginNeeded
from eca_nvim.chat.vocabulary.options import AbilitiesChanged, Ability
from eca_nvim.protocol.acp import decode_result
from eca_nvim.protocol.acp.lifecycle import InitializeParams

pytestmark = pytest.mark.anyio

COPILOT = "/agent/inst/copilot/node_modules/@github/copilot-linux-x64/copilot"
WAYS: Mapping[str, Mapping[str, str]] = {
    "claudezed-todo": {"claude-login": "Run `claude /login` in the terminal"},
    "codexzed-noauth": {
        "chatgpt": "Use your ChatGPT login with Codex CLI (requires a paid ChatGPT subscription)",
        "codex-api-key": "Requires setting the `CODEX_API_KEY` environment variable.",
        "openai-api-key": "needs $OPENAI_API_KEY, not set",
    },
    "copilot-init": {"copilot-login": f"runs {COPILOT} login"},
    "qwen-noauth": {
        "openai": "runs node agent.js --auth-type=openai",
        "qwen-oauth": "runs node agent.js --auth-type=qwen-oauth",
    },
    "sdkexample-text": {},
}
REFUSED = [*script.expect("session/new"), *script.fail("session/new", -32000, "Auth\nrequired")]


class User:
    """A user who agrees to everything; `code`: the exit code of programs."""

    def __init__(self, code: int = 0) -> None:
        self.code = code
        self.commands: list[LoginCommand] = []
        self.waits: list[str] = []

    async def choose(self, question: str, offers: Sequence[tuple[str, str]]) -> int:
        raise AssertionError((question, offers))

    async def type(self, question: str, *, secret: bool) -> str:
        raise AssertionError((question, secret))

    async def run(self, command: LoginCommand) -> int:
        self.commands.append(command)
        return self.code

    def tell(self, text: str) -> None:
        raise AssertionError(text)

    def wait(self, text: str) -> None:
        self.waits.append(text)


def logins_of(introduction: object, environment: Mapping[str, str] | None = None) -> Logins:
    program = Program(("node", "agent.js", "--acp"), environment or {}, "/workspace")
    logins = Logins(NoProcess(program=program))
    logins.methods = decode_result(InitializeParams, introduction).auth_methods
    return logins


def introduction_of(recording: str) -> object:
    told = read_lives(ACP_RECORDINGS / f"{recording}.jsonl")[0]
    return next(it for it in told if it.direction == "s2c").message["result"]


def introduces(**way: object) -> dict[str, Any]:
    return {"protocolVersion": 1, "authMethods": [{"id": "x", "name": "A\nway", **way}]}


@pytest.mark.parametrize("name", WAYS)
def test_the_ways_of_real_agents(name: str) -> None:
    logins = logins_of(introduction_of(name), {"CODEX_API_KEY": "k"})
    assert {it.id: it.about for it in logins.ways()} == WAYS[name]
    assert all("\n" not in it.name for it in logins.ways())


@pytest.mark.parametrize(
    ("way", "command"),
    [
        (
            {"type": "terminal", "args": ["login"], "env": {"A": "b", "NVIM": "/tmp/nvim"}},
            ("node", "agent.js", "--acp", "login"),
        ),
        ({"_meta": {"type": "terminal", "args": ["login"]}}, ("node", "agent.js", "login")),
        ({"_meta": {"terminal-auth": {"command": "/x", "args": ["in"]}}}, ("/x", "in")),
    ],
    ids=["of the protocol", "of qwen", "of copilot"],
)
async def test_a_login_in_a_terminal(way: dict[str, Any], command: tuple[str, ...]) -> None:
    mine = {"KEY": "of mine", "ODD": "\udcff"}
    logins, user = logins_of(introduces(**way), mine), User()
    assert await logins.log_in("x", user) is LoginEnd.RESTART
    [run] = user.commands
    assert (run.command, run.folder) == (command, "/workspace")
    assert run.environment == {"KEY": "of mine", **run.added, "NVIM": ""}
    for code, told in ((3, "exit code 3"), (-1, "its terminal was closed")):
        with pytest.raises(AgentRefused, match=told):
            await logins.log_in("x", User(code))


async def test_a_missing_variable_is_named() -> None:
    needs = [{"name": "ONE"}, {"name": "TWO"}, {"name": "MAYBE", "optional": True}]
    logins = logins_of(introduces(type="env_var", vars=needs), {"ONE": "1"})
    with pytest.raises(AgentRefused, match=r"reads \$TWO, which is not set.*:Eca restart"):
        await logins.log_in("x", User())
    with pytest.raises(AgentRefused, match="there is no login 'y', but: x"):
        await logins.log_in("y", User())


@pytest.mark.parametrize("name", ["codexzed-noauth", "qwen-noauth"])
async def test_a_recorded_agent_wants_a_login(
    name: str, replay_acp: PrepareReplay, tmp_path: Path
) -> None:
    recording = replay_acp(name)
    async with running(make_agent(recording.command, tmp_path)) as client:
        client.agent.open_chat(CHAT)
        needed = await client.first(LoginNeeded)
        assert "Authentication required" in needed.reason
        ways = [way.id for way in await client.agent.login_ways()]
        assert ways == [*WAYS[name]]
        [can] = client.all(AbilitiesChanged)
        assert Ability.LOGIN in can.abilities
        assert (Ability.LOGOUT in can.abilities) == (name == "codexzed-noauth")


async def test_an_agent_that_logs_in_by_itself(
    scripted_acp: PrepareScript, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    way = {"id": "x", "name": "Account", "description": "Run `agent login`"}
    can = {"authMethods": [way], "agentCapabilities": {"auth": {"logout": {}}}}
    server = scripted_acp(
        agent.handshake(**can), REFUSED,
        script.expect("authenticate"), script.fail("authenticate", -32603, "closed\x1b[0m"),
        script.expect("authenticate"), script.expect("$/cancel_request"),
        script.expect("authenticate"), script.reply("authenticate", {}), agent.session(),
        script.expect("logout"), script.reply("logout", {}),
        script.expect("authenticate"), script.leave(3),
    )  # fmt: skip
    async with running(make_agent(server.command, tmp_path)) as client:
        user = User()
        client.agent.open_chat(CHAT)
        await client.first(LoginNeeded)
        with pytest.raises(AgentRefused, match=r"Account: closed.* \(Run `agent login`\)"):
            await client.agent.login("x", user)
        with monkeypatch.context() as impatient:
            impatient.setattr(login, "AUTHENTICATE_SECONDS", 0.05)
            with pytest.raises(AgentRefused, match="no answer after"):
                await client.agent.login("x", user)
        assert await client.agent.login("x", user) is LoginEnd.REPEATABLE
        assert user.waits == [f"{PROGRAM} logs in: Account"] * 3
        client.agent.open_chat(CHAT)
        await client.agent.logout()
        with pytest.raises(AgentRefused, match="the agent has ended"):
            with anyio.fail_after(TIMEOUT):
                await client.agent.login("x", user)
    assert [it["params"] for it in server.received("logout")] == [{}]
    assert len(server.received("session/new")) == 2
    assert json.loads(json.dumps(server.received("authenticate")[0]["params"])) == {"methodId": "x"}
