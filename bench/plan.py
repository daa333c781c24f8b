"""What the fake server does in one run: turns, each ending with a mark that the screen shows."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench import texts

MARKS = "ΩΨΦ"
"""One for each turn of a plan; no text has them. The screen shows one: the turn's text is there."""
WARM_UP_CHUNKS = 20


@dataclass(frozen=True)
class Turn:
    """One answer of the server: [role, text] pairs, and how many a second (0: at once)."""

    messages: Sequence[Sequence[str]]
    rate: float = 0

    @property
    def text(self) -> str:
        """What the assistant says in all, without line breaks at either end."""
        return "".join(text for role, text in self.messages if role == "assistant").strip("\n")

    @property
    def seconds(self) -> float:
        """How long the server takes at least."""
        return len(self.messages) / self.rate if self.rate else 0.0


@dataclass(frozen=True)
class Plan:
    """What happens in one run; only the last turn is measured."""

    turns: Sequence[Turn]

    def write(self, path: Path) -> None:
        """Write the file that the server reads."""
        turns = [
            {"messages": [*turn.messages, ["assistant", f"\n\n{mark}"]], "rate": turn.rate}
            for turn, mark in zip(self.turns, MARKS, strict=False)
        ]
        path.write_text(json.dumps(turns, ensure_ascii=False), encoding="utf-8")


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
