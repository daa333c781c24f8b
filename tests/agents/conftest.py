"""What tests of agents share."""

import pytest
from tests.agents.client import TIMEOUT

from eca_nvim.transport import Connection
from eca_nvim.transport.process import ChildProcess


@pytest.fixture
def anyio_backend() -> str:
    """Run async tests on the loop that the host uses."""
    return "asyncio"


@pytest.fixture(autouse=True)
def patient(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give a process that is asked to exit the time of a busy machine, unless it would stay."""
    if "impatient" in request.fixturenames:
        return
    for name in ("agents.eca.agent.EXIT_S", "agents.acp.agent.EXIT_S"):
        monkeypatch.setattr(f"eca_nvim.{name}", TIMEOUT)
    monkeypatch.setattr("eca_nvim.transport.process.GRACE_S", TIMEOUT)
    for close in (Connection.aclose, ChildProcess.close):
        monkeypatch.setattr(close, "__defaults__", (TIMEOUT,))


@pytest.fixture
def impatient() -> None:
    """End processes as for a user: those of this test do not exit when they are asked to."""
