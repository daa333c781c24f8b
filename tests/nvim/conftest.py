"""Fixtures for tests of the adapter."""

import sys

import pytest


@pytest.fixture
def anyio_backend() -> str:
    """Run async tests on the loop that the host uses."""
    return "asyncio"


@pytest.fixture
def host_python() -> str:
    """Fork no host: these tests are about its start, its end and its process."""
    return sys.executable
