"""What a real agent's command did to files is undone in the next Neovim."""

import signal
import subprocess
from pathlib import Path

from tests.journeys.agents import RealAgent
from tests.journeys.answers import allow_all, prompt, start
from tests.session.lives import state
from tests.support.factories import StartNeovim


def test_a_command_is_undone_after_a_kill(
    start_nvim: StartNeovim, agent: RealAgent, workspace: Path, tmp_path: Path
) -> None:
    agent.needs("run")
    subprocess.run(["git", "init", "-q", str(workspace)], check=True)
    (workspace / "key").write_text("secret\n")
    (workspace / "key").chmod(0o600)
    before = state(workspace)
    nvim = start(start_nvim, agent, tmp_path / "state")
    chat = nvim.lua("return require('eca').status().chat")
    command = f"cd {workspace} && rm -r src && echo rewritten > README.md && rm key && touch new"
    prompt(nvim, {"run": command}, {"say": "tidied up"})
    allow_all(nvim, "tidied up")
    assert state(workspace) != before
    nvim.keys(":Eca changes<CR>")
    nvim.wait_screen("new")
    nvim.kill(signal.SIGKILL)
    nvim.child.close()
    nvim = start(start_nvim, agent, tmp_path / "state")
    nvim.lua("require('eca').open({ chat = ... })", chat)
    nvim.keys(":Eca undo-turn<CR>")
    nvim.wait_screen("deleted, made by a command")

    def is_undone() -> bool:
        nvim.keys("Tu")  # again: the float takes no key at first
        now = state(workspace)  # agents keep files of their own there
        return not (workspace / "new").exists() and now | before == now

    nvim.wait_for(is_undone, "the files to be as before")
    nvim.take_errors()  # the last u was one too many
