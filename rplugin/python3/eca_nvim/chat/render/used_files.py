"""Used files: the op that tells the view about them, and the rows of `:Eca files`.

Rules kept here:
- The bar of a file says its heat without colour: more of it is full the hotter the file is.
- A path is the view's to shorten; nothing else in a row is anybody's text.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final, TypeAlias

from eca_nvim.chat.model.chat import Chat
from eca_nvim.chat.model.used_files import UsedFile, cooled
from eca_nvim.chat.vocabulary.file_uses import SetFilesUsed, Use
from eca_nvim.chat.vocabulary.ops import Segment

CELLS: Final = 5
FULL, FREE = "█", "░"
WARM: Final = 3
"""Full cells of a heat of 1: one use in this turn. Each doubling is a cell more."""
MOST_ROWS: Final = 1000

Lines: TypeAlias = Mapping[str, tuple[int, int]]
"""Lines added and removed by commands, by path."""


def set_files_used(chat: Chat) -> SetFilesUsed:
    """Return the op with what the view does not know yet."""
    news, dropped = chat.used.take_news()
    files = [_table(chat, path, chat.used.files[path]) for path in news]
    return SetFilesUsed(chat.id, chat.used.turn, files, dropped)


def _table(chat: Chat, path: str, file: UsedFile) -> dict[str, Any]:
    counts = {use.value: file.counts[use] for use in Use if file.counts[use]}
    outside = _is_outside(path, chat.settings.folders)
    return {"path": path, "outside": outside, "turn": file.turn, "heat": file.heat, **counts}


def files_used(chat: Chat, by_commands: Lines) -> dict[str, Any]:
    """Return what `:Eca files` shows: `head` (segments), `files` (the hottest first), `more`.

    A file: path, heat (segments) and use (segments). more: how many files are not in the list.
    """
    rows = [
        _row(chat, path, file, by_commands.get(path, (0, 0)))
        for path, file in islice(chat.used.hottest_first(), MOST_ROWS)
    ]
    return {"head": _head(chat), "files": rows, "more": len(chat.used.files) - len(rows)}


def _row(chat: Chat, path: str, file: UsedFile, lines: tuple[int, int]) -> dict[str, Any]:
    heat = cooled(file.heat, chat.used.turn - file.turn)
    outside = _is_outside(path, chat.settings.folders)
    use = list(_use(file, lines, outside=outside))
    return {"path": path, "heat": _bar(heat), "use": use}


def _is_outside(path: str, folders: Sequence[str]) -> bool:
    return bool(folders) and not any(path.startswith(f"{folder}/") for folder in folders)


def _bar(heat: float) -> Sequence[Segment]:
    full = min(CELLS, max(0, math.floor(math.log2(heat)) + WARM)) if heat > 0 else 0
    return [(FULL * full, "EcaUsage1"), (FREE * (CELLS - full), "EcaUsageFree")]


def _use(file: UsedFile, lines: tuple[int, int], *, outside: bool) -> Iterator[Segment]:
    yield f"  {f'turn {file.turn}' if file.turn else 'earlier':8}", "EcaMuted"
    words = (f"{use.value}{_times(file.counts[use])}" for use in Use if file.counts[use])
    yield f" {', '.join(words)}", "EcaMuted"
    added, removed = file.added + lines[0], file.removed + lines[1]
    if added + removed:  # unknown for some changes
        yield "  ", ""
        yield f"+{added}", "EcaDiffAdd"
        yield " ", ""
        yield f"-{removed}", "EcaDiffDelete"
    if outside:
        yield "  outside the workspace", "EcaWarning"


def _times(count: int) -> str:
    return f" \N{MULTIPLICATION SIGN}{count}" if count > 1 else ""


def _head(chat: Chat) -> Sequence[Segment]:
    number, usage = chat.turn.number, chat.usage
    words = [f"turn {number}" if number else "no turn yet"]
    if usage is not None and usage.session_tokens is not None:
        used, limit = usage.session_tokens, usage.context_limit
        words.append(f"{used:,} of {limit:,} tokens" if limit else f"{used:,} tokens")
        if limit:
            words.append(f"{used / limit:.0%} of the context window")
    return [(" · ".join(words), "EcaWinbarTitle")]
