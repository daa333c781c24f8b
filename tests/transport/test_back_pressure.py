"""A server that does not read its input blocks nobody and loses nothing."""

import os
import signal

import anyio
import pytest
from tests.transport.harness import DEADLINE_S, Children, Inbox

pytestmark = pytest.mark.anyio

COUNT = 2000


async def test_what_a_server_reads_late_is_whole_and_in_order(children: Children) -> None:
    inbox = Inbox()
    async with children.open(inbox, "reads_late") as connection:
        await inbox.wait_for("ready")
        for number in range(COUNT):
            connection.notify("n", {"number": number, "text": "x" * 1000})
        counting = connection.start_request("count")
        os.kill(connection.pid, signal.SIGUSR1)
        with anyio.fail_after(DEADLINE_S):
            assert await counting.result() == list(range(COUNT))


@pytest.mark.usefixtures("patient")
async def test_a_server_that_never_reads_is_ended_in_time(children: Children) -> None:
    inbox = Inbox()
    async with children.open(inbox, "reads_late") as connection:
        await inbox.wait_for("ready")
        for number in range(COUNT):
            connection.notify("n", {"number": number, "text": "x" * 1000})
        with anyio.fail_after(DEADLINE_S):
            assert (await connection.aclose()).signal == signal.SIGTERM


async def test_what_was_sent_before_closing_is_written(children: Children) -> None:
    inbox = Inbox()
    async with children.open(inbox, "echo") as connection:
        connection.notify("goodbye")
        with anyio.fail_after(DEADLINE_S):
            assert (await connection.aclose(DEADLINE_S)).code == 0
    assert inbox.methods == ["goodbye"]
