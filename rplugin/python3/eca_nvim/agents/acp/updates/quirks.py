"""Quirks: what single agents send that no protocol has.

Each has the last version beside it that was seen to do it. `make agents` runs the newest agents and
says if a quirk is not needed any more. A quirk works for every agent: it means nothing else.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct

from eca_nvim.agents.acp.updates.changes import EditorDiff
from eca_nvim.protocol.acp.tool_call import ToolKind

MODE_IN_TEXT: Final = "[MODE_UPDATE] "
"""A change of mode sent as text of an answer: a whole piece is this and an id.

gemini 0.61, seen live; there is no recording.
"""

EMPTY_TEXTS: Final = frozenset(
    {
        "gemini-cli",  # 0.61.0, tests/journeys/alone/test_quirks.py
    }
)
"""Agents that cannot make a file, because they take the error of a missing one as a failure.

They get the empty text.
"""

WHOLE_PROMPTS: Final = frozenset(
    {
        "codex-acp",  # 0.16.0, recording codexzed-sessions
        "Copilot",  # 1.0.102, seen live
        "fast-agent-acp",  # 0.10.46, seen live
        "gemini-cli",  # 0.61.0, seen live
        "qwen-code",  # 0.24.4, recording qwen-sessions
    }
)
"""Agents that replay each prompt in one piece, without an id or anything between two."""


class Meant(Struct, frozen=True):
    """What a call does that names no kind and has no diff, by the first word of its first title.

    Later titles are words of a model. It is about `kind`; its arguments are the command, or the
    path and the texts of an edit, which is made through the editor.
    """

    title: str
    kind: ToolKind
    arguments: tuple[str, ...]


MEANT: Final[Sequence[Meant]] = (  # goose 1.34.0, seen live
    Meant("shell", ToolKind.EXECUTE, ("command",)),
    Meant("edit", ToolKind.EDIT, ("path", "before", "after")),
    Meant("write", ToolKind.EDIT, ("path", "content")),
)


def mode_in_text(text: str) -> str | None:
    """Return the id of the mode that a piece of an answer stands for; None for ordinary text."""
    if not text.startswith(MODE_IN_TEXT):
        return None
    words = text[len(MODE_IN_TEXT) :].split()
    return words[0] if len(words) == 1 else None


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
