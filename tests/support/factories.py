"""Types of the fixtures that are functions, for the annotations of tests."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from tests.support.editor import Neovim
from tests.support.screen import Value
from tests.support.script import Step
from tests.support.servers import Replay, ScriptedServer


class StartNeovim(Protocol):
    """The fixture `start_nvim`: starts another Neovim of the version under test."""

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
        """Start it in `cwd` (default: the workspace). Other parameters are those of `Launch`."""


class PrepareReplay(Protocol):
    """The fixture `replay`: a server that plays a recording."""

    def __call__(self, name: str, speed: float = 0) -> Replay:
        """Play the recording `name`; with `speed` 1 it keeps its pauses, with 0 it has none."""


class PrepareScript(Protocol):
    """The fixture `scripted_server`: a server that performs steps."""

    def __call__(self, *parts: Sequence[Step]) -> ScriptedServer:
        """Perform these steps in order."""


class AssertScreen(Protocol):
    """The fixture `assert_screen`: compares with `tests/ui/golden/<name>.txt`."""

    def __call__(self, nvim: Neovim, name: str) -> None:
        """Wait until the screen equals the file. Raises AssertionError with a diff."""
