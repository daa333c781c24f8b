"""Fixtures for tests of the transport."""

from collections.abc import Iterator
from uuid import uuid4

import pytest
from tests.support import processes
from tests.transport.harness import DEADLINE_S, Children

from eca_nvim.transport import process, terminal


@pytest.fixture
def anyio_backend() -> str:
    """Run on the loop that the editor's host uses."""
    return "asyncio"


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give a process that got a signal all the time of a busy machine."""
    for module in (process, terminal):
        monkeypatch.setattr(module, "GRACE_S", DEADLINE_S)


@pytest.fixture
def children() -> Iterator[Children]:
    """Start child processes; none may be left after the test."""
    started = Children(uuid4().hex)
    yield started
    left = processes.wait_gone(processes.marked(started.marker), DEADLINE_S)
    processes.end(left)
    assert not left
