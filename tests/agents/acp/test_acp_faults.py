"""Errors of agents in one line, in their words."""

import json

import pytest

from eca_nvim.agents.acp.faults import Faults
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
    assert Faults("agent").line("it failed", RemoteError(400, "no\x1bluck", data)) == line
