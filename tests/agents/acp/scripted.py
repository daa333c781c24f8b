"""An agent that follows a script (`tests/support/acp_agent.py`)."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

from tests.support import servers

Value: TypeAlias = Any


class Scripted:
    """The agent's files: its script and what it reports."""

    def __init__(self, folder: Path, *words: str) -> None:
        self._script, self._report = folder / "script.json", folder / "report.jsonl"
        self.command = servers.acp_agent(self._script, self._report, *words)

    def play(self, *turns: Sequence[Value], **more: Value) -> None:
        """Set the script."""
        self._script.write_text(json.dumps({"turns": turns} | more))

    @property
    def report(self) -> list[dict[str, Value]]:
        """What it got so far."""
        return [json.loads(line) for line in self._report.read_text().splitlines()]

    def answers(self) -> list[Value]:
        """Return the answers to its requests."""
        return [it["answer"] for it in self.report if "answer" in it]

    def faults(self) -> list[str]:
        """Return what was not valid, by the models of the official SDK."""
        from tests.support.acp_models import faults

        return [*faults(self.report)]
