"""The close ladder, with an event loop and without one."""

import os
import signal
from collections.abc import Sequence
from typing import cast

import anyio
import pytest
from tests.support import processes
from tests.transport.harness import DEADLINE_S, Children, Inbox

from eca_nvim.guardian import GRACE_S
from eca_nvim.system import HAS_PROC
from eca_nvim.transport import Goodbye, process

pytestmark = pytest.mark.anyio

RUNGS = [
    pytest.param(["echo"], (0, None), id="standard input closed"),
    pytest.param(["stays"], (None, signal.SIGTERM), id="SIGTERM"),
    pytest.param(["stays", "stubborn"], (None, signal.SIGKILL), id="SIGKILL"),
]
GOODBYE = (Goodbye("shutdown", is_request=True), Goodbye("exit"))
SERVERS = pytest.mark.parametrize(("server", "ending"), RUNGS)


@pytest.fixture(params=["pidfd", "thread"])
def waiting(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for the exit as on Linux, and as where there are no process descriptors."""

    def refuse(pid: int, flags: int = 0) -> int:
        raise PermissionError(pid)

    if request.param == "thread":
        monkeypatch.setattr("os.pidfd_open", refuse)


@SERVERS
@pytest.mark.usefixtures("waiting")
async def test_each_server_ends_on_its_rung(
    children: Children,
    server: list[str],
    ending: tuple[int | None, int | None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    inbox = Inbox()
    polite, stubborn = server == ["echo"], "stubborn" in server
    monkeypatch.setattr(process, "GRACE_S", GRACE_S if stubborn else DEADLINE_S)
    async with children.open(inbox, *server) as connection:
        if not polite:
            await inbox.wait_for("ready")
        with anyio.fail_after(DEADLINE_S):
            ended = await connection.aclose(DEADLINE_S if polite else GRACE_S)
    assert (ended.code, ended.signal) == ending
    assert not processes.marked(children.marker)


async def test_a_polite_server_ends_at_once(children: Children) -> None:
    async with children.open(Inbox(), "echo") as connection:
        await connection.request("m")
        with anyio.fail_after(DEADLINE_S):
            assert (await connection.aclose(10 * DEADLINE_S)).code == 0


@SERVERS
@pytest.mark.usefixtures("waiting")
async def test_each_server_can_be_ended_without_a_loop(
    children: Children,
    server: list[str],
    ending: tuple[int | None, int | None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    inbox = Inbox()
    grace = {"echo": DEADLINE_S, "stays": 1.5, "stays stubborn": GRACE_S}[" ".join(server)]
    monkeypatch.setattr(process, "GRACE_S", grace)
    async with children.open(inbox, *server) as connection:
        if server != ["echo"]:
            await inbox.wait_for("ready")
        connection.kill_now()
        assert not processes.wait_gone(processes.marked(children.marker), DEADLINE_S)
        with anyio.fail_after(DEADLINE_S):
            ended = await connection.wait_closed()
        connection.kill_now()
    assert (ended.code, ended.signal) == ending


@pytest.mark.usefixtures("patient")
async def test_last_words_need_no_loop(children: Children) -> None:
    inbox = Inbox()
    async with children.open(inbox, "echo") as connection:
        await connection.request("m")
        connection.send_now(GOODBYE)
        connection.kill_now()
        connection.send_now(GOODBYE)
    assert inbox.methods == ["exit"]


async def test_what_a_server_leaves_in_its_group_is_ended(children: Children) -> None:
    inbox = Inbox()
    async with children.open(inbox, "forks") as connection:
        await inbox.wait_for("ready")
        assert len(processes.marked(children.marker)) == 2
        with anyio.fail_after(DEADLINE_S):
            assert (await connection.aclose(DEADLINE_S)).code == 0
    assert not processes.wait_gone(processes.marked(children.marker), DEADLINE_S)


async def test_what_a_server_leaves_in_its_group_is_ended_without_a_loop(
    children: Children,
) -> None:
    inbox = Inbox()
    async with children.open(inbox, "forks") as connection:
        await inbox.wait_for("ready")
        connection.kill_now()
        assert not processes.wait_gone(processes.marked(children.marker), DEADLINE_S)


@pytest.mark.parametrize("how", ["close", "kill", "crash"])
@pytest.mark.skipif(not HAS_PROC, reason="there is no /proc")
async def test_a_command_in_its_own_session_ends_with_the_server_and_a_daemon_stays(
    children: Children, how: str
) -> None:
    inbox = Inbox()
    async with children.open(inbox, "strays") as connection:
        command, daemon = cast(Sequence[int], (await inbox.wait_for("ready")).params)
        with anyio.fail_after(DEADLINE_S):
            match how:
                case "close":
                    await connection.aclose()
                case "kill":
                    connection.kill_now()
                case _:
                    os.kill(connection.pid, signal.SIGKILL)
    assert not processes.wait_gone({command}, DEADLINE_S)
    assert processes.wait_gone({daemon}, 0) == {daemon}
    processes.end({daemon})


@pytest.mark.usefixtures("patient")
async def test_closing_twice_at_once_is_closing_once(children: Children) -> None:
    inbox = Inbox()
    async with children.open(inbox, "stays") as connection:
        await inbox.wait_for("ready")
        with anyio.fail_after(DEADLINE_S):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(connection.aclose)
                tasks.start_soon(connection.aclose)
    assert connection.exit is not None
    assert connection.exit.signal == signal.SIGTERM
