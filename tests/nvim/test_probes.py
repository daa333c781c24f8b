"""The probes of `:checkhealth eca`, as the process that Neovim starts."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest
from tests.support.launch import REPOSITORY
from tests.support.processes import wait_gone

from eca_nvim.nvim.probes.probe import MOST_CELLS, acp_rows, newer_rows
from eca_nvim.protocol.acp import decode_result
from eca_nvim.protocol.acp.lifecycle import InitializeParams

LUA = (REPOSITORY / "lua" / "eca" / "host" / "python.lua").read_text()
RUN = "".join(re.findall(r"""(?:RUN = |\.\. )(['"])(.*)\1""", LUA)[i][1] for i in range(2))
RUN = RUN.replace("%s", "nvim.probes")
"""The code that Neovim passes to Python."""

HANGS = 'echo $$ > "$0"; exec sleep 1000'
"""Shell code that leaves its process id in a file."""
PATIENCE = 60.0


@pytest.fixture
def probes() -> Iterator[subprocess.Popen[bytes]]:
    """Start the process of the probes."""
    command = [sys.executable, "-I", "-c", RUN, str(REPOSITORY / "rplugin" / "python3")]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
    ) as process:
        yield process
        process.kill()


def ask(probes: subprocess.Popen[bytes], seconds: float, **servers: Mapping[str, object]) -> None:
    """Send the request."""
    settings = {"servers": servers}
    request = {"names": list(servers), "settings": settings, "folders": ["/"], "seconds": seconds}
    assert probes.stdin is not None
    probes.stdin.write(json.dumps(request).encode() + b"\n")
    probes.stdin.flush()


def rows(probes: subprocess.Popen[bytes]) -> Sequence[str]:
    """Return the next rows as text."""
    assert probes.stdout is not None
    return [f"{level} {text}" for level, text, _ in json.loads(probes.stdout.readline())["rows"]]


def test_servers_that_hang_have_their_time_together(probes: subprocess.Popen[bytes]) -> None:
    hangs = {"command": ["sleep", "1000"], "protocol": "acp"}
    ask(probes, 3, one=hangs, two=hangs)
    told = [row for _ in range(3) for row in rows(probes)]
    late = [row for row in told if re.fullmatch(r"warn it has not answered after [123]\.\d s", row)]
    assert len(late) == 2
    assert probes.wait() == 0


@pytest.mark.parametrize("end", ["Neovim", "kill"])
def test_nothing_outlives_neovim_or_the_probes(
    probes: subprocess.Popen[bytes], tmp_path: Path, end: str
) -> None:
    pid = tmp_path / "pid"
    os.mkfifo(pid)
    ask(probes, 60, hangs={"command": ["sh", "-c", HANGS, str(pid)], "protocol": "acp"})
    server = int(pid.read_text())
    if end == "Neovim":
        assert probes.stdin is not None
        probes.stdin.close()
    else:
        os.kill(probes.pid, signal.SIGKILL)
    probes.wait()
    assert wait_gone([server], PATIENCE) == set()


def test_what_an_agent_says_is_one_line_each() -> None:
    answer = {
        "protocolVersion": 2,
        "agentInfo": {"name": "x", "title": "Agent\n\x1b[2Jsmith", "version": "1" * 5000},
        "authMethods": [{"id": "a", "name": "Log\nin"}, {"id": "b", "name": "Key sk-abcdefghi"}],
        "agentCapabilities": {
            "loadSession": True,
            "promptCapabilities": {"image": False, "audio": True},
            "sessionCapabilities": {"list": {}, "_meta": {"x": True}},
            "deep": {"a": {"b": {"c": {"d": {"e": True}}}}},
            "many": {str(number): True for number in range(1000)},
        },
    }
    title, login, can = acp_rows(decode_result(InitializeParams, answer), answer, 0.25)
    assert title.level == "error"
    assert title.text.startswith("Agentsmith 1111") or title.text.startswith("Agent smith 1111")
    assert title.text.endswith("protocol version 2 instead of 1")
    assert login.text == "login: Log in, Key sk-[hidden]"
    assert can.text.startswith("can: loadSession, prompt.audio, session.list, many.0, many.1")
    assert max(len(row.text) for row in (title, login, can)) < MOST_CELLS + 50
    assert not any("\n" in row.text or "\x1b" in row.text for row in (title, login, can))


@pytest.mark.parametrize(
    ("listed", "told", "newer"),
    [
        ("0.24.5", "0.24.4", True),
        ("0.24.10", "v0.24.9", True),
        ("1.0.0", "0.24.4-beta", True),
        ("0.24.4", "0.24.4", False),
        ("0.24.4", "0.25", False),
        ("latest", "0.24.4", False),
        ("0.24.4", None, False),
        ("0.24.4", "unknown", False),
    ],
)
def test_a_newer_version_is_told_if_the_registry_knows_one(
    tmp_path: Path, listed: str, told: str | None, newer: bool
) -> None:
    package = {"package": f"@qwen-code/qwen-code@{listed}"}
    agent = {"id": "qwen-code", "version": listed, "distribution": {"npx": package}}
    (tmp_path / "registry.json").write_text(json.dumps({"agents": [agent]}))
    found = [*newer_rows("qwen", told, str(tmp_path))]
    way = "install it by npm install -g @qwen-code/qwen-code"
    assert [row.text for row in found] == ([f"version {listed} is known: {way}"] if newer else [])
    assert [*newer_rows("qwen", told, None)] == []
