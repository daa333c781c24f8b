"""Commands that start the tests' servers, and the files that these leave for the tests."""

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.client import TIMEOUT
from tests.support.editor import Neovim
from tests.support.launch import REPOSITORY
from tests.support.script import Step
from tests.support.wire import Message

RECORDINGS = REPOSITORY / "tests" / "fixtures" / "traffic" / "eca"
ACP_RECORDINGS = REPOSITORY / "tests" / "fixtures" / "traffic" / "acp"

PROGRAM = Path(sys.executable).name
"""How the plugin names a server that is started by `module_command`."""


def module_command(module: str, *arguments: str) -> list[str]:
    """Return a command that calls `main` of a module of this repository, in any folder.

    The module gets no installed packages: to look for these, and `-m`, are a third of its start.
    """
    code = f"import sys; sys.path[:0] = [sys.argv.pop(1)]; from {module} import main; main()"
    return [sys.executable, "-I", "-S", "-c", code, str(REPOSITORY), *arguments]


@dataclass(frozen=True)
class Replay:
    """A recording to play: the server's `command`, and its report after its end."""

    command: list[str]
    report_path: Path

    def report(self) -> dict[str, Any] | None:
        """Return `missing`, `unexpected`, `different`, `matched`; None while the player runs."""
        if not self.report_path.exists():
            return None
        report: dict[str, Any] = json.loads(self.report_path.read_text())
        return report

    def assert_as_recorded(self, nvim: Neovim) -> None:
        """Quit Neovim; fail if its client left out a recorded message, or sent another."""
        nvim.quit()
        nvim.child.orphans(TIMEOUT)
        report = self.report()
        assert report is not None, f"the player has left no report at {self.report_path}"
        faults = {name: report[name] for name in ("missing", "different") if report[name]}
        assert not faults, json.dumps(report, indent=1)


@dataclass(frozen=True)
class ScriptedServer:
    """A scripted server: its `command`, and what the client has sent so far."""

    command: list[str]
    journal: Path

    def received(self, method: str | None = None) -> list[Message]:
        """Return the client's messages so far, or those of one method."""
        if not self.journal.exists():
            return []
        lines = self.journal.read_text(encoding="utf-8").splitlines(keepends=True)
        messages = [json.loads(line) for line in lines if line.endswith("\n")]
        return [it for it in messages if method is None or it.get("method") == method]

    def answers(self) -> list[Message]:
        """Return the client's answers to the requests of the script."""
        return [message for message in self.received() if "method" not in message]


def replay(recording: str, folder: Path, speed: float = 0) -> Replay:
    """Prepare to play a recording; with `speed` 1 it keeps its pauses, with 0 it has none."""
    path = RECORDINGS / f"{recording}.jsonl"
    assert path.exists(), f"no recording {path}"
    report = folder / f"{recording}.report.json"
    options = ("--speed", str(speed), "--report", str(report))
    return Replay(module_command("tests.support.replay_server", str(path), *options), report)


def replay_acp(recording: str, folder: Path, *options: str) -> Replay:
    """Prepare to play a recording of an ACP agent; `options` are those of the player."""
    path = ACP_RECORDINGS / f"{recording}.jsonl"
    assert path.exists(), f"no recording {path}"
    report = folder / f"{recording}.report.json"
    saved = ("--report", str(report))
    return Replay(module_command("tests.support.replay_acp", str(path), *saved, *options), report)


def scripted_acp(steps: Sequence[Step], folder: Path) -> ScriptedServer:
    """Prepare to perform a script as an ACP agent; its files go to the folder."""
    server = scripted(steps, folder)
    return ScriptedServer([*server.command, "--lines"], server.journal)


def acp_agent(script: Path, report: Path, *words: str) -> list[str]:
    """Return a command that runs `acp_agent.py`: programs by a path have a name for the user."""
    path = REPOSITORY / "tests" / "support" / "acp_agent.py"
    command = ["/usr/bin/env", f"PYTHONPATH={REPOSITORY}", sys.executable, str(path)]
    return [*command, str(script), str(report), *words]


def scripted(steps: Sequence[Step], folder: Path) -> ScriptedServer:
    """Prepare to perform a script; its files go to the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    script, journal = folder / "script.json", folder / "journal.jsonl"
    script.write_text(json.dumps(steps), encoding="utf-8")
    files = (str(script), str(journal))
    return ScriptedServer(module_command("tests.support.scripted_server", *files), journal)
