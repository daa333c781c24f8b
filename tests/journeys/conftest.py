"""Whole conversations with real agents; only `make agents` runs them."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.journeys.agents import AGENTS, RealAgent


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--agents", action="store_true", help="run the journeys with real agents")


def pytest_ignore_collect(config: pytest.Config) -> bool | None:
    """Leave this folder out unless it is asked for: the agents have to be installed first."""
    return None if config.getoption("--agents", default=False) else True


@pytest.fixture(scope="session")
def model() -> Iterator[int]:
    """Start the scripted model; returns its port."""
    program = Path(__file__).with_name("scripted_model.py")
    with subprocess.Popen([sys.executable, program], stdout=subprocess.PIPE) as server:
        assert server.stdout is not None
        yield int(server.stdout.readline())
        server.kill()


@pytest.fixture(params=AGENTS, ids=lambda make: make.__name__)
def agent(request: pytest.FixtureRequest, model: int, tmp_path: Path) -> RealAgent:
    """Prepare a home for each agent."""
    home = tmp_path / "home"
    home.mkdir()
    made: RealAgent = request.param(home, model)
    return made
