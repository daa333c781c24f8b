"""Errors of agents in one line, in their words."""

import json

import pytest
from tests.agents.acp.no_process import NoProcess

from eca_nvim.transport import RemoteError


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (None, "it failed: no\x1bluck"),
        ("quota", "it failed: no\x1bluck: quota"),
        ({"details": "a\nb"}, "it failed: no\x1bluck: a b"),
        ({"message": "no"}, "it failed: no\x1bluck"),
        ([json], "it failed: no\x1bluck"),
    ],
)
def test_an_error_is_in_the_agents_words(data: object, line: str) -> None:
    assert NoProcess().line("it failed", RemoteError(400, "no\x1bluck", data)) == line
