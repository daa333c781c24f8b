"""Fixtures for tests of the user interface: golden screens."""

from pathlib import Path

import pytest
from tests.support.editor import Neovim
from tests.support.factories import AssertScreen
from tests.support.golden import assert_screen_golden

GOLDEN = Path(__file__).parent / "golden"


@pytest.fixture
def assert_screen() -> AssertScreen:
    """Compare the screen with a golden one."""

    def compare(nvim: Neovim, name: str) -> None:
        assert_screen_golden(nvim, GOLDEN / f"{name}.txt")

    return compare
