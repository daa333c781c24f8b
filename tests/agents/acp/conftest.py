"""What tests of ACP agents share."""

import os
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Protocol
from uuid import uuid4

import pytest
from tests.agents.acp.asking import Asking
from tests.agents.acp.file_turns import Run
from tests.agents.acp.scripted import Scripted
from tests.agents.client import TIMEOUT
from tests.support import processes, servers
from tests.support.script import Step
from tests.support.servers import Replay, ScriptedServer


class PrepareScript(Protocol):
    """The fixture `scripted_acp`: an agent that performs steps."""

    def __call__(self, *parts: Sequence[Step]) -> ScriptedServer:
        """Perform these steps in order."""


class PrepareReplay(Protocol):
    """The fixture `replay_acp`: an agent that plays a recording."""

    def __call__(self, name: str, *options: str) -> Replay:
        """Play the recording `name` with options of the player."""


@pytest.fixture
def replay_acp(tmp_path: Path) -> PrepareReplay:
    """Return `replay_acp(name, *options)`: an agent that plays a recording, and its report."""

    def prepare(name: str, *options: str) -> Replay:
        return servers.replay_acp(name, tmp_path, *options)

    return prepare


@pytest.fixture
def scripted_acp(tmp_path: Path) -> PrepareScript:
    """Return `scripted_acp(steps, more_steps …)`: an agent that performs a script."""

    def prepare(*parts: Sequence[Step]) -> ScriptedServer:
        return servers.scripted_acp([*chain(*parts)], tmp_path / "agent")

    return prepare


@pytest.fixture
def scripted(tmp_path: Path) -> Scripted:
    """Return the files of an agent that follows a script."""
    return Scripted(tmp_path)


@pytest.fixture
def marker(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Mark the processes of a test; none may be left."""
    marker = uuid4().hex
    monkeypatch.setenv(processes.MARKER, marker)
    yield marker
    left = processes.wait_gone(processes.marked(marker) - {os.getpid()}, TIMEOUT)
    processes.end(left)
    assert not left


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Return an agent that works with files."""
    return Run(Scripted(tmp_path), tmp_path)


@pytest.fixture
def asking(tmp_path: Path) -> Asking:
    (tmp_path / "ws" / ".git").mkdir(parents=True)
    return Asking(tmp_path / "ws")
