"""What tests of the user interface have besides: screens kept in files."""

from pathlib import Path
from typing import Protocol

import pytest
from tests.support.editor import Neovim
from tests.support.golden import assert_screen_golden

GOLDEN = Path(__file__).parent / "golden"


class AssertScreen(Protocol):
    """Compares the screen with `tests/ui/golden/<name>.txt`, waiting until they are equal."""

    def __call__(self, nvim: Neovim, name: str) -> None:
        """Raise AssertionError with a diff when they still differ at the deadline."""


@pytest.fixture
def assert_screen() -> AssertScreen:
    """Compare the screen with a golden one."""

    def compare(nvim: Neovim, name: str) -> None:
        assert_screen_golden(nvim, GOLDEN / f"{name}.txt")

    return compare
