"""Outside paths: finds paths in a tool call that lead out of the workspace.

Rules kept here:
- Pure: nothing is looked up on disk. A link inside a folder counts as inside, and a home folder as
  outside; `places` follows links. Only the call's arguments are examined, not what a program
  may do.
- Only certain paths count: those that begin at the root or at a home folder, or that climb with
  `..`. Texts, patterns and whole command lines do not count. File URIs do, also those of another
  machine.
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
_PATH_CHARACTERS = frozenset("/.~")
"""A key with one of these characters may be a path rather than the name of an argument."""
_TEXT_ARGUMENTS = frozenset(
    {
        *("command", "content", "new_content", "original_content", "pattern", "query", "regex"),
        *("text", "task", "prompt", "question", "description"),
    }
)
"""Arguments that hold text."""
_HARMLESS = frozenset({"/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr"})


def paths_outside(call: ToolCall, folders: Sequence[str]) -> tuple[str, ...]:
    """Return the paths in a call that are outside all `folders`, each once and clean.

    folders: absolute, without a final slash; relative paths start in the first. Without folders
    nothing is outside.
    """
    if not folders:
        return ()
    found = (path for path in _arguments(call) if _is_outside(path, folders))
    return tuple(dict.fromkeys(literal_name(path) for path in found))


def paths_named(call: ToolCall) -> Iterator[str]:
    """Yield possible paths in a call, except the words of a shell command.

    A file URI is yielded as its path; one of another machine is skipped.
    """
    for name in (*_changed(call), *_strings(call.arguments)):
        path = _as_path(name)
        if path is not None:
            yield path


def _arguments(call: ToolCall) -> Iterator[str]:
    yield from _changed(call)
    if isinstance(call.details, ShellCommand):
        for part in call.details.parts:
            yield from map(_value, part.arguments)
    yield from _strings(call.arguments)


def _changed(call: ToolCall) -> Sequence[str]:
    return (call.details.path,) if isinstance(call.details, FileChange) else ()


def _value(argument: str) -> str:
    """Return the value of an argument like --output=/tmp/x, else the argument itself."""
    name, equals, value = argument.partition("=")
    return value if equals and name.startswith("-") else argument


def _strings(value: object) -> Iterator[str]:
    """Yield the texts in arguments that may be paths, at any depth."""
    left = [value]
    while left:
        match left.pop():
            case str(text):
                yield text
            case list(items):
                left += reversed(items)
            case Mapping() as table:
                items = [(key, item) for key, item in table.items() if key not in _TEXT_ARGUMENTS]
                left += reversed([item for _, item in items])
                left += reversed([key for key, _ in items if _PATH_CHARACTERS & set(key)])


def _as_path(name: str) -> str | None:
    """Return a path, taken out of a file URI if it is one; None for a URI of another machine."""
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
    path = _as_path(name)
    if path is None:
        return True
    climbs = path == ".." or "/../" in path or path.endswith("/..")
    if path in _HARMLESS or not (path.startswith(_STARTS) or climbs):
        return False
    if path.startswith("~"):
        return True
    whole = posixpath.normpath(posixpath.join(folders[0], path))
    return not any(whole == folder or whole.startswith(folder + "/") for folder in folders)
