"""The agents that the host makes of the options."""

from __future__ import annotations

import sys

import pytest
from tests.agents.client import FakeEditor
from tests.session.rig import Recorder

from eca_nvim.agents.acp.agent import AcpAgent
from eca_nvim.agents.base import AgentFault, Workspace
from eca_nvim.nvim.agents import Agents
from eca_nvim.nvim.guardian_process import Guardian
from eca_nvim.nvim.settings import read_settings
from eca_nvim.path_risks import Folders
from eca_nvim.session import Candidate, Persistence


@pytest.fixture
def guardian() -> Guardian:
    class NoGuardian(Guardian):
        def __init__(self) -> None:
            """Start no process."""

    return NoGuardian()


def make(guardian: Guardian, protocol: str, **more: object) -> Candidate:
    server = {
        **more,
        "command": [sys.executable],
        "protocol": protocol,
        "mcp": {"a": {"command": ["/bin/sh"]}},
    }
    settings = read_settings({"servers": {"it": server}})
    workspace = Workspace(Folders(("/workspace",)), "Neovim", 1)
    persistence = Persistence(None, Recorder(), 1)
    agents = Agents(settings, workspace, FakeEditor(), guardian, persistence, None)
    return agents("it")


def test_mcp_servers_are_for_agents_that_speak_acp(guardian: Guardian) -> None:
    made = make(guardian, "acp")
    assert made.warnings == ()
    assert isinstance(made.agent, AcpAgent)
    assert made.agent._options.mcp.servers == {"a": {"command": ["/bin/sh"]}}
    made = make(guardian, "eca")
    assert not isinstance(made.agent, AcpAgent)
    [line] = made.warnings
    assert line.startswith("servers.it.mcp has no effect: ")


@pytest.mark.parametrize(
    ("paths", "line"),
    [
        ({"": "/srv"}, "servers.it.paths has ''"),
        ({"/other": "/srv"}, "servers.it.paths has no folder of /workspace"),
    ],
)
def test_folders_elsewhere_that_are_none_start_nothing(
    guardian: Guardian, paths: object, line: str
) -> None:
    with pytest.raises(AgentFault, match=line):
        make(guardian, "acp", paths=paths)
