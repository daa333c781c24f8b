"""Outside paths: finds paths in a tool call that lead out of the workspace.

Nothing is looked up on disk (`path_risks` follows links), and only what a call says is examined.
"""

import posixpath
from collections.abc import Iterator, Sequence
from urllib.parse import unquote

from eca_nvim.chat.model.calls import folder_arguments
from eca_nvim.chat.text.safe_text import literal_name
from eca_nvim.chat.vocabulary.call_details import ShellCommand, ToolCall

_SCHEME = "file:"
_HOSTS = frozenset({"", "localhost"})
_STARTS = ("/", "~", "../")
_HARMLESS = frozenset({"/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr"})


def paths_outside(call: ToolCall, folders: Sequence[str]) -> tuple[str, ...]:
    """Return the paths in a call that are outside all `folders`, each once and clean.

    folders: absolute, without a final slash; relative paths start in the first. Without folders
    nothing is outside.
    """
    if not folders:
        return ()
    found = [path for path in _names(call, in_command=True) if _is_outside(path, folders)]
    return tuple(dict.fromkeys(map(literal_name, found)))


def paths_named(call: ToolCall) -> Iterator[str]:
    """Yield possible paths in a call, except the words of a shell command.

    A file URI is yielded as its path; one of another machine is skipped.
    """
    return filter(None, map(_as_path, _names(call, in_command=False)))


def _names(call: ToolCall, *, in_command: bool) -> Iterator[str]:
    yield from (change.path for change in call.changes or ())
    yield from folder_arguments(call).values()
    if in_command and isinstance(call.details, ShellCommand):
        yield from (_value(it) for part in call.details.parts for it in part.arguments)
    elif in_command and call.command is not None and call.mentions is None:
        # Nobody else has read the command.
        yield from (_value(word.strip("'\"")) for word in call.command.split())
    if call.mentions is not None:
        yield from call.mentions
    else:
        yield from (location.path for location in call.locations or ())


def _value(argument: str) -> str:
    """Return the value of an argument like --output=/tmp/x, else the argument itself."""
    name, equals, value = argument.partition("=")
    return value if equals and name.startswith("-") else argument


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
    # Only certain paths count: those that begin at the root or at a home folder, or that climb.
    climbs = path == ".." or "/../" in path or path.endswith("/..")
    if path in _HARMLESS or not (path.startswith(_STARTS) or climbs):
        return False
    if path.startswith("~"):
        return True
    whole = posixpath.normpath(posixpath.join(folders[0], path))
    return not any(whole == folder or whole.startswith(folder + "/") for folder in folders)
