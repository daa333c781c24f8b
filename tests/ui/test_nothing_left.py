"""Nothing outlives Neovim: whichever process ends, by any signal, at any time.

All cases of one stage run at the same time, as they mostly wait, and those of the next begin before
they are checked.
"""

import os
import signal
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.agents.acp.file_turns import read, write
from tests.agents.acp.scripted import Scripted
from tests.support import acp_script
from tests.support.editor import Neovim
from tests.support.factories import PrepareScript, StartNeovim
from tests.support.processes import command_line, wait_gone
from tests.support.script import OFFSPRING, Steps, expect, handshake, offspring, stream, turn
from tests.support.servers import scripted_acp
from tests.ui.talk import asks, host_of, say, start_chat, wait_idle, wait_line

pytestmark = [pytest.mark.either_nvim, pytest.mark.whole_start]

DEADLINE = 60.0
"""Seconds after which a process is said to stay; on an idle machine the last goes after 3.3."""
SLEEP = "sleep 600"
READY = "require('eca').status().server == 'ready'"
FLOOD = stream(10_000_000, ("word ", "more\n"), rate=20, until="shutdown")
STAGES: dict[str, Sequence[Steps]] = {
    "starting": [expect("initialize"), offspring(), expect("never")],
    "idle": [offspring(), handshake()],
    "streaming": [offspring(), handshake(), turn(FLOOD)],
    "approval": [offspring(), handshake(), turn(asks(), expect("chat/promptStop"))],
}
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGSTOP)
VICTIMS = ("Neovim", "host", "server")
ALIKE = {"Neovim": {signal.SIGHUP}, "host": set(), "server": {signal.SIGTERM, signal.SIGHUP}}
"""Signals that end it as another one does: Neovim takes both alike, a server none of the three."""
IN_ALL_WAYS = "idle"
"""The stage in which these are sent, too."""


@dataclass
class Case:
    """One Neovim: who of it is ended, and how."""

    nvim: Neovim
    victim: str
    number: signal.Signals
    stage: str

    def reach(self) -> None:
        """Wait until what is to be ended does what it is to be ended in."""
        self.nvim.check_errors = False
        self.nvim.wait_for(lambda: len(self._family(OFFSPRING)) == 2, "the server's offspring")
        if self.stage != "starting":
            self.nvim.wait_until(READY)
        if self.stage in ("streaming", "approval"):
            say(self.nvim, "go")
            wait_line(self.nvim, "word" if self.stage == "streaming" else " waiting")

    def end(self) -> set[int]:
        """End the victim, or Neovim when the victim is only stopped; give what must go then."""
        must_go = self._family() - self._survivors()
        os.kill(self._pid(), self.number)
        if self.number is signal.SIGSTOP:
            self.nvim.kill(signal.SIGKILL) if self.victim == "Neovim" else self.nvim.quit()
        return must_go

    def _pid(self) -> int:
        if self.victim == "server":
            [server] = self._family("scripted_server")
            return server
        return self.nvim.pid if self.victim == "Neovim" else host_of(self.nvim)

    def _survivors(self) -> set[int]:
        match self.victim:
            case "Neovim":
                return set()
            case _ if self.number is signal.SIGSTOP:
                return set()
            case "host":
                return {self.nvim.pid}
            case _:
                return {self.nvim.pid} | self._family("launch.py") | self._family("guardian.py")

    def _family(self, part: str = "") -> set[int]:
        return {pid for pid in self.nvim.child.family() if part in command_line(pid)}


def test_nothing_is_left_whoever_is_ended(
    start_nvim: StartNeovim, scripted_server: PrepareScript
) -> None:
    """What is ended in a stage goes while the next stage is reached: the last waits for 3 s."""
    ended: list[tuple[Case, set[int]]] = []
    for stage, steps in STAGES.items():
        cases = [
            Case(start_chat(start_nvim, scripted_server(*steps)), victim, number, stage)
            for victim in VICTIMS
            for number in SIGNALS
            if stage == IN_ALL_WAYS or number not in ALIKE[victim]
        ]
        for case in cases:
            case.reach()
        assert_gone(ended)
        ended = [(case, case.end()) for case in cases]
    assert_gone(ended)


def assert_gone(ended: Sequence[tuple[Case, set[int]]]) -> None:
    """Check what must be gone, and end what is left of these Neovims."""
    for case, must_go in ended:
        left = [command_line(pid) for pid in wait_gone(must_go, DEADLINE)]
        assert not left, (case.stage, case.victim, case.number)
        case.nvim.finish()


def test_nothing_is_left_of_an_agent_of_the_other_protocol(
    start_nvim: StartNeovim, tmp_path: Path
) -> None:
    asking = [*offspring(), *acp_script.handshake(), *acp_script.session(),
              *acp_script.turn(acp_script.permission("t1", title="look"))]  # fmt: skip
    cases = []
    for victim in VICTIMS:
        agent = {"command": scripted_acp(asking, tmp_path / victim).command, "protocol": "acp"}
        settings = {"server": "agent", "servers": {"agent": agent}}
        nvim = start_chat(start_nvim, [], settings=settings)
        cases.append(Case(nvim, victim, signal.SIGKILL, "approval"))
    for case in cases:
        case.reach()
    ended = [(case, case.end()) for case in cases]
    for case, must_go in ended:
        assert not [command_line(pid) for pid in wait_gone(must_go, DEADLINE)], case.victim


