"""How a connection ends: by the server, by us, by an error of ours; no process is left."""

import signal

import anyio
import pytest
from anyio.abc import TaskGroup
from tests.support import processes
from tests.transport.harness import DEADLINE_S, Children, Inbox

from eca_nvim.transport import Connection, ConnectionClosed, Exit, Incoming, PendingRequest

pytestmark = pytest.mark.anyio

LAST_WORDS = ("first \ufffd", "Exception in thread main", "no line end")


async def test_an_exit_is_told_with_its_code_and_last_lines(children: Children) -> None:
    inbox = Inbox()
    lines: list[str] = []
    async with children.open(inbox, "dies", on_stderr=lines.append) as connection:
        pid = connection.pid
        with anyio.fail_after(DEADLINE_S), pytest.raises(ConnectionClosed) as raised:
            await connection.request("m")
        assert raised.value.exit == Exit(3, None, LAST_WORDS)
        assert str(raised.value) == "the server is gone: exit code 3"
        assert connection.exit is await connection.wait_closed()
        assert inbox.methods == ["last words"]
        assert tuple(lines) == LAST_WORDS
        assert not await anyio.Path(f"/proc/{pid}").exists()


async def test_a_crash_is_told_with_its_signal(children: Children) -> None:
    async with children.open(Inbox(), "dies", "crash") as connection:
        connection.notify("m")
        with anyio.fail_after(DEADLINE_S):
            ending = await connection.wait_closed()
    assert (ending.code, ending.signal) == (None, signal.SIGABRT)
    assert str(ending) == "signal 6 (Aborted)"


async def test_all_who_wait_are_woken(children: Children) -> None:
    woken: list[int] = []

    async def ask(connection: Connection, number: int) -> None:
        with pytest.raises(ConnectionClosed):
            await connection.request("m")
        woken.append(number)

    with anyio.fail_after(DEADLINE_S):
        async with (
            children.open(Inbox(), "dies") as connection,
            anyio.create_task_group() as tasks,
        ):
            for number in range(5):
                tasks.start_soon(ask, connection, number)
    assert sorted(woken) == [0, 1, 2, 3, 4]


async def test_what_is_sent_after_the_end_is_dropped(children: Children) -> None:
    async with children.open(Inbox(), "echo") as connection:
        await connection.request("ask")
        await connection.aclose()
        connection.notify("m")
        connection.respond("q1", None)
        answered: list[PendingRequest] = []
        pending = connection.start_request("m", None, answered.append)
        assert answered == [pending]
        with pytest.raises(ConnectionClosed):
            pending.answer()


@pytest.mark.parametrize("pipe", ["stdin", "stdout"])
@pytest.mark.usefixtures("patient")
async def test_a_server_that_closes_a_pipe_is_ended(children: Children, pipe: str) -> None:
    inbox = Inbox()
    async with children.open(inbox, "parts", pipe) as connection:
        await inbox.wait_for("ready")
        with anyio.fail_after(DEADLINE_S):
            connection.notify("m")
            connection.notify("more than a pipe holds", "x" * 1_000_000)
            assert (await connection.wait_closed()).signal == signal.SIGTERM


async def test_a_fault_of_the_body_comes_out_as_it_is(children: Children) -> None:
    cause = KeyError("why")
    with pytest.raises(ZeroDivisionError) as raised:
        async with children.open(Inbox(), "stays", "stubborn"):
            raise ZeroDivisionError from cause
    assert raised.value.__cause__ is cause


async def test_a_fault_of_the_handler_comes_out_as_it_is(children: Children) -> None:
    def handler(batch: list[Incoming]) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        async with children.open(handler, "stays", "stubborn"):
            await anyio.sleep_forever()


async def test_a_fault_of_the_handler_wakes_those_who_wait_elsewhere(children: Children) -> None:
    def handler(batch: list[Incoming]) -> None:
        raise ZeroDivisionError

    async def talk(tasks: TaskGroup) -> None:
        async with children.open(handler, "echo") as connection:
            tasks.start_soon(wait_elsewhere, connection)
            connection.notify("m")
            await anyio.sleep_forever()

    async def wait_elsewhere(connection: Connection) -> None:
        with pytest.raises(ConnectionClosed):
            await connection.request("silent")
        woken.set()

    woken = anyio.Event()
    with anyio.fail_after(DEADLINE_S):
        async with anyio.create_task_group() as tasks:
            with pytest.raises(ZeroDivisionError):
                await talk(tasks)
    assert woken.is_set()


async def test_cancelling_ends_the_server(children: Children) -> None:
    inbox = Inbox()
    with anyio.CancelScope() as scope:
        async with children.open(inbox, "stays", "stubborn"):
            await inbox.wait_for("ready")
            scope.cancel()
            await anyio.sleep_forever()
    assert not processes.marked(children.marker)


async def test_a_daemon_that_keeps_the_pipe_does_not_hide_the_exit(children: Children) -> None:
    inbox = Inbox()
    with anyio.fail_after(DEADLINE_S):
        async with children.open(inbox, "forks", "daemon") as connection:
            daemon = (await inbox.wait_for("ready")).params
            assert (await connection.aclose(DEADLINE_S)).code == 0
    assert isinstance(daemon, int)
    processes.end([daemon])
