"""Who offers an ECA server its models, with what the real server answered."""

from pathlib import Path

import anyio
import pytest
from tests.agents.client import AgentClient, make_agent, running
from tests.agents.test_eca_login import LIST, listed, recorded, refusal, updated
from tests.support import script
from tests.support.factories import PrepareScript
from tests.support.screen import Value

from eca_nvim.chat.vocabulary.agent_events import Model, Provider, ProvidersChanged, ProviderState
from eca_nvim.jsonrpc import METHOD_NOT_FOUND

pytestmark = pytest.mark.anyio


def known(client: AgentClient) -> dict[str, Provider]:
    return {it.id: it for it in client.all(ProvidersChanged)[-1].providers}


async def test_the_real_list_is_read_with_prices_per_million_tokens(
    scripted_server: PrepareScript, tmp_path: Path
) -> None:
    server = scripted_server(script.handshake(), listed(), updated("authenticated", source="env"))
    async with running(make_agent(server.command, tmp_path)) as client:
        await client.until(client.ready.is_set)
        await client.agent.providers.refresh()
        assert len(known(client)) == len(recorded(LIST)["providers"])
        mock = known(client)["mock"]
        assert (mock.state, mock.source) == (ProviderState.LOGGED_IN, "config")
        assert mock.models[0] == Model(
            "mock-1", "mock/mock-1", ("thinks", "sees images"), (1.0, 2.0)
        )
        assert mock.models[2].prices is None
        assert known(client)["ollama"].state is ProviderState.NOT_RUNNING
        await client.until(lambda: known(client)["anthropic"].source == "env")


async def test_a_report_that_overtakes_the_list_is_newer(
    scripted_server: PrepareScript, tmp_path: Path
) -> None:
    server = scripted_server(
        *(script.handshake(), listed(), updated("unauthenticated", "mock"), script.expect(LIST)),
        *(updated("authenticated"), script.reply(LIST, recorded(LIST))),
    )
    async with running(make_agent(server.command, tmp_path)) as client:
        await client.until(client.ready.is_set)
        await client.agent.providers.refresh()
        await client.until(lambda: known(client)["mock"].state is ProviderState.LOGGED_OUT)
        await client.agent.providers.refresh()
        assert known(client)["anthropic"].state is ProviderState.LOGGED_IN
        assert known(client)["mock"].state is ProviderState.LOGGED_IN  # listed after its report


@pytest.mark.parametrize(
    ("answer", "line"),
    [
        (script.fail(LIST, METHOD_NOT_FOUND, "?"), "no providers: send the prompt /login"),
        (script.fail(LIST, -32603, "Internal error"), ":Eca log may say why"),
    ],
)
async def test_a_server_that_cannot_list_them_says_so(
    answer: script.Steps, line: str, scripted_server: PrepareScript, tmp_path: Path
) -> None:
    server = scripted_server(script.handshake(), script.expect(LIST), answer)
    async with running(make_agent(server.command, tmp_path)) as client:
        await client.until(client.ready.is_set)
        assert line in await refusal(client.agent.providers.refresh())
        assert not client.all(ProvidersChanged)


async def test_odd_values_are_read(scripted_server: PrepareScript, tmp_path: Path) -> None:
    cost: Value = {"input": -1, "output": 1e-6}
    model = {"id": "m", "cost": cost, "capabilities": {"tools": False}}
    odd: Value = {"id": "x", "auth": {"status": "new"}, "models": [model, model, {"id": ""}]}
    twice = {"providers": [{"id": ""}, odd, odd, {"id": "y", "settings": {"url": 7}}]}
    server = scripted_server(script.handshake(), script.expect(LIST), script.reply(LIST, twice))
    async with running(make_agent(server.command, tmp_path)) as client:
        await client.until(client.ready.is_set)
        with anyio.fail_after(10):
            await client.agent.providers.refresh()
        assert [*known(client)] == ["x", "y"]
        assert known(client)["x"].models == (Model("m", "x/m", ("uses no tools",)),)
        assert known(client)["x"].state is ProviderState.UNKNOWN
