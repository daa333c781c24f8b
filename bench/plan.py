"""What the fake server does in one run: turns, each ending with a mark that the screen shows."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from bench import texts

MARKS = "ΩΨΦ"
"""One for each turn of a plan; no text has them. The screen shows one: the turn's text is there."""
WARM_UP_CHUNKS = 20

Message: TypeAlias = Sequence[str | Mapping[str, object]]
"""A role, and a text or another content."""


@dataclass(frozen=True)
class Turn:
    """One answer of the server: messages, and how many a second (0: at once).

    is_replay: it answers the opening of a chat of another day, and not a prompt.
    """

    messages: Sequence[Message]
    rate: float = 0
    is_replay: bool = False

    @property
    def texts(self) -> list[str]:
        """What the assistant says, without line breaks at either end; answers, of a replay."""
        said = [text for role, text in self.messages if role == "assistant"]
        pieces = [text for text in said if isinstance(text, str)]
        return [text.strip("\n") for text in (pieces if self.is_replay else ["".join(pieces)])]

    @property
    def seconds(self) -> float:
        """How long the server takes at least."""
        return len(self.messages) / self.rate if self.rate else 0.0

    @property
    def contents(self) -> int:
        """How many contents the client has received when the mark is there."""
        return len(self.messages) + (1 if self.is_replay else 3)


@dataclass(frozen=True)
class Plan:
    """What happens in one run; only the last turn is measured. `files` are in the project."""

    turns: Sequence[Turn]
    files: Mapping[str, str] = field(default_factory=dict)

    def write(self, path: Path, project: Path) -> None:
        """Write the files of the project, and into `path` what the server is to say."""
        for name, text in self.files.items():
            (project / name).write_text(text, encoding="utf-8")
        turns = [
            {"messages": [*turn.messages, ["assistant", f"\n\n{mark}"]], "rate": turn.rate}
            for turn, mark in zip(self.turns, MARKS, strict=False)
        ]
        plan = json.dumps(turns, ensure_ascii=False)
        path.write_text(plan.replace(texts.PROJECT, str(project)), encoding="utf-8")


def started(path: Path) -> float:
    """Read when the last turn's first byte went out, in monotonic seconds."""
    return int(path.with_name(path.name + ".times").read_text().split()[-1]) / 1e9


def spoken(pieces: Sequence[str], rate: float = 0) -> Turn:
    """Make a turn in which only the assistant speaks."""
    return Turn([["assistant", piece] for piece in pieces], rate)


WARM_UP = spoken(texts.chunks(WARM_UP_CHUNKS))
"""A first short answer, so that everything has been loaded before anything is measured."""


def measured(turn: Turn, *before: Turn) -> Plan:
    """Make a plan with a warm-up, what else must come before, and the turn to measure."""
    return Plan((WARM_UP, *before, turn))
