"""Errors of agents in one line, in their words."""

import json

import pytest
from tests.agents.acp.no_process import NoProcess

from eca_nvim.transport import RemoteError


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (None, "it failed: no luck"),
        ("quota", "it failed: no luck: quota"),
        ({"details": "a\nb"}, "it failed: no luck: a b"),
        ({"message": "no"}, "it failed: no luck"),
        ([json], "it failed: no luck"),
    ],
)
def test_an_error_is_in_the_agents_words(data: object, line: str) -> None:
    assert NoProcess().line("it failed", RemoteError(400, "no\nluck", data)) == line
