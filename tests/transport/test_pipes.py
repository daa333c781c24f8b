"""What a server writes at once is read at once, as far as the kernel can hold it."""

import os
import sys
from io import FileIO

import anyio
import pytest
from tests.transport.harness import DEADLINE_S

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
