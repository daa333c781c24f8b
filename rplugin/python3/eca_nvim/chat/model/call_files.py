"""Call files: which files tool calls read and change.

Rules kept here: paths come from a model. Only absolute ones without anything to clean count.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

from msgspec import Struct

from eca_nvim.chat.model.blocks import ToolBlock
from eca_nvim.chat.model.chat import Chat
from eca_nvim.chat.model.known_tools import facts_of
from eca_nvim.chat.text.diffs import (
    Hunk,
    Line,
    LineKind,
    MalformedDiff,
    change_hunks,
)
from eca_nvim.chat.text.safe_text import clean
from eca_nvim.chat.vocabulary.call_details import FileChange, ToolCall
from eca_nvim.chat.vocabulary.states import CallState

MOST_PLACES = 100
"""Places in a file that are shown, at most."""
_END = Line(LineKind.CONTEXT, "")
"""Stands for what follows a hunk."""


def may_change(call: ToolCall) -> bool:
    """Say whether a call may change files at all; any may that is not known."""
    facts = facts_of(call)
    return facts is None or facts.writes != ()


def changed_paths(call: ToolCall) -> tuple[str, ...]:
    """Give the files that a call says it changes."""
    if not may_change(call):
        return ()
    facts = facts_of(call)
    keys = facts.writes if facts is not None and facts.writes else ()
    details = (call.details.path,) if isinstance(call.details, FileChange) else ()
    return _safe((*_named(call, keys), *details))


def paths_so_far(call: ToolCall, telling: tuple[str, str] | None) -> tuple[str, ...]:
    """Give the file that a call is to change, by the argument that is known while it is written."""
    facts = facts_of(call)
    if facts is None or telling is None or telling[0] not in (facts.writes or ()):
        return ()
    return _safe(telling[1:])


def read_paths(call: ToolCall) -> tuple[str, ...]:
    """Give the files that a call says it reads."""
    facts = facts_of(call)
    return _safe(_named(call, facts.reads)) if facts is not None else ()


def moved(call: ToolCall) -> tuple[str, str] | None:
    """Give where a call moves a file from and to, when that is what it does."""
    facts = facts_of(call)
    if facts is None or not facts.moves:
        return None
    match _safe(_named(call, facts.writes or ())):
        case (source, destination):
            return source, destination
        case _:
            return None


def whole_text(call: ToolCall) -> str | None:
    """Give the text that a call writes as the whole of its file, when that is what it does."""
    facts = facts_of(call)
    if facts is None or facts.whole is None:
        return None
    text = (call.arguments or {}).get(facts.whole)
    return text if isinstance(text, str) else None


def changed_places(change: FileChange, *, done: bool) -> list[tuple[int, int]]:
    """Give the lines that a change takes out, or when it is done, has put in.

    Each as the first line (1-based) and how many; 0 where there are none on that side.
    """
    try:
        hunks = change_hunks(change)
    except MalformedDiff:
        return [(1, 0)]
    places = (place for hunk in hunks for place in _places(hunk, done=done))
    return list(islice(places, MOST_PLACES))


def _places(hunk: Hunk, *, done: bool) -> Iterator[tuple[int, int]]:
    """Give the runs of changed lines of a hunk, in the file as it is before or after it."""
    absent = LineKind.REMOVED if done else LineKind.ADDED
    line = first = max(1, hunk.target if done else hunk.start)
    is_changed = False
    for each in (*hunk.lines, _END):
        if each.kind is LineKind.CONTEXT:
            if is_changed:
                yield first, line - first
            is_changed, first = False, line + 1
        else:
            is_changed = True
        line += each.kind is not absent


def _named(call: ToolCall, keys: Sequence[str]) -> Iterator[str]:
    return (str((call.arguments or {}).get(key, "")) for key in keys)


def is_plain(path: str) -> bool:
    """Say whether a path is absolute, in one line and without anything to clean."""
    return path.startswith("/") and path == clean(path.split("\n", 1)[0])


def _safe(paths: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(path for path in paths if is_plain(path)))


class FileUse(Struct):
    """How often a chat's tools read and changed a file, and by how many lines."""

    reads: int = 0
    changes: int = 0
    added: int = 0
    removed: int = 0


def files_used(chat: Chat) -> dict[str, FileUse]:
    """Count what the tools of a chat say they did with files, by path, most used first."""
    uses: dict[str, FileUse] = {}
    for block in chat.blocks.values():
        if isinstance(block, ToolBlock) and block.state is CallState.DONE:
            _count(uses, block.call)
    return most_used_first(uses)


def most_used_first(uses: Mapping[str, FileUse]) -> dict[str, FileUse]:
    """Put the use of files in the order in which it is listed."""
    order = sorted(uses, key=lambda path: (-uses[path].changes - uses[path].reads, path))
    return {path: uses[path] for path in order}


def _count(uses: dict[str, FileUse], call: ToolCall) -> None:
    for path in read_paths(call):
        uses.setdefault(path, FileUse()).reads += 1
    for path in changed_paths(call):
        use = uses.setdefault(path, FileUse())
        use.changes += 1
        if isinstance(call.details, FileChange) and path == call.details.path:
            use.added += call.details.added
            use.removed += call.details.removed
