"""Servers in another root, behind a wrapper that takes 200 ms each way, and breaks off once."""

import signal
import sys
from pathlib import Path
from typing import Any, Final

import pytest
from tests.agents.acp.file_turns import read, write
from tests.agents.acp.scripted import Scripted
from tests.support import relay
from tests.support.client import TIMEOUT
from tests.support.factories import PrepareScript, StartNeovim
from tests.support.script import ask, content, handshake, text, turn
from tests.ui.talk import say, wait_idle, wait_line

pytestmark = pytest.mark.either_nvim

THERE: Final = "/srv/src"
LATENCY: Final = "200"
READY: Final = "require('eca').status().server == 'ready'"


def wrapped(command: list[str], flag: Path) -> list[str]:
    return [sys.executable, relay.__file__, LATENCY, str(flag), *command]


def test_an_agent_elsewhere_reads_and_writes_files_here(
    start_nvim: StartNeovim, workspace: Path, tmp_path: Path
) -> None:
    (workspace / ".hg").mkdir()
    (workspace / "code.txt").write_text("one\n")
    scripted, flag = Scripted(tmp_path), tmp_path / "break"
    there = Path(THERE)
    scripted.play(
        [read(there / "code.txt"), write(there / "made/new.txt", "new\n"), read("/etc/passwd")],
        [read(there / "code.txt")],
    )
    box = {
        "command": wrapped(scripted.command, flag),
        "protocol": "acp",
        "paths": {str(workspace): THERE},
        "mcp": {"editor": True, "tool": {"command": ["/opt/tool"]}, "near": {"command": ["tool"]}},
    }
    settings: dict[str, Any] = {"server": "box", "servers": {"box": box}}
    nvim = start_nvim(settings={**settings, "approval": {"guard": 0}}, columns=120, lines=40)
    nvim.keys(":EcaChat<CR>")
    nvim.wait_until(READY)
    nvim.keys(":Eca trust on<CR>")
    say(nvim, f"look at {workspace}/code.txt")
    nvim.wait_for(lambda: len(scripted.answers()) == 3, "the answers")
    first, _, refused = scripted.answers()
    assert first["content"] == "one\n"
    assert (workspace / "made" / "new.txt").read_text() == "new\n"
    assert "box:/etc/passwd (not in servers.box.paths)" in str(refused)
    wait_idle(nvim)
    told = str(scripted.report)
    assert f"'cwd': '{THERE}'" in told
    assert "'terminal': True" not in told
    assert "/opt/tool" in told
    assert f"look at {workspace}/code.txt" in told  # what the user has typed
    shown = nvim.lua("return vim.fn.execute('messages')")
    assert "mcp.editor is left out: it runs here, and box does not" in " ".join(shown.split())
    assert "'tool' must be an absolute path where box runs" in " ".join(shown.split())

    # The connection breaks: the next prompt starts it again and goes on.
    flag.touch()
    say(nvim, "again")
    wait_line(nvim, "exit code 255")
    say(nvim, "once more")
    nvim.wait_for(lambda: len(scripted.answers()) >= 4, "another answer")
    nvim.quit()
    assert not nvim.child.orphans(TIMEOUT)  # also not what is far away


def test_an_eca_server_elsewhere(
    start_nvim: StartNeovim,
    workspace: Path,
    tmp_path: Path,
    scripted_server: PrepareScript,
) -> None:
    (workspace / "io.py").write_text("x = 1\n")
    call = {
        "type": "toolCallRun",
        "id": "c",
        "name": "read_file",
        "origin": "native",
        "arguments": {"path": f"{THERE}/io.py"},
        "manualApproval": False,
        "summary": "Reading io.py",
    }
    server = scripted_server(
        handshake(),
        turn(
            content(call),
            ask("editor/getDiagnostics", {"uri": f"file://{THERE}/io.py"}),
            text(f"it is in {THERE}/io.py"),
        ),
    )
    box = {
        "command": wrapped(server.command, tmp_path / "break"),
        "paths": {str(workspace): THERE, "~/other": "/srv/other"},
    }
    settings: dict[str, Any] = {"server": "box", "servers": {"box": box}}
    nvim = start_nvim(settings=settings, columns=120, lines=40)
    nvim.keys(":EcaChat<CR>")
    nvim.wait_until(READY)
    say(nvim, f"read @io.py and @{tmp_path}/far.txt @/etc/hosts")
    wait_line(nvim, f"it is in {THERE}/io.py")
    wait_line(nvim, "not sent: servers.box.paths has no folder of /etc/hosts: add one")
    (hello,) = server.received("initialize")
    assert hello["params"]["processId"] is None
    assert [it["uri"] for it in hello["params"]["workspaceFolders"]] == [f"file://{THERE}"]
    (prompt,) = server.received("chat/prompt")
    paths = [it["path"] for it in prompt["params"]["contexts"] if "path" in it]
    assert paths == [f"{THERE}/io.py"]

    nvim.keys(":Eca folder add /etc<CR>")
    nvim.wait_screen("box has no folder in servers.box.paths for etc")
    nvim.kill(signal.SIGKILL)
    assert not nvim.child.orphans(TIMEOUT)


def test_a_workspace_that_is_not_mapped_is_refused(
    start_nvim: StartNeovim, workspace: Path, tmp_path: Path
) -> None:
    box = {"command": ["cat"], "paths": {"/nowhere": THERE}}
    nvim = start_nvim(settings={"server": "box", "servers": {"box": box}}, columns=120)
    nvim.keys(":EcaChat<CR>")
    wait_line(nvim, f"servers.box.paths has no folder of {workspace}: add one, then :Eca restart")
