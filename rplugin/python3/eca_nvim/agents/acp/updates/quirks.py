"""Quirks: what single agents send that no protocol has.

Rules kept here:
- A row names the agent and the last version that was seen to do it, and where that is recorded.
- A row has a bound only if a version was seen to do without it: `make agents` runs the newest ones
  and says so. An agent's source proves nothing.
- A row works for every agent: what it matches means nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct

from eca_nvim.agents.acp.updates.changes import EditorDiff
from eca_nvim.protocol.acp.tool_call import ToolKind

_SEEN: Final = "seen live; there is no recording"


class ModeInText(Struct, frozen=True):
    """A change of mode sent as text of an answer: a whole piece is the prefix and an id."""

    agent: str
    last_version: str
    source: str
    prefix: str


MODES_IN_TEXT: Final[Sequence[ModeInText]] = (
    ModeInText("gemini", "0.61", _SEEN, "[MODE_UPDATE] "),
)


class NeedsEmptyText(Struct, frozen=True):
    """An agent that cannot make a file, because it takes the error of a missing one as a failure.

    It gets the empty text. ended_in: the first version that was seen to understand the error.
    """

    agent: str
    last_version: str
    source: str
    ended_in: str | None = None


EMPTY_TEXTS: Final[Sequence[NeedsEmptyText]] = (
    NeedsEmptyText("gemini-cli", "0.61.0", "tests/journeys/alone/test_quirks.py"),
)


def gets_empty_text(agent: str, version: str) -> bool:
    """Return whether an agent needs the empty text in place of a missing file."""
    return any(
        row.agent == agent and (row.ended_in is None or _numbers(version) < _numbers(row.ended_in))
        for row in EMPTY_TEXTS
    )


class WholePrompts(Struct, frozen=True):
    """An agent that replays each prompt in one piece, without an id or anything between two."""

    agent: str
    last_version: str
    source: str


WHOLE_PROMPTS: Final[Sequence[WholePrompts]] = (
    WholePrompts("codex-acp", "0.16.0", "codexzed-sessions"),
    WholePrompts("Copilot", "1.0.102", _SEEN),
    WholePrompts("fast-agent-acp", "0.10.46", _SEEN),
    WholePrompts("gemini-cli", "0.61.0", _SEEN),
    WholePrompts("qwen-code", "0.24.4", "qwen-sessions"),
)


def sends_whole_prompts(agent: str) -> bool:
    """Return whether an agent replays each prompt in one piece."""
    return any(row.agent == agent for row in WHOLE_PROMPTS)


class Meant(Struct, frozen=True):
    """What a call does that names no kind and has no diff, by the first word of its first title.

    Later titles are words of a model. It is about `kind`; its arguments are the command, or the
    path and the texts of an edit, which is made through the editor.
    """

    agent: str
    last_version: str
    source: str
    title: str
    kind: ToolKind
    arguments: tuple[str, ...]


_GOOSE: Final = ("goose", "1.34.0", _SEEN)
MEANT: Final[Sequence[Meant]] = (
    Meant(*_GOOSE, "shell", ToolKind.EXECUTE, ("command",)),
    Meant(*_GOOSE, "edit", ToolKind.EDIT, ("path", "before", "after")),
    Meant(*_GOOSE, "write", ToolKind.EDIT, ("path", "content")),
)


def meant(title: str, arguments: Mapping[str, object]) -> Meant | None:
    """Return what a call of no kind means by its first title and its arguments."""
    first, given = title.partition(" ")[0], {*arguments}
    return next((it for it in MEANT if it.title == first and {*it.arguments} == given), None)


def meant_diff(row: Meant, arguments: Mapping[str, object]) -> EditorDiff | None:
    """Return the change that arguments describe; None for a command, and for what is no text."""
    match [arguments[name] for name in row.arguments]:
        case [str(path), str(before), str(after)]:
            return EditorDiff(path, after, before)
        case [str(path), str(text)]:
            return EditorDiff(path, text)
        case _:
            return None


def _numbers(version: str) -> tuple[int, ...]:
    """Return the numbers of a version: 0.24.4-nightly is (0, 24, 4)."""
    release = version.removeprefix("v").partition("-")[0]
    return tuple(int(it) if it.isdecimal() else 0 for it in release.split("."))


def mode_in_text(text: str) -> str | None:
    """Return the id of the mode that a piece of an answer stands for; None for ordinary text."""
    for row in MODES_IN_TEXT:
        if text.startswith(row.prefix) and len(words := text[len(row.prefix) :].split()) == 1:
            return words[0]
    return None
