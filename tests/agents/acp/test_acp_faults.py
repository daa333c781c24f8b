"""Errors of agents in one line; -32000 says how to log in, as real agents describe it."""

import json

import pytest
from tests.support.replay_acp import read_lives
from tests.support.servers import ACP_RECORDINGS

from eca_nvim.agents.acp.faults import Faults
from eca_nvim.protocol.acp import decode_result
from eca_nvim.protocol.acp.lifecycle import AUTH_REQUIRED, InitializeParams
from eca_nvim.transport import RemoteError

WAYS = {
    "claudezed-todo": "Log in with Claude Code (Run `claude /login` in the terminal)",
    "codexzed-noauth": "Use CODEX_API_KEY (set $CODEX_API_KEY)",
    "copilot-init": "Log in with Copilot CLI (run /agent/inst/copilot/node_modules/",
    "qwen-noauth": "Use OpenAI API key (run agent --auth-type=openai)",
    "sdkexample-text": "agent needs a login",
}


@pytest.mark.parametrize("name", WAYS)
def test_a_login_is_one_line_with_the_ways_of_the_agent(name: str) -> None:
    answers = [
        it for it in read_lives(ACP_RECORDINGS / f"{name}.jsonl")[0] if it.direction == "s2c"
    ]
    introduction = decode_result(InitializeParams, answers[0].message["result"])
    faults = Faults("agent")
    faults.auth_methods = introduction.auth_methods
    line = faults.line("the prompt failed", RemoteError(AUTH_REQUIRED, "Auth required", None))
    assert line.startswith("agent needs a login")
    assert WAYS[name] in line


def test_a_login_of_the_newest_form_is_a_command() -> None:
    told = {"id": "x", "name": "Subscription", "type": "terminal", "args": ["--cli", "a b"]}
    answer = {"protocolVersion": 1, "authMethods": [told]}
    faults = Faults("agent")
    faults.auth_methods = decode_result(InitializeParams, answer).auth_methods
    fault = RemoteError(AUTH_REQUIRED, "Auth required", None)
    assert faults.line("", fault) == "agent needs a login: Subscription (run agent --cli 'a b')"


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
