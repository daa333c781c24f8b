"""The probes of `:checkhealth eca`, as the process that Neovim starts."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest
from tests.support.launch import REPOSITORY
from tests.support.processes import wait_gone

from eca_nvim.nvim.probes.probe import MOST_CELLS, acp_rows, newer_rows
from eca_nvim.protocol.acp import decode_result
from eca_nvim.protocol.acp.lifecycle import InitializeParams
from eca_nvim.server.find import KNOWN
from eca_nvim.server.installed import Version, switch

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


def ask(
    probes: subprocess.Popen[bytes],
    seconds: float,
    folder: Path | None = None,
    *names: str,
    **servers: Mapping[str, object],
) -> None:
    """Send the request; names: of what is installed in a folder."""
    settings = {"servers": servers, "install": {"folder": folder and str(folder)}}
    request: dict[str, object] = {"names": [*names, *servers], "settings": settings}
    request |= {"folders": ["/"], "deadline": time.time() + seconds}
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
    late = [row for row in told if re.fullmatch(r"warn it has not answered after [0-3]\.\d s", row)]
    assert len(late) == 2
    assert probes.wait() == 0


def test_the_version_of_what_was_installed_is_known_before_it_answers(
    probes: subprocess.Popen[bytes], tmp_path: Path
) -> None:
    (tmp_path / "qwen").mkdir()
    command = ("/bin/sleep", "1000")
    switch(str(tmp_path), "qwen", Version("0.15.10", command, "acp", str(tmp_path), {}))
    ask(probes, 0, tmp_path, "qwen")
    told = next(it for _ in range(2) if len(it := rows(probes)) == 3)
    assert told == [
        "ok /bin/sleep: 0.15.10",
        f"info {BEFORE.format('R in :Eca server')}",
        "warn it has not answered after 0.0 s",
    ]


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


UNKNOWN = "whether there is a newer version is not known: {}"
NOT_LISTED = UNKNOWN.format("the list has no version of it")
NOT_TOLD = UNKNOWN.format("it tells no version")
BEFORE = "whether there is a newer version was not asked yet: {} asks"
LATEST = "no newer version was known on 2026-08-22"
NEWER = "version {} is known: {}"


@pytest.mark.parametrize(
    ("listed", "told", "says"),
    [
        ("0.24.5", "0.24.4", NEWER),
        ("0.24.10", "v0.24.9", NEWER),
        ("1.0.0", "0.24.4-beta", NEWER),
        ("0.24.4", "0.24.4", LATEST),
        ("0.24.4", "0.25", LATEST),
        ("latest", "0.24.4", NOT_LISTED),
        ("0.24.4", "", NOT_TOLD),
        ("0.24.4", "unknown", NOT_TOLD),
    ],
)
@pytest.mark.parametrize("name", ["qwen", "eca"])
def test_whether_a_newer_version_is_known_is_told_by_what_was_listed_last(
    tmp_path: Path, name: str, listed: str, told: str, says: str
) -> None:
    package = {"package": f"@qwen-code/qwen-code@{listed}"}
    agent = {"id": "qwen-code", "version": listed, "distribution": {"npx": package}}
    (tmp_path / "registry.json").write_text(json.dumps({"agents": [agent]}))
    (tmp_path / "release.json").write_text(json.dumps({"tag_name": listed}))
    for path in tmp_path.iterdir():
        os.utime(path, (1787400000, 1787400000))
    words = f"eca {told}" if name == "eca" else told
    (row,) = newer_rows(name, words, str(tmp_path))
    assert row.text == says.format(listed, KNOWN[name].remedy)
    mine = Version(told, ("/bin/it",), "acp", str(tmp_path), {})
    (tmp_path / name).mkdir()
    switch(str(tmp_path), name, mine)
    (row,) = newer_rows(name, words, str(tmp_path))
    assert row.text == says.format(listed, f":Eca update {name}")


def test_what_nobody_has_listed_is_told_with_who_asks(tmp_path: Path) -> None:
    assert [*newer_rows("mine", "1.0", str(tmp_path))] == []
    for folder in (None, str(tmp_path)):
        (row,) = newer_rows("qwen", "0.24.4", folder)
        assert row.text == BEFORE.format("R in :Eca server")
        (row,) = newer_rows("eca", "eca 0.24.4", folder)
        assert row.text == BEFORE.format(":Eca install eca")
    (tmp_path / "registry.json").write_text("{}")
    (row,) = newer_rows("qwen", "0.24.4", str(tmp_path))
    assert row.text == NOT_LISTED
    (tmp_path / "release.json").write_text("[[" * 9000)
    (row,) = newer_rows("eca", "eca 0.24.4", str(tmp_path))
    assert row.text == NOT_LISTED
