"""Fixtures for tests of faults."""

import pytest


@pytest.fixture
def anyio_backend() -> str:
    """Run async tests on the loop that the host uses."""
    return "asyncio"
