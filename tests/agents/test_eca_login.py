"""Logging in to a provider of an ECA server, with what the real server answered."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from pathlib import Path

import anyio
import pytest
from tests.agents.client import AgentClient, make_agent, running
from tests.support import script
from tests.support.factories import PrepareScript
from tests.support.recording import read_recording
from tests.support.screen import Value
from tests.support.servers import RECORDINGS

from eca_nvim.agents.abilities import AgentLacks, AgentRefused, LoginCommand, LoginEnd
from eca_nvim.agents.eca.login import steps as login
from eca_nvim.chat.vocabulary.agent_events import ToolServerChanged
from eca_nvim.jsonrpc import METHOD_NOT_FOUND

pytestmark = pytest.mark.anyio

LIST, LOGIN, INPUT, LOGOUT = (f"providers/{it}" for it in ("list", "login", "loginInput", "logout"))
URL = "https://claude.ai/oauth/authorize?code=true&state=" + "x" * 400


class User:
    """A user who takes the last offer and types what is prepared."""

    def __init__(self, *typed: str) -> None:
        self._typed = list(typed)
        self.secrets: list[str] = []
        self.asked: list[str] = []
        self.told: list[str] = []
        self.waits = anyio.Event()

    async def choose(self, question: str, offers: Sequence[tuple[str, str]]) -> int:
        self.asked.append(question)
        return len(offers) - 1

    async def type(self, question: str, *, secret: bool) -> str:
        self.asked.append(question)
        self.secrets += [question] if secret else []
        return self._typed.pop(0)

    async def run(self, command: LoginCommand) -> int:
        raise AssertionError(command)

    def tell(self, text: str) -> None:
        self.told.append(text)

    def wait(self, text: str) -> None:  # noqa: ARG002
        self.waits.set()


def recorded(method: str, /, **params: str) -> Value:
    """Return what the real server answered to a request with these parameters."""
    events = [event.message for event in read_recording(RECORDINGS / "providers.jsonl")]
    asked = [it for it in events if it.get("method") == method]
    number = next(it["id"] for it in asked if params.items() <= it["params"].items())
    return next(it["result"] for it in events if it.get("id") == number and "result" in it)


def answers(method: str, result: Value) -> script.Steps:
    return [*script.expect(method), *script.reply(method, result)]


def listed() -> script.Steps:
    return answers(LIST, recorded(LIST))


def updated(status: str, provider: str = "anthropic", **auth: str) -> script.Steps:
    told = {"id": provider, "auth": {"status": status, **auth}}
    return script.send("providers/updated", told)


def begins(step: Value) -> script.Steps:
    """Begin a login with a step, as the server does with a provider that it has."""
    return [*listed(), *answers(LOGIN, step)]


async def refusal(asking: Awaitable[object]) -> str:
    with pytest.raises(AgentRefused) as refused:
        await asking
    return str(refused.value)


async def test_a_name_that_the_list_lacks_is_never_sent(
    scripted_server: PrepareScript, tmp_path: Path
) -> None:
    """The server would store it as a provider, and `null` would break its list for good."""
    server = scripted_server(script.handshake(), *[listed()] * 3)
    async with running(make_agent(server.command, tmp_path)) as client:
        await client.until(client.ready.is_set)
        for asking in (client.agent.login("nope\n", User()), client.agent.logout("nope\n")):
            told = await refusal(asking)
            assert told.startswith("there is no login 'nope', but: anthropic, azure, deepseek,")
        assert "no login 'mock'" in await refusal(client.agent.logout("mock"))
        assert "which provider" in await refusal(client.agent.logout())
    assert not server.received(LOGIN)
    assert not server.received(LOGOUT)


@pytest.mark.parametrize(
    ("reported", "told"),
    [
        (updated("unauthenticated", "z-ai"), None),
        ([], None),
        (
            updated("authenticated", "z-ai", source="config"),
            "remove its key from ECA's config file",
        ),
        (updated("authenticated", "z-ai", source="env", envVar="Z_KEY"), "$Z_KEY"),
        (updated("local", "z-ai"), "the server reports local"),
    ],
)
async def test_a_logout_says_what_the_server_reports(
    reported: script.Steps, told: str | None, scripted_server: PrepareScript, tmp_path: Path
) -> None:
    out = [*script.expect(LOGOUT), *reported, *script.reply(LOGOUT, {})]
    server = scripted_server(script.handshake(), listed(), out)
    async with running(make_agent(server.command, tmp_path)) as client:
        await client.until(client.ready.is_set)
        still = await client.agent.logout("z-ai")
        assert (still is None) is (told is None)
        assert told is None or told in str(still)


async def test_an_empty_key_is_not_sent(scripted_server: PrepareScript, tmp_path: Path) -> None:
    """The server would replace the stored key by it."""
    fields = recorded(LOGIN, provider="deepseek")
    asks = [*listed(), *answers(LOGIN, fields)]
    server = scripted_server(script.handshake(), asks, asks, answers(INPUT, {"action": "done"}))
    async with running(make_agent(server.command, tmp_path)) as client:
        await client.until(client.ready.is_set)
        told = await refusal(client.agent.login("deepseek", User(" \n")))
        assert told == "deepseek: API Key: nothing was typed, and nothing is sent"
        user = User("sk-test", "")
        await client.agent.login("deepseek", user)
        assert user.secrets == ["deepseek: API Key"]
    assert server.received(INPUT)[0]["params"]["data"] == {"api-key": "sk-test", "models": ""}


async def test_a_failing_list_names_the_log(scripted_server: PrepareScript, tmp_path: Path) -> None:
    fails = [*script.expect(LIST), *script.fail(LIST, -32603, "Internal error")]
    server = scripted_server(script.handshake(), fails)
    async with running(make_agent(server.command, tmp_path)) as client:
        await client.until(client.ready.is_set)
        told = await refusal(client.agent.login_ways())
    assert told == "providers/list failed: Internal error; :Eca log may say why"


async def test_a_server_that_ends_is_told(scripted_server: PrepareScript, tmp_path: Path) -> None:
    server = scripted_server(script.handshake(), [*script.expect(LIST), *script.leave(3)])
    async with running(make_agent(server.command, tmp_path)) as client:
        await client.until(client.ready.is_set)
        assert "the server is gone" in await refusal(client.agent.login("anthropic", User()))


async def test_a_key_is_typed_and_sent(scripted_server: PrepareScript, tmp_path: Path) -> None:
    server = scripted_server(
        *(script.handshake(), answers(LIST, recorded(LIST))),
        *(listed(), answers(LOGIN, recorded(LOGIN, provider="openai"))),
        answers(LOGIN, recorded(LOGIN, provider="openai", method="api-key")),
        *(answers(INPUT, recorded(INPUT, provider="openrouter")), listed()),
        answers(LOGOUT, recorded(LOGOUT, provider="openrouter")),
    )
    async with running(make_agent(server.command, tmp_path)) as client:
        await client.until(client.ready.is_set)
        ways = {way.id: way for way in await client.agent.login_ways()}
        assert ways["anthropic"].name == "Anthropic"
        assert ways["anthropic"].about == "unauthenticated"
        assert ways["anthropic"].logged_in is False
        user = User(" sk-test \n")
        assert await client.agent.login("openai", user) is LoginEnd.DONE
        assert user.asked == ["Log in to openai", "openai: API Key"]
        assert await client.agent.logout("openai") is None
        with pytest.raises(AgentRefused, match="which provider"):
            await client.agent.logout()
    assert [it["params"] for it in server.received(LOGIN)] == [
        {"provider": "openai"},
        {"provider": "openai", "method": "manual"},
    ]
    sent = {"provider": "openai", "data": {"api-key": "sk-test"}}
    assert server.received(INPUT)[0]["params"] == sent
    assert server.received(LOGOUT)[0]["params"] == {"provider": "openai"}


async def in_browser(client: AgentClient, user: User) -> None:
    """Log in as a user who has opened the page once it is waited for."""
    async with anyio.create_task_group() as tasks:

        async def go_on() -> None:
            await user.waits.wait()
            client.agent._connection.notify("go")  # type: ignore[attr-defined]

        tasks.start_soon(go_on)
        assert await client.agent.login("anthropic", user) is LoginEnd.DONE


async def test_a_login_in_a_browser_shows_the_link_whole(
    scripted_server: PrepareScript, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = {"action": "authorize", "url": URL, "message": "Log in\nthere"}
    device = {"action": "device-code", "url": "https://github.com/login/device", "code": "AB-12"}
    code = page | {"fields": [{"key": "code", "label": "Code", "type": "secret"}]}
    server = scripted_server(
        *(script.handshake(), begins(page)),
        *(script.expect("go"), updated("unauthenticated"), updated("authenticated", "other")),
        *(updated("authenticated"), begins(device), script.expect("go")),
        *(updated("authenticated"), begins(code), answers(INPUT, {"action": "done"})),
        *(begins(page), begins({"action": "dance"})),
        begins(page | {"url": r"https://evil.example\@claude.ai/"}),
        *(script.expect(LIST), script.fail(LIST, METHOD_NOT_FOUND, "no such method")),
    )
    async with running(make_agent(server.command, tmp_path)) as client:
        await client.until(client.ready.is_set)
        first, second, third = User(), User(), User("the code")
        await in_browser(client, first)
        assert first.told == [f"Log in there\nclaude.ai:\n{URL}"]
        await in_browser(client, second)
        assert "github.com:\nhttps://github.com/login/device" in second.told[0]
        assert "AB-12" in second.told[0]
        assert await client.agent.login("anthropic", third) is LoginEnd.DONE
        assert third.told == first.told
        with monkeypatch.context() as impatient:
            impatient.setattr(login, "BROWSER_SECONDS", 0.05)
            with pytest.raises(AgentRefused, match="no login after"):
                await client.agent.login("anthropic", User())
        for _ in ("a dance", "a page that browsers take for one of another host"):
            with pytest.raises(AgentRefused, match="a step that this client cannot do"):
                await client.agent.login("anthropic", User())
        with pytest.raises(AgentLacks, match="send the prompt /login"):
            await client.agent.login("anthropic", User())
    sent = {"provider": "anthropic", "data": {"code": "the code"}}
    assert server.received(INPUT)[0]["params"] == sent


def server_state(status: str, *, has_auth: bool = False) -> script.Steps:
    state = {"name": "notes", "type": "mcp", "status": status, "hasAuth": has_auth}
    return script.send("tool/serverUpdated", state)


@pytest.mark.parametrize("end", ["running", "failed"])
async def test_an_mcp_server_is_logged_in_to_in_the_servers_browser(
    scripted_server: PrepareScript, tmp_path: Path, end: str
) -> None:
    server = scripted_server(
        *(script.handshake(), server_state("requires-auth"), answers(LIST, recorded(LIST))),
        *(script.expect("mcp/connectServer"), server_state("starting")),
        *(server_state("starting", has_auth=True), server_state(end, has_auth=True)),
        *(script.expect("mcp/logoutServer"), server_state("requires-auth")),
    )
    async with running(make_agent(server.command, tmp_path)) as client:
        await client.until(lambda: client.all(ToolServerChanged))
        way = (await client.agent.login_ways())[0]
        told = ("mcp:notes", "notes (MCP server)", "requires-auth", False)
        assert (way.id, way.name, way.about, way.logged_in) == told
        user = User()
        if end == "running":
            assert await client.agent.login("mcp:notes", user) is LoginEnd.DONE
            with pytest.raises(AgentRefused, match=r"nothing to log in to: .* notes is running"):
                await client.agent.login("mcp:notes", user)
        else:
            with pytest.raises(AgentRefused, match="not logged in: the MCP server notes"):
                await client.agent.login("mcp:notes", user)
        assert user.waits.is_set()
        assert await client.agent.logout("mcp:notes") is None
        assert client.all(ToolServerChanged)[-1].status == "requires-auth"
        with pytest.raises(AgentRefused, match=r"you are not logged in: .* is requires-auth"):
            await client.agent.logout("mcp:notes")
    assert server.received("mcp/connectServer")[0]["params"] == {"name": "notes"}


REMOVED: script.Steps = script.send("tool/serverRemoved", {"name": "notes"})


@pytest.mark.parametrize(
    ("reported", "told"),
    [
        ([*server_state("stopped"), *server_state("requires-auth")], None),
        ([*server_state("stopping"), *REMOVED], None),
        ([*server_state("starting"), *server_state("running")], "reports running."),
        (server_state("stopping"), "has not started again since."),
        ([], "has not started again since."),
    ],
)
async def test_a_logout_of_an_mcp_server_says_what_is_reported_after_it(
    reported: script.Steps,
    told: str | None,
    scripted_server: PrepareScript,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(login, "LOGOUT_SECONDS", 2.0)
    other = script.send("tool/serverUpdated", {"name": "other", "status": "running"})
    server = scripted_server(
        *(script.handshake(), server_state("running", has_auth=True)),
        *(script.expect("mcp/logoutServer"), other, reported, answers(LIST, recorded(LIST))),
    )
    async with running(make_agent(server.command, tmp_path)) as client:
        await client.until(lambda: client.all(ToolServerChanged))
        still = await client.agent.logout("mcp:notes")
        ways = {way.id: way.logged_in for way in await client.agent.login_ways()}
    assert still == (told and f"You may still be logged in: the MCP server notes {told}")
    assert ways.get("mcp:notes", False) is (told is not None)


async def test_a_cancelled_login_does_not_leave_an_mcp_server_waiting(
    scripted_server: PrepareScript, tmp_path: Path
) -> None:
    server = scripted_server(
        *(script.handshake(), server_state("requires-auth"), script.expect("mcp/connectServer")),
        *(server_state("starting"), script.expect("mcp/logoutServer")),
        server_state("requires-auth"),
    )
    async with running(make_agent(server.command, tmp_path)) as client:
        await client.until(lambda: client.all(ToolServerChanged))
        user = User()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client.agent.login, "mcp:notes", user)
            await user.waits.wait()
            tasks.cancel_scope.cancel()
        told = client.all(ToolServerChanged)
        await client.until(lambda: told[-1] != client.all(ToolServerChanged)[-1])
        assert client.all(ToolServerChanged)[-1].status == "requires-auth"
    assert server.received("mcp/logoutServer")[0]["params"] == {"name": "notes"}
