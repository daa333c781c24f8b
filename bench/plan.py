"""What the fake server does in a run: turns, each of which ends with a mark on the screen."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from bench import texts

MARKS = "ΩΨΦ"
"""A mark for each turn, which no text has. When the screen shows it, the turn is complete."""
WARM_UP_CHUNKS = 20

Message: TypeAlias = Sequence[str | Mapping[str, object]]
"""A role and a text or other content."""


@dataclass(frozen=True)
class Turn:
    """One answer of the server: messages, and how many per second (0: at once).

    is_replay: it answers the opening of an earlier chat, not a prompt.
    """

    messages: Sequence[Message]
    rate: float = 0
    is_replay: bool = False

    @property
    def texts(self) -> list[str]:
        """The texts of the assistant (answers of a replay), without line breaks at the ends."""
        said = [text for role, text in self.messages if role == "assistant"]
        pieces = [text for text in said if isinstance(text, str)]
        return [text.strip("\n") for text in (pieces if self.is_replay else ["".join(pieces)])]

    @property
    def seconds(self) -> float:
        """The least time that the server takes."""
        return len(self.messages) / self.rate if self.rate else 0.0


@dataclass(frozen=True)
class Plan:
    """The turns of a run; only the last one is measured. `files`: files of the project."""

    turns: Sequence[Turn]
    files: Mapping[str, str] = field(default_factory=dict)

    def write(self, path: Path, project: Path) -> None:
        """Write the files of the project, and the server's plan to `path`."""
        for name, text in self.files.items():
            (project / name).write_text(text, encoding="utf-8")
        turns = [
            {"messages": [*turn.messages, ["assistant", f"\n\n{mark}"]], "rate": turn.rate}
            for turn, mark in zip(self.turns, MARKS, strict=False)
        ]
        plan = json.dumps(turns, ensure_ascii=False)
        path.write_text(plan.replace(texts.PROJECT, str(project)), encoding="utf-8")


def starts(path: Path) -> list[float]:
    """Return when the first byte of each turn was written, in monotonic seconds."""
    times = path.with_name(path.name + ".times")
    return [int(it) / 1e9 for it in times.read_text().split()] if times.exists() else []


def spoken(pieces: Sequence[str], rate: float = 0) -> Turn:
    """Make a turn in which only the assistant speaks."""
    return Turn([["assistant", piece] for piece in pieces], rate)


WARM_UP = spoken(texts.chunks(WARM_UP_CHUNKS))
"""A short first answer, so that everything is loaded before the measurement."""


def measured(turn: Turn, *before: Turn) -> Plan:
    """Make a plan with a warm-up, other turns that must come first, and the turn to measure."""
    return Plan((WARM_UP, *before, turn))
