"""How commands in terminals of ours end: by a stop, with their turn, and whoever else ends."""

from collections.abc import Callable
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest
from tests.agents.acp.acp_client import CHAT, AcpClient, make_agent, running
from tests.agents.acp.scripted import Scripted, Value
from tests.agents.acp.terminal_turns import (
    ALWAYS,
    KILL,
    READ,
    RELEASE,
    STUBBORN,
    WAIT,
    asks,
    chatting,
    create,
    request,
)
from tests.agents.client import TIMEOUT
from tests.support import processes

from eca_nvim.agents.acp.requests import terminals
from eca_nvim.agents.acp.requests.terminals import MOST_TERMINALS
from eca_nvim.chat.vocabulary.effects import Prompt
from eca_nvim.chat.vocabulary.events import (
    ToolOutput,
)

pytestmark = pytest.mark.anyio


async def stopped(client: AcpClient) -> None:
    client.agent.stop(CHAT)


async def forgotten(client: AcpClient) -> None:
    client.agent.forget(CHAT)


async def killed(client: AcpClient) -> None:
    client.agent.kill()


async def left(client: AcpClient) -> None:
    client.agent.leave()


async def closed(client: AcpClient) -> None:
    await client.agent.close()


async def died(client: AcpClient) -> None:
    assert client.agent._connection is not None
    processes.end([client.agent._connection.pid])


@pytest.mark.parametrize("end", [stopped, forgotten, killed, left, closed, died])
async def test_however_it_ends_no_command_is_left(
    scripted: Scripted, tmp_path: Path, marker: str, end: Callable[[AcpClient], Value]
) -> None:
    script = [asks(STUBBORN), create(STUBBORN), {"begin": WAIT}, {"wait": "session/cancel"}]
    scripted.play([*script, {"join": None}])
    async with running(make_agent(scripted.command, tmp_path)) as client:
        chat = await chatting(client, scripted)
        await chat.answer()
        await chat.prints("ready")
        commands = {it for it in processes.marked(marker) if is_command(it)}
        assert commands
        await end(client)
        if end is stopped:
            assert (await chat.ends())[-1] == {"signal": "SIGKILL"}
        if end in (killed, left):  # without the loop
            assert not processes.wait_gone(commands, TIMEOUT)
        assert not await anyio.to_thread.run_sync(processes.wait_gone, commands, TIMEOUT)


def is_command(pid: int) -> bool:
    return processes.command_line(pid).startswith("/bin/sh")


async def test_a_command_ends_with_its_turn(
    scripted: Scripted, tmp_path: Path, marker: str
) -> None:
    """The agent, which waits for it, learns that in the next turn."""
    scripted.play([asks(STUBBORN), create(STUBBORN), {"begin": WAIT}], [{"join": None}])
    async with running(make_agent(scripted.command, tmp_path)) as client:
        chat = await chatting(client, scripted)
        await chat.answer()
        await chat.ends()
        client.agent.prompt(Prompt(CHAT, "and?"))
        await client.until(lambda: len(client.ends) == 2)
    assert set(scripted.answers()[-1]) == {"signal"}


async def test_a_request_can_be_taken_back(scripted: Scripted, tmp_path: Path, marker: str) -> None:
    scripted.play(
        [
            asks(STUBBORN),
            create(STUBBORN),
            *({"begin": WAIT}, {"cancel": None}, {"join": None}),
            *({"begin": create("true")["request"]}, {"cancel": None}, {"join": None}),
            request(READ),
        ]
    )
    async with running(make_agent(scripted.command, tmp_path)) as client:
        chat = await chatting(client, scripted)
        await chat.answer()
        *_, wait, again, read = await chat.ends()
    assert (wait["code"], again["code"]) == (-32800, -32800)
    assert "exitStatus" not in read


