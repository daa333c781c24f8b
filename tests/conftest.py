"""What every test may ask for. `tests/support/__init__.py` tells how to use it."""

import itertools
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol

import pytest

from tests.support.editor import Neovim
from tests.support.launch import VERSIONS, Launch
from tests.support.screen import Value
from tests.support.workspace import make_workspace


class StartNeovim(Protocol):
    """Starts one more Neovim of the version under test."""

    def __call__(
        self,
        *arguments: str,
        settings: Mapping[str, Value] = ...,
        init: str = ...,
        columns: int = ...,
        lines: int = ...,
        environment: Mapping[str, str] = ...,
        cwd: Path | None = ...,
    ) -> Neovim:
        """Start it in `cwd` (default: the workspace); see `Launch` for the rest."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--nvim", choices=VERSIONS, help="test with this Neovim only")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run every test that needs a Neovim with each version."""
    if "nvim_version" in metafunc.fixturenames:
        only = metafunc.config.getoption("--nvim")
        metafunc.parametrize("nvim_version", [only] if only else VERSIONS)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """Return a fresh copy of the recordings' workspace; Neovim starts in it."""
    return make_workspace(tmp_path / "workspace")


@pytest.fixture
def start_nvim(nvim_version: str, tmp_path: Path, workspace: Path) -> Iterator[StartNeovim]:
    """Start Neovims that end with the test."""
    started: list[Neovim] = []
    numbers = itertools.count(1)

    def start(
        *arguments: str,
        settings: Mapping[str, Value] | None = None,
        init: str = "",
        columns: int = 80,
        lines: int = 24,
        environment: Mapping[str, str] | None = None,
        cwd: Path | None = None,
    ) -> Neovim:
        home = tmp_path / f"nvim{next(numbers)}"
        launch = Launch(
            version=nvim_version,
            home=home,
            cwd=cwd or workspace,
            marker=str(home),
            columns=columns,
            lines=lines,
            settings={"python": sys.executable, **(settings or {})},
            init=init,
            arguments=arguments,
            environment=environment or {},
        )
        started.append(Neovim(launch))
        return started[-1]

    yield start
    finish_all(started)


def finish_all(editors: Sequence[Neovim]) -> None:
    """End them all before any complaint of one is raised."""
    complaints = []
    for editor in editors:
        try:
            editor.finish()
        except (AssertionError, OSError) as complaint:
            complaints.append(complaint)
    if complaints:
        raise complaints[0]


@pytest.fixture
def nvim(start_nvim: Callable[..., Neovim]) -> Neovim:
    """Start a Neovim of 80 by 24 with default settings."""
    return start_nvim()
