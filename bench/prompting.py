"""How much later a prompt goes out, and what more the host needs, while the store of files is on.

Two Neovims stand in one workspace, one with checkpoints and one without. Both send the same prompts
in turn, each after the answer to the one before and once its files are stored. Measured are the
time from the call that sends a prompt to the server that has read it, and the most memory that each
host has taken, until after the last answer.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from bench import cpu, plan, rows
from bench.completion import started
from bench.editor import Editor
from bench.figures import Samples
from bench.sides import SERVER, server_command

FILES = 20_000
"""Files of the workspace."""
WARM_UP = 3
PROMPTS = 12
"""Prompts that are measured after the first ones."""
PAUSE = 0.5
"""Seconds from an answer to the next prompt: the files after the turn are stored by then."""


@dataclass
class Prompted:
    """Seconds from each prompt to the server, and the MiB that the host has taken at the most."""

    seconds: list[float] = field(default_factory=list)
    memory: float = 0.0


def measure(version: str) -> Samples:
    """Send prompts with the store and without. Raises Unmeasurable."""
    with tempfile.TemporaryDirectory(prefix="eca-bench-") as name, ExitStack() as stack:
        folder = Path(name)
        workspace = _workspace(folder)
        chats = [
            _Chat(stack, version, folder / side, workspace, stores=side == "with")
            for side in ("with", "without")
        ]
        for number in range(WARM_UP + PROMPTS):
            for chat in chats if number % 2 else reversed(chats):
                chat.prompt(number)
        ours, floor = (chat.result() for chat in chats)
        return {
            rows.PROMPT: (ours.seconds, floor.seconds),
            rows.MEMORY: ([ours.memory], [floor.memory]),
        }


def _workspace(folder: Path) -> Path:
    """Make a repository of many files."""
    root = folder / "work"
    for number in range(FILES):
        path = root / f"{number % 100:02}" / f"file{number}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"the text of file {number}\n", encoding="utf-8")
    subprocess.run(["git", "init", "--quiet"], cwd=root, check=True)  # noqa: S607
    return root


class _Chat:
    """A Neovim with a chat. `stores`: with checkpoints."""

    def __init__(
        self, stack: ExitStack, version: str, folder: Path, workspace: Path, *, stores: bool
    ) -> None:
        folder.mkdir()
        self._plan = folder / "plan.json"
        turns = [{"messages": [["assistant", "done"]], "rate": 0}] * (WARM_UP + PROMPTS)
        self._plan.write_text(json.dumps(turns), encoding="utf-8")
        settings = {
            "python": sys.executable,
            "server": {"command": server_command(self._plan, "eca")},
            "checkpoints": {"enabled": stores},
        }
        self._stores = stores
        self._sent: list[float] = []
        self._editor: Editor = stack.enter_context(started(version, settings))
        self._editor.request("nvim_command", f"cd {workspace} | EcaChat")
        self._editor.wait_lua("require('eca').status().server == 'ready'", "the server")

    def prompt(self, number: int) -> None:
        """Send a prompt, and wait until nothing is left to do for it."""
        self._editor.child.channel.pump(PAUSE)
        self._sent.append(time.monotonic())
        self._editor.lua("require('eca').send('go on')")
        self._editor.wait(lambda: len(self._received()) > number, "the prompt")
        self._editor.wait_lua("require('eca').status().state == 'idle'", "the answer")
        if self._stores:
            kept = f"#require('eca').checkpoints() > {number}"
            self._editor.wait_lua(kept, "the files before the prompt")

    def _received(self) -> list[float]:
        return plan.starts(self._plan)

    def result(self) -> Prompted:
        """Return what it took."""
        pairs = [*zip(self._sent, self._received(), strict=True)][WARM_UP:]
        family = cpu.family(self._editor.child.pid, SERVER.name) - {self._editor.child.pid}
        return Prompted([got - sent for sent, got in pairs], max(map(cpu.most_memory, family)))
