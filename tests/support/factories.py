"""Types of the fixtures that are functions, for the annotations of tests."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from tests.support.editor import Neovim
from tests.support.screen import Value
from tests.support.script import Step
from tests.support.servers import Replay, ScriptedServer


class StartNeovim(Protocol):
    """The fixture `start_nvim`: one more Neovim of the version under test."""

    def __call__(
        self,
        *arguments: str,
        settings: Mapping[str, Value] | None = None,
        init: str = "",
        columns: int = 100,
        lines: int = 24,
        environment: Mapping[str, str] | None = None,
        cwd: Path | None = None,
    ) -> Neovim:
        """Start it in `cwd` (default: the workspace); see `Launch` for the rest."""


class PrepareReplay(Protocol):
    """The fixture `replay`: a server that plays a recording."""

    def __call__(self, name: str, speed: float = 0) -> Replay:
        """Take the recording `name`; `speed` 1 keeps its pauses, 0 makes none."""


class PrepareScript(Protocol):
    """The fixture `scripted_server`: a server that performs steps."""

    def __call__(self, *parts: Sequence[Step]) -> ScriptedServer:
        """Perform these parts one after the other."""


class AssertScreen(Protocol):
    """The fixture `assert_screen`: compares with `tests/ui/golden/<name>.txt`."""

    def __call__(self, nvim: Neovim, name: str) -> None:
        """Wait until they are equal. Raises AssertionError with a diff."""
