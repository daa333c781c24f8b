"""Commands of an ACP agent in a chat: live, ended, reviewed; nothing that they print acts."""

import os
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from tests.agents.acp.scripted import Scripted
from tests.agents.acp.terminal_turns import KILL, READ, SHOWN, WAIT, asks, create, update
from tests.support.editor import Neovim
from tests.support.factories import StartNeovim
from tests.support.processes import command_line, wait_gone
from tests.ui.talk import draft, host_of, lines_of, say, start_chat, wait_idle, wait_line

pytestmark = pytest.mark.either_nvim

Value: TypeAlias = Any

DEADLINE = 60.0
HOSTILE = (
    r"\033]52;c;aGFja2Vk\007\033]0;hacked\007\033]0;hacked\033\\"  # clipboard, title
    r"\033[?1049h\033[2J\033[H\033[5A\033[10C\033[?25l\033[?2004h\033[6n\033c\033#8"
    r"\033P+q544e\033\\\033_Gi=1;AAAA\033\\\033[8;1;1t\033[>4;2m\016\007"
)


def terminal_chat(
    start_nvim: StartNeovim, folder: Path, *turns: Sequence[Value], **more: Value
) -> tuple[Neovim, Scripted]:
    """Open a chat with an agent that runs commands."""
    folder.mkdir(exist_ok=True)
    scripted = Scripted(folder)
    scripted.play(*turns)
    servers = {"sdk": {"command": scripted.command, "protocol": "acp"}}
    settings = {"server": "sdk", "servers": servers, "approval": {"guard": 0}}
    return start_chat(start_nvim, [], settings=settings, columns=100, **more), scripted


def run(line: str, *steps: Value) -> list[Value]:
    """Run a permitted command that its call embeds, and let the call fail."""
    shown = update(status="in_progress", content=SHOWN)
    return [asks(line), create(line), shown, *steps, update(status="failed")]


def approve(nvim: Neovim) -> None:
    nvim.wait_screen("allow this?")
    nvim.command("Eca approve")


def test_a_command_streams_while_the_user_types(
    start_nvim: StartNeovim, workspace: Path, tmp_path: Path
) -> None:
    subprocess.run(["git", "init", "-q", str(workspace)], check=True)
    (workspace / "code.txt").write_text("1\n2\n3\n")
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    line = (
        rf"printf '\033[31mred\033[0m first\n{HOSTILE}\r\033[K10%%\r20%%'; cat {gate} >code.txt; "
        r"printf '\rall done\033[K\n'; echo made >made.txt; exit 3"
    )
    nvim, scripted = terminal_chat(
        start_nvim, tmp_path / "agent", run(line, {"request": WAIT}, {"request": READ})
    )
    title = nvim.eval("&titlestring . &title")
    say(nvim, "go")
    approve(nvim)
    wait_line(nvim, " · 20%")
    nvim.keys("ityped while")
    assert draft(nvim) == "typed while"
    screen = nvim.wait_screen("20%")
    red = screen.groups_at(*screen.find("red first"))
    assert "DiagnosticError" in red, "to which EcaAnsiRed is linked"
    shown = lines_of(nvim)
    assert [it.strip() for it in shown][-2:] == ["red first", "20%"], shown
    with gate.open("w") as out:
        out.write("1\n2\nTHREE\n")
    nvim.keys(" it runs")
    wait_idle(nvim)
    assert draft(nvim) == "typed while it runs"
    assert nvim.eval("mode()") == "i"
    nvim.keys("<Esc>")
    assert nvim.eval("&titlestring . &title") == title
    shown = [it.strip() for it in lines_of(nvim)]
    assert shown[shown.index("red first") :] == ["red first", "all done", "[exit code 3]"]
    assert not any("\x1b" in it for it in shown)
    read = scripted.answers()[-1]
    assert read["exitStatus"] == {"exitCode": 3}
    assert read["output"].endswith("all done\x1b[K\n"), "the agent reads all bytes"

    nvim.command("Eca changes")
    nvim.wait_screen("code.txt|3| +1 -1  THREE")
    nvim.wait_screen("made.txt|1| +1 -0  new file")
    nvim.command("Eca undo-turn")
    nvim.wait_screen("deleted, made by a command")
    nvim.keys("u")
    nvim.wait_screen("turn 1 undone in 2 files")
    assert (workspace / "code.txt").read_text() == "1\n2\n3\n"
    assert not (workspace / "made.txt").exists()


def test_a_command_that_waits_for_input_says_so_and_is_stopped(
    start_nvim: StartNeovim, workspace: Path, tmp_path: Path
) -> None:
    line = "printf 'name? '; read -r name"
    stopped = [
        asks(line),
        create(line),
        {"begin": WAIT},
        {"wait": "session/cancel"},
        {"join": None},
    ]
    killed = run("exec cat", {"request": KILL}, {"request": WAIT})
    nvim, scripted = terminal_chat(start_nvim, tmp_path / "agent", stopped, killed)
    say(nvim, "go")
    approve(nvim)
    wait_line(nvim, "name? · waits for input, :Eca stop ends it")
    nvim.keys("<C-c>")
    wait_idle(nvim)
    assert scripted.answers()[-1]["signal"] in ("SIGTERM", "SIGKILL"), "late on a busy machine"
    assert not any("waits for input" in it for it in lines_of(nvim))
    assert lines_of(nvim)[-1].endswith("stopped"), "we have ended it"
    say(nvim, "again")
    approve(nvim)
    wait_line(nvim, "[signal ")
    wait_idle(nvim)


def test_nothing_is_left_of_a_command_whoever_is_killed(
    start_nvim: StartNeovim, tmp_path: Path
) -> None:
    """Not of its children either, nor of those in a process group of their own."""
    line = "trap '' TERM HUP; set -m; sleep 4711 & echo runs; while :; do sleep 4712; done"
    cases = []
    for victim in ("Neovim", "host", "agent"):
        turn = [asks(line), create(line), {"request": WAIT}]
        cases.append((victim, terminal_chat(start_nvim, tmp_path / victim, turn)[0]))
    for _, nvim in cases:
        nvim.check_errors = False
        say(nvim, "go")
        approve(nvim)
        wait_line(nvim, "runs")
        wait_children(nvim)
    ended = []
    for victim, nvim in cases:
        must_go = sleeping(nvim)
        match victim:
            case "Neovim":
                nvim.kill(signal.SIGKILL)
            case "host":
                os.kill(host_of(nvim), signal.SIGKILL)
            case _:
                os.kill(agent_of(nvim), signal.SIGKILL)
        ended.append((victim, must_go))
    for victim, must_go in ended:
        assert not [command_line(pid) for pid in wait_gone(must_go, DEADLINE)], victim


def wait_children(nvim: Neovim) -> None:
    nvim.wait_for(lambda: len(sleeping(nvim)) == 2, "the command's children")


def sleeping(nvim: Neovim) -> set[int]:
    return {pid for pid in nvim.child.family() if command_line(pid) in ("sleep 4711", "sleep 4712")}


def agent_of(nvim: Neovim) -> int:
    [agent] = [pid for pid in nvim.child.family() if "acp_agent" in command_line(pid)]
    return agent
