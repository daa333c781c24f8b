"""Outside: paths in a tool call that lead out of the workspace.

Rules kept here:
- Pure: nothing is looked up, so a link inside a folder counts as inside, and a home as outside.
  What a call says is looked at, not what a program may do.
- Only what is surely a path counts: it begins at the root, at a home, or climbs. A text, a pattern
  or a whole command line is none.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Sequence

from eca_nvim.chat.details import FileChange, ShellCommand, ToolCall
from eca_nvim.chat.text import literal_name

_SCHEME = "file://"
_STARTS = ("/", "~", "../")
_NO_PATHS = frozenset(
    {
        *("command", "content", "new_content", "original_content", "pattern", "query", "regex"),
        *("text", "task", "prompt", "question", "description"),
    }
)
"""Arguments that hold text."""
_NO_PLACES = frozenset({"/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr"})


def paths_outside(call: ToolCall, folders: Sequence[str]) -> tuple[str, ...]:
    """Give the paths a call names that are in none of some folders, each once and clean.

    folders: absolute, without a final slash; the first is where relative paths begin. Without any
    nothing is outside.
    """
    if not folders:
        return ()
    found = (path for path in _named(call) if _is_outside(path, folders))
    return tuple(dict.fromkeys(literal_name(path) for path in found))


def _named(call: ToolCall) -> Iterator[str]:
    if isinstance(call.details, FileChange):
        yield call.details.path
    if isinstance(call.details, ShellCommand):
        for part in call.details.parts:
            yield from map(_value, part.arguments)
    for key, value in (call.arguments or {}).items():
        if key not in _NO_PATHS:
            yield from _strings(value)


def _value(argument: str) -> str:
    """Give the value of an argument like --output=/tmp/x, else the argument itself."""
    name, equals, value = argument.partition("=")
    return value if equals and name.startswith("-") else argument


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        yield from (item for item in value if isinstance(item, str))


def _is_outside(path: str, folders: Sequence[str]) -> bool:
    path = path.removeprefix(_SCHEME)
    climbs = path == ".." or "/../" in path or path.endswith("/..")
    if path in _NO_PLACES or not (path.startswith(_STARTS) or climbs):
        return False
    if path.startswith("~"):
        return True
    whole = posixpath.normpath(posixpath.join(folders[0], path))
    return not any(whole == folder or whole.startswith(folder + "/") for folder in folders)
