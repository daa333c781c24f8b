"""The options that the host reads."""

import math
import sys

import pytest

from eca_nvim.nvim.settings import Settings, read_settings
from eca_nvim.server.find import Finding, ServerOptions


@pytest.mark.parametrize(
    ("options", "settings"),
    [
        ({}, Settings()),
        ({"server": [], "icons": [], "diagnostics": []}, Settings()),
        (
            {"server": {"command": ["eca", "server"]}},
            Settings({"eca": ServerOptions(("eca", "server"))}),
        ),
        ({"server": {"command": []}}, Settings({"eca": ServerOptions()})),
        (
            {"server": "two", "servers": {"two": {"command": ["two"], "protocol": "acp"}}},
            Settings({"two": ServerOptions(("two",), protocol="acp")}, "two"),
        ),
        (
            {"server": {"env": {"A": "1"}}, "servers": {"eca": {"command": ["eca"]}}},
            Settings({"eca": ServerOptions(("eca",), {"A": "1"})}),
        ),
        (
            {"servers": {"codex": {"idle": 30}, "claude": {}}},
            Settings({"codex": ServerOptions(idle=30), "claude": ServerOptions()}),
        ),
        (
            {
                "server": {"env": [], "download": True, "idle": 0},
                "servers": {"eca": {"env": {"A": "1"}, "idle": 5}},
            },
            Settings({"eca": ServerOptions(environment={"A": "1"}, idle=5)}),
        ),
        (
            {"servers": {"two": {"mcp": {"editor": True, "a": {"url": "https://a"}}}}},
            Settings(
                {"two": ServerOptions(mcp={"editor": True, "a": {"url": "https://a"}})},
            ),
        ),
        (
            {"servers": {"two": {"options": {"model": "m", "web": True}}}},
            Settings({"two": ServerOptions(options={"model": "m", "web": True})}),
        ),
        ({"servers": {"two": {"mcp": []}}}, Settings({"two": ServerOptions()})),
        ({"diff": {"lines": 5}}, Settings(diff_lines=5)),
        ({"diff": {"lines": math.inf}}, Settings(diff_lines=sys.maxsize)),
        ({"diagnostics": {"base": 0}}, Settings(diagnostics_base=0)),
        ({"contexts": {"repo_map": False}}, Settings(repo_map=False)),
        ({"follow": True}, Settings(follow=True)),
        ({"icons": {"done": "+"}}, Settings(icons={"done": "+"})),
        ({"log_path": "/l", "log_level": "error"}, Settings(log_path="/l", log_level="error")),
        ({"log_level": "debug"}, Settings(log_level="debug")),
    ],
)
def test_options_become_settings(options: dict[str, object], settings: Settings) -> None:
    assert read_settings(options) == settings._replace(finding=Finding(settings.servers))


def test_where_servers_are_installed_from() -> None:
    told = {"folder": "/data", "releases": "https://mirror/eca", "registry": "https://mirror"}
    finding = read_settings({"install": told, "server": {"download": False}}).finding
    assert finding[1:] == ("/data", "https://mirror/eca", "https://mirror", False)
    assert read_settings({"install": []}).finding == Finding()


def test_values_of_mcp_servers_are_secrets_if_they_are_long() -> None:
    mcp = {
        "editor": True,
        "local": {"command": ["a"], "env": {"DEBUG": "true", "KEY": "a-secret"}},
        "far": {"url": "https://a", "headers": {"Authorization": "Bearer abc"}},
    }
    settings = read_settings({"servers": {"two": {"mcp": mcp}, "eca": {}}})
    assert [*settings.secrets] == ["a-secret", "Bearer abc"]
