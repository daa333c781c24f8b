"""Call files: which files tool calls read and change.

Rules kept here: paths come from a model. Only absolute paths without unsafe characters are used.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

from eca_nvim.chat.text.diffs import (
    Hunk,
    Line,
    LineKind,
    MalformedDiff,
    change_hunks,
)
from eca_nvim.chat.text.safe_text import clean
from eca_nvim.chat.vocabulary.call_details import FileChange, KnownSoFar, ToolCall, ToolKind

MOST_PLACES = 100
"""Most places of a file that are shown."""
MOST_LISTED = 100
"""Files that a request lists, at most."""
CHANGES_NOTHING = frozenset(
    {
        *(ToolKind.READ, ToolKind.SEARCH, ToolKind.THINK, ToolKind.FETCH, ToolKind.SWITCH_MODE),
        *(ToolKind.TASKS, ToolKind.ASK, ToolKind.AGENT),
    }
)
"""Kinds of calls that change no file."""
_NAMES_CHANGED_FILES = frozenset({ToolKind.EDIT, ToolKind.DELETE, ToolKind.MOVE})
_END = Line(LineKind.CONTEXT, "")
"""Sentinel after the last line of a hunk."""


def may_change(call: ToolCall) -> bool:
    """Return whether a call may change files; true for calls of an unknown kind."""
    return call.kind not in CHANGES_NOTHING


def changed_paths(call: ToolCall) -> tuple[str, ...]:
    """Return the files a call says it changes."""
    named = call.locations if call.kind in _NAMES_CHANGED_FILES else ()
    if not (named or call.changes) or not may_change(call):
        return ()
    paths = [it.path for it in named or ()]
    return _safe_paths([*paths, *(it.path for it in call.changes or ())])


def paths_so_far(call: ToolCall, so_far: KnownSoFar | None) -> tuple[str, ...]:
    """Return the files a call will change, as far as its arguments name them so far."""
    if so_far is None or call.kind not in _NAMES_CHANGED_FILES:
        return ()
    return _safe_paths(it.path for it in so_far.locations)


def read_paths(call: ToolCall) -> tuple[str, ...]:
    """Return the files a call says it reads."""
    return _safe_paths(it.path for it in call.locations or ()) if call.kind is ToolKind.READ else ()


def listed_files(call: ToolCall) -> tuple[str, ...]:
    """Return the files that the request for a call lists; () if they are too many to be listed."""
    paths = _safe_paths(it.path for it in call.locations or ())
    return paths if len(paths) <= MOST_LISTED else ()


def moved(call: ToolCall) -> tuple[str, str] | None:
    """Return source and destination of a call that moves a file; None for other calls."""
    if call.kind is not ToolKind.MOVE:
        return None
    match _safe_paths(it.path for it in call.locations or ()):
        case (source, destination):
            return source, destination
        case _:
            return None


def changed_places(change: FileChange, *, done: bool) -> list[tuple[int, int]]:
    """Return the lines that a change will remove or, once it is `done`, has added.

    Each place is the first line (1-based) and the number of lines, which may be 0.
    """
    if not change.placed:
        return [(1, 0)]
    try:
        hunks = change_hunks(change)
    except MalformedDiff:
        return [(1, 0)]
    places = (place for hunk in hunks for place in _places(hunk, done=done))
    return list(islice(places, MOST_PLACES))


def _places(hunk: Hunk, *, done: bool) -> Iterator[tuple[int, int]]:
    """Yield the runs of changed lines of a hunk, in the file before the change or after it."""
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


def is_safe_path(path: str) -> bool:
    """Return whether a path is absolute, on one line, and has no unsafe characters."""
    return path.startswith("/") and path == clean(path.split("\n", 1)[0])


def _safe_paths(paths: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(path for path in paths if is_safe_path(path)))
