"""What tests of ACP agents share."""

from pathlib import Path
from typing import Protocol

import pytest
from tests.support import servers
from tests.support.servers import Replay


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
