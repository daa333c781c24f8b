"""Outside paths: paths in a tool call that lead out of the workspace.

Rules kept here:
- Pure: nothing is looked up, so a link inside a folder counts as inside, and a home as outside.
  Where links lead is looked up elsewhere (`places`). What a call says is looked at, not what a
  program may do.
- Only what is surely a path counts: it begins at the root, at a home, or climbs. A text, a pattern
  or a whole command line is none. The URI of a file is, on another machine too.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping, Sequence
from urllib.parse import unquote

from eca_nvim.chat.text.safe_text import literal_name
from eca_nvim.chat.vocabulary.call_details import FileChange, ShellCommand, ToolCall

_SCHEME = "file:"
_HOSTS = frozenset({"", "localhost"})
_STARTS = ("/", "~", "../")
_MARKS = frozenset("/.~")
"""One of these is in a name in a table that may be a path and no name of an argument."""
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


def paths_named(call: ToolCall) -> Iterator[str]:
    """Give what may be paths in a call, but for the words of a shell command.

    A file URI is given as the path in it, unless it is of another machine.
    """
    for name in (*_changed(call), *_strings(call.arguments)):
        path = _plain(name)
        if path is not None:
            yield path


def _named(call: ToolCall) -> Iterator[str]:
    yield from _changed(call)
    if isinstance(call.details, ShellCommand):
        for part in call.details.parts:
            yield from map(_value, part.arguments)
    yield from _strings(call.arguments)


def _changed(call: ToolCall) -> Sequence[str]:
    return (call.details.path,) if isinstance(call.details, FileChange) else ()


def _value(argument: str) -> str:
    """Give the value of an argument like --output=/tmp/x, else the argument itself."""
    name, equals, value = argument.partition("=")
    return value if equals and name.startswith("-") else argument


def _strings(value: object) -> Iterator[str]:
    """Give the texts in arguments that may be paths, however deep they are."""
    left = [value]
    while left:
        match left.pop():
            case str(text):
                yield text
            case list(items):
                left += reversed(items)
            case Mapping() as table:
                items = [(key, item) for key, item in table.items() if key not in _NO_PATHS]
                left += reversed([item for _, item in items])
                left += reversed([key for key, _ in items if _MARKS & set(key)])


def _plain(name: str) -> str | None:
    """Give a path, also out of a file URI; None for one of another machine."""
    if name[: len(_SCHEME)].lower() != _SCHEME:
        return name
    path = name[len(_SCHEME) :]
    if path.startswith("//"):
        host, slash, rest = path[2:].partition("/")
        if host.lower() not in _HOSTS:
            return None
        path = slash + rest
    return unquote(path, errors="surrogateescape")


def _is_outside(name: str, folders: Sequence[str]) -> bool:
    path = _plain(name)
    if path is None:
        return True
    climbs = path == ".." or "/../" in path or path.endswith("/..")
    if path in _NO_PLACES or not (path.startswith(_STARTS) or climbs):
        return False
    if path.startswith("~"):
        return True
    whole = posixpath.normpath(posixpath.join(folders[0], path))
    return not any(whole == folder or whole.startswith(folder + "/") for folder in folders)
