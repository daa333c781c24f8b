"""What tests of ACP agents share."""

from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Protocol

import pytest
from tests.agents.acp.scripted import Scripted
from tests.support import servers
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
    """Return the files of an agent on the official SDK."""
    return Scripted(tmp_path)
