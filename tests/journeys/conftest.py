"""Whole conversations with real agents; only `make agents` runs them."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeAlias

import pytest
from tests.journeys.agents import AGENTS, FOLDER, Home, RealAgent, make
from tests.support.launch import REPOSITORY

from scripts.setup import agents


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--agents", action="store_true", help="run the journeys with real agents")


def pytest_ignore_collect(config: pytest.Config) -> bool | None:
    """Leave this folder out unless it is asked for: the agents have to be installed first."""
    return None if config.getoption("--agents", default=False) else True


def pytest_report_header(config: pytest.Config) -> list[str]:
    """Print which agents are played, and why others are not."""
    if not config.getoption("--agents", default=False):
        return []
    found = {name: agents.installed(FOLDER, name) for name in AGENTS}
    absent = [name for name, version in found.items() if version is None]
    return [
        "agents: " + ", ".join(f"{name} {version}" for name, version in found.items() if version),
        *(f"left out: {name}: {agents.why_absent(FOLDER, name)}" for name in absent),
    ]


Show: TypeAlias = Callable[[str], None]


@pytest.fixture
def host_python() -> str:
    """Fork no host: here everything is as on a user's machine."""
    return sys.executable


@pytest.fixture
def show(capsys: pytest.CaptureFixture[str]) -> Show:
    """Return a function that shows a line on the terminal, whether the test fails or not."""

    def line(text: str) -> None:
        with capsys.disabled():
            sys.stdout.write(f"\n{text}")

    return line


@pytest.fixture(scope="session")
def model() -> Iterator[int]:
    """Start the scripted model; returns its port."""
    command = [sys.executable, "-m", "tests.journeys.scripted_model"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=REPOSITORY) as server:
        assert server.stdout is not None
        yield int(server.stdout.readline())
        server.kill()


@pytest.fixture(params=AGENTS)
def agent(request: pytest.FixtureRequest, model: int, tmp_path: Path) -> RealAgent:
    """Prepare a home for each agent."""
    return make(request.param, Home(tmp_path / "home", model))


@pytest.fixture(params=AGENTS)
def plain_agent(request: pytest.FixtureRequest, model: int, tmp_path: Path) -> RealAgent:
    """Prepare a home for each agent in which nothing is configured but the model."""
    return make(request.param, Home(tmp_path / "home", model, is_plain=True))