async def test_a_question_about_a_command_is_closed_by_a_stop(
    scripted: Scripted, tmp_path: Path, marker: str
) -> None:
    scripted.play(
        [{"begin": create("true")["request"]}, {"wait": "session/cancel"}, {"join": None}]
    )
    async with running(make_agent(scripted.command, tmp_path)) as client:
        chat = await chatting(client, scripted)
        await client.until(lambda: chat.asked)
        client.agent.stop(CHAT)
        [refused] = await chat.ends()
    assert refused["code"] in (-32800, -32603)


async def test_a_command_that_waits_for_input_says_so_and_can_be_ended(
    scripted: Scripted, tmp_path: Path, marker: str
) -> None:
    line = "printf 'name? '; read -r name; echo no"
    scripted.play([asks(line), create(line), {"begin": WAIT}, {"wait": "session/cancel"}])
    async with running(make_agent(scripted.command, tmp_path)) as client:
        chat = await chatting(client, scripted)
        await chat.answer()
        await client.until(lambda: client.all(ToolOutput)[-1:] and _waits(client))
        assert client.agent.is_busy, "it must not be sent to sleep"
        client.agent.stop(CHAT)
        await chat.ends()
        with anyio.fail_after(TIMEOUT):
            while client.agent.is_busy:
                await anyio.lowlevel.checkpoint()


def _waits(client: AcpClient) -> bool:
    return client.all(ToolOutput)[-1].awaits_input


async def test_terminals_that_are_not_released_are_bounded(
    scripted: Scripted, tmp_path: Path, marker: str
) -> None:
    line = "sleep 300"
    many = [create(line)["request"]] * (MOST_TERMINALS + 2)
    scripted.play([asks(line), {"all": many}, request(RELEASE), create(line)])
    async with running(make_agent(scripted.command, tmp_path)) as client:
        chat = await chatting(client, scripted)
        await chat.answer(ALWAYS)
        answers = await chat.ends()
    refused = [it["error"] for it in answers if "error" in it]
    assert refused == ["32 commands run already: wait for one to end, or kill one"] * 2
    assert "terminalId" in answers[-1]


async def test_a_terminal_that_has_ended_makes_room(
    scripted: Scripted, tmp_path: Path, marker: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An agent that never releases, as after a stop, can run commands in all its turns."""
    monkeypatch.setattr(terminals, "MOST_TERMINALS", 2)
    one = [create("true"), request(WAIT)]
    first = [asks("true"), create("true"), request(WAIT), *one, *one, request(READ)]
    scripted.play(first)
    async with running(make_agent(scripted.command, tmp_path)) as client:
        chat = await chatting(client, scripted)
        await chat.answer(ALWAYS)
        answers = await chat.ends()
    assert [it for it in answers if "error" in it] == []
    assert len({it["terminalId"] for it in answers if "terminalId" in it}) == 3


async def test_a_chat_that_is_deleted_keeps_no_terminal(
    scripted: Scripted, tmp_path: Path, marker: str
) -> None:
    can: Value = {"agentCapabilities": {"sessionCapabilities": {"delete": {}}}}
    scripted.play([asks("true"), create("true"), request(WAIT)], initialize=can)
    async with running(make_agent(scripted.command, tmp_path)) as client:
        chat = await chatting(client, scripted)
        await chat.answer()
        await chat.ends()
        known = client.agent._running.terminals._known
        assert len(known) == 1, "the agent has not released it"
        await client.agent.archive.delete(CHAT)
        client.agent.forget(CHAT)
        assert not known


async def test_requests_that_wait_for_an_end_are_bounded(
    scripted: Scripted, tmp_path: Path, marker: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(terminals, "MOST_WAITS", 2)
    waits = [{"begin": WAIT}] * 3
    scripted.play([asks("sleep 300"), create("sleep 300"), *waits, request(KILL), {"join": None}])
    async with running(make_agent(scripted.command, tmp_path)) as client:
        chat = await chatting(client, scripted)
        await chat.answer()
        answers = await chat.ends()
    assert [it for it in answers if "error" in it] == [
        {"error": "too many requests wait", "code": -32603}
    ]
    assert len([it for it in answers if "signal" in it]) == 2