def left(nvim: Neovim) -> list[str]:
    """Wait until nothing is left of a Neovim that has ended; say what is."""
    while family := nvim.child.family():
        if stays := wait_gone(family, DEADLINE):
            return [command_line(pid) for pid in stays]
    return []


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_nothing_is_left_without_the_guardian(
    number: signal.Signals, start_nvim: StartNeovim, scripted_server: PrepareScript
) -> None:
    nvim = start_chat(start_nvim, scripted_server(*STAGES["idle"]))
    nvim.wait_until(READY)
    [guardian] = [pid for pid in nvim.child.family() if "guardian.py" in command_line(pid)]
    os.kill(guardian, number)
    nvim.quit()
    assert not left(nvim)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_nothing_is_left_after_requests_for_files_without_the_guardian(
    number: signal.Signals, start_nvim: StartNeovim, workspace: Path, tmp_path: Path
) -> None:
    """Their threads delayed the end of the host, and kept its exit work from running."""
    (workspace / ".hg").mkdir()
    file = workspace / "a.txt"
    long = "a line\n" * 2000  # so that it is kept in a file
    file.write_text(f"one\n{long}")
    scripted = Scripted(tmp_path)
    scripted.play([read(file), write(file, f"two\n{long}")])
    agent = {"command": scripted.command, "protocol": "acp"}
    nvim = start_nvim(settings={"server": "sdk", "servers": {"sdk": agent}})
    nvim.keys(":EcaChat go<CR>")
    nvim.wait_screen("allow this?")
    nvim.keys(":Eca approve<CR>")
    wait_idle(nvim)
    assert file.read_text() == f"two\n{long}"
    folders = Path(nvim.launch.variables()["TMPDIR"])
    [guardian] = [pid for pid in nvim.child.family() if "guardian.py" in command_line(pid)]
    os.kill(guardian, number)
    nvim.quit()
    assert not left(nvim)
    assert not [*folders.glob("eca-*")]


ENDINGS: dict[str, Callable[[Neovim], int]] = {
    "quit": lambda nvim: nvim.quit(),
    "killed": lambda nvim: nvim.kill(signal.SIGKILL),
}
MOMENTS = (":EcaChat", "launch.py", "guardian.py", "scripted_server")
"""What is in the command lines of what starts one after the other."""


@pytest.mark.parametrize("ending", ENDINGS)
def test_nothing_is_left_of_a_start_that_was_cut_short(
    ending: str, start_nvim: StartNeovim, scripted_server: PrepareScript
) -> None:
    settings = {"server": {"command": scripted_server(*STAGES["starting"]).command}}
    started = [(start_nvim(settings=settings), moment) for moment in MOMENTS]
    for nvim, moment in started:
        nvim.input(":EcaChat<CR>")
        while moment in MOMENTS[1:] and not any(
            moment in command_line(pid) for pid in nvim.child.family()
        ):
            nvim.child.channel.pump(0.001)
        ENDINGS[ending](nvim)
    for nvim, moment in started:
        assert not left(nvim), moment


def test_nothing_is_left_of_a_host_that_had_several_servers(
    start_nvim: StartNeovim, scripted_server: PrepareScript
) -> None:
    server = scripted_server(*STAGES["idle"])
    nvim = start_chat(start_nvim, server)
    nvim.wait_until(READY)
    nvim.keys(":Eca restart<CR>")
    nvim.wait_for(lambda: len(server.received("initialized")) == 2, "the second server")
    must_go = nvim.child.family() - {nvim.pid}
    os.kill(host_of(nvim), signal.SIGKILL)
    assert not wait_gone(must_go, DEADLINE)
    nvim.take_errors()


def test_nothing_is_left_of_what_a_host_starts_for_itself(
    start_nvim: StartNeovim, scripted_server: PrepareScript, workspace: Path, tmp_path: Path
) -> None:
    """Here: of the git that stores the workspace."""
    (workspace / ".git").mkdir()
    git = tmp_path / "git"
    git.write_text(f"#!/bin/sh\nexec {SLEEP}\n")
    git.chmod(0o755)
    server = scripted_server(handshake(), turn(FLOOD))
    path = {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    nvim = start_chat(start_nvim, server, environment=path)
    say(nvim, "go")
    nvim.wait_for(lambda: SLEEP in map(command_line, nvim.child.family()), "git")
    must_go = nvim.child.family() - {nvim.pid}
    os.kill(host_of(nvim), signal.SIGKILL)
    assert not wait_gone(must_go, DEADLINE)
    nvim.take_errors()
