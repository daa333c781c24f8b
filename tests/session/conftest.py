"""Fixtures for tests of the session: a session with agent and view in memory."""

from collections.abc import AsyncIterator

import anyio
import pytest
from tests.session.rig import PATIENCE, Rig

from eca_nvim.session.files import turn_recorder


@pytest.fixture
def anyio_backend() -> str:
    """Run async tests on the loop that the host uses."""
    return "asyncio"


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give a tree of the workspace the time of a busy machine."""
    monkeypatch.setattr(turn_recorder, "WAIT_LIMIT", PATIENCE)


@pytest.fixture
async def rig() -> AsyncIterator[Rig]:
    """Run a session for the length of a test."""
    rig = Rig()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(rig.session.run)
        yield rig
        tasks.cancel_scope.cancel()
    rig.session.kill()
