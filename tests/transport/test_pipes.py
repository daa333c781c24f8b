"""What a server writes at once is read at once, as far as the kernel can hold it; others go on."""

import asyncio
import os
import sys
from io import FileIO

import anyio
import pytest
from tests.transport.harness import DEADLINE_S

from eca_nvim.transport import pipes
from eca_nvim.transport.pipes import ReadPipe

pytestmark = pytest.mark.anyio

MUCH = 200_000
"""Bytes; a pipe holds 65,536 if nobody asks for more."""


@pytest.mark.skipif(sys.platform != "linux", reason="other kernels do not let pipes grow")
async def test_what_was_written_at_once_is_read_at_once() -> None:
    reading, writing = os.pipe()
    pipe = ReadPipe(FileIO(reading, "r"))
    os.set_blocking(writing, False)
    assert os.write(writing, b"x" * MUCH) == MUCH
    os.close(writing)
    received: list[int] = []
    with anyio.fail_after(DEADLINE_S):
        await pipe.run(lambda data: received.append(len(data)))
    assert received == [MUCH]


async def test_others_are_heard_between_two_reads_of_a_fast_server(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pipes, "_READ_BYTES", 4096)
    reading, writing = os.pipe()
    heard, answering = os.pipe()
    order: list[str] = []

    def read(_: bytes) -> None:
        order.append("read")
        os.write(answering, b"x")

    def hear() -> None:
        order.append("heard")
        os.read(heard, 1)

    os.write(writing, b"x" * 4096 * 5)
    os.close(writing)
    loop = asyncio.get_running_loop()
    loop.add_reader(heard, hear)
    with anyio.fail_after(DEADLINE_S):
        await ReadPipe(FileIO(reading, "r")).run(read)
    loop.remove_reader(heard)
    os.close(heard)
    os.close(answering)
    assert order == ["read", "heard"] * 5
