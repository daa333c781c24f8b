"""Calls: what tools are called, and the files that a tool call reads, changes or may use.

Paths come from a model, and a command is data: it is cut into words, never run or expanded.
"""

import posixpath
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from shlex import shlex
from typing import Final

from eca_nvim.chat.text.diffs import Hunk, Line, LineKind, MalformedDiff, change_hunks
from eca_nvim.chat.text.safe_text import clean, literal_line
from eca_nvim.chat.vocabulary import call_details, effects


def is_native(call: call_details.ToolCall) -> bool:
    """Return whether a tool is the agent's own."""
    return call.origin in (None, "native")


def is_unknown(call: call_details.ToolCall) -> bool:
    """Return whether the model named a tool that the agent does not have."""
    return call.origin == "unknown"


def full_name(call: call_details.ToolCall) -> str | None:
    """Return a tool's clean name, after its server's name unless the tool is the agent's own."""
    if not call.name:
        return None
    own = is_native(call) or not call.server
    return literal_line(call.name if own else f"{call.server}/{call.name}")


MOST_PLACES = 100
"""Most places of a file that are shown."""
MOST_LISTED = 100
"""Files that a request lists, at most."""
CHANGES_NOTHING = frozenset(
    {
        *(
            call_details.ToolKind.READ,
            call_details.ToolKind.SEARCH,
            call_details.ToolKind.THINK,
            call_details.ToolKind.FETCH,
            call_details.ToolKind.SWITCH_MODE,
        ),
        *(call_details.ToolKind.TASKS, call_details.ToolKind.ASK, call_details.ToolKind.AGENT),
    }
)
"""Kinds of calls that change no file."""
_NAMES_CHANGED_FILES = frozenset(
    {call_details.ToolKind.EDIT, call_details.ToolKind.DELETE, call_details.ToolKind.MOVE}
)
_END = Line(LineKind.CONTEXT, "")
"""Sentinel after the last line of a hunk."""


def may_change(call: call_details.ToolCall) -> bool:
    """Return whether a call may change files; true for calls of an unknown kind."""
    return call.kind not in CHANGES_NOTHING


def changed_paths(call: call_details.ToolCall) -> tuple[str, ...]:
    """Return the files a call says it changes."""
    named = call.locations if call.kind in _NAMES_CHANGED_FILES else ()
    if not (named or call.changes) or not may_change(call):
        return ()
    paths = [it.path for it in named or ()]
    return _safe_paths([*paths, *(it.path for it in call.changes or ())])


def paths_so_far(
    call: call_details.ToolCall, so_far: call_details.KnownSoFar | None
) -> tuple[str, ...]:
    """Return the files a call will change, as far as its arguments name them so far."""
    if so_far is None or call.kind not in _NAMES_CHANGED_FILES:
        return ()
    return _safe_paths(it.path for it in so_far.locations)


def read_paths(call: call_details.ToolCall) -> tuple[str, ...]:
    """Return the files a call says it reads."""
    return (
        _safe_paths(it.path for it in call.locations or ())
        if call.kind is call_details.ToolKind.READ
        else ()
    )


def listed_files(call: call_details.ToolCall) -> tuple[str, ...]:
    """Return the files that the request for a call lists; () if they are too many to be listed."""
    paths = _safe_paths(it.path for it in call.locations or ())
    return paths if len(paths) <= MOST_LISTED else ()


def moved(call: call_details.ToolCall) -> tuple[str, str] | None:
    """Return source and destination of a call that moves a file; None for other calls."""
    if call.kind is not call_details.ToolKind.MOVE:
        return None
    match _safe_paths(it.path for it in call.locations or ()):
        case (source, destination):
            return source, destination
        case _:
            return None


def changed_places(change: call_details.FileChange, *, done: bool) -> list[tuple[int, int]]:
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


MOST_USES: Final = 1000
"""Files of one call that count."""
MOST_NAMED: Final = 100
"""Paths of one call that are looked for."""
LONGEST_COMMAND: Final = 4096
LONGEST_PATH: Final = 4096
_STRUCTURE: Final = "();<>|&"
_APART: Final = str.maketrans(dict.fromkeys(_STRUCTURE, " "))
_QUOTES: Final = "'\"\\"
_WORKING_FOLDER: Final = frozenset(
    {
        *("chdir", "cwd", "dir", "dirpath", "directory", "folder", "path"),
        *("workdir", "workingdir", "workingdirectory"),
    }
)
"""Names of arguments that agents have for the folder of a command, in the form of `plain_name`."""

_PATH: Final = ("path", "file")
"""Words in the names of arguments that are paths."""

_USES: Mapping[call_details.ToolKind, call_details.Use] = {
    call_details.ToolKind.READ: call_details.Use.READ,
    call_details.ToolKind.SEARCH: call_details.Use.READ,
    call_details.ToolKind.EDIT: call_details.Use.WRITTEN,
    call_details.ToolKind.DELETE: call_details.Use.WRITTEN,
    call_details.ToolKind.MOVE: call_details.Use.WRITTEN,
    call_details.ToolKind.EXECUTE: call_details.Use.RUN,
}
"""How calls use what they name; other calls mention it."""


def call_uses(call: call_details.ToolCall) -> Iterator[tuple[str, call_details.Use]]:
    """Yield the files that a call has read and changed, each once."""
    for path in islice(read_paths(call), MOST_USES):
        yield path, call_details.Use.READ
    for path in islice(changed_paths(call), MOST_USES):
        yield path, call_details.Use.WRITTEN


def named_in(request: effects.FindFiles) -> Iterator[call_details.FileNamed]:
    """Yield what may be files in a request."""
    yield from request.named
    for call in request.calls:
        yield from named_by(call, request.folders)


def named_by(
    call: call_details.ToolCall, folders: Sequence[str]
) -> tuple[call_details.FileNamed, ...]:
    """Return the paths that a call names and that may be files, each once."""
    sure = {path for path, _ in call_uses(call)}
    use = _USES.get(call.kind or call_details.ToolKind.OTHER, call_details.Use.MENTIONED)
    places = (it.path for it in call.locations or () if it.path not in sure)
    named_folders = (it for it in folder_arguments(call).values() if it.startswith("/"))
    bases = [it for it in named_folders if len(it) <= LONGEST_PATH][:1] or folders
    arguments = () if call.locations or sure else _inside(_texts(call), folders, bases)
    words = _inside(_words(call.command or ""), folders, bases)
    named = [
        call_details.FileNamed(path, use) for path in islice(chain(places, arguments), MOST_NAMED)
    ]
    named += [
        call_details.FileNamed(path, call_details.Use.RUN) for path in islice(words, MOST_NAMED)
    ]
    return tuple(islice(dict.fromkeys(named), MOST_NAMED))


def _texts(call: call_details.ToolCall) -> Iterator[str]:
    """Yield the arguments that are called paths, of a call that says nothing else of its files."""
    given = (call.arguments or {}).items() if call.kind in _USES and not call.command else ()
    for name, value in islice(given, MOST_NAMED):
        is_called_path = any(word in name.lower() for word in _PATH)
        if is_called_path and isinstance(value, str) and 0 < len(value) <= LONGEST_PATH:
            yield value


def plain_name(name: str) -> str:
    """Return the name of an argument as names are compared (`workDir`, `work-dir`, `work_dir`)."""
    return name.replace("_", "").replace("-", "").lower()


def folder_arguments(call: call_details.ToolCall) -> Mapping[str, str]:
    """Return the arguments that name the folder of a command."""
    given = (call.arguments or {}).items() if call.command is not None else ()
    named = ((name, it) for name, it in given if plain_name(name) in _WORKING_FOLDER)
    return {name: folder for name, folder in named if isinstance(folder, str) and folder}


def _inside(words: Iterable[str], folders: Sequence[str], bases: Sequence[str]) -> Iterator[str]:
    """Yield the paths inside the folders that words may name; relative ones begin in a base."""
    for word in islice(dict.fromkeys(words), MOST_NAMED):
        for base in bases:
            path = posixpath.normpath(posixpath.join(base, word))
            if any(path.startswith(f"{folder}/") for folder in folders):
                yield path


def _words(command: str) -> Iterator[str]:
    """Yield the words of a command, also the values of options, and names before `:12`."""
    for word in _split(command[:LONGEST_COMMAND]):
        value = word.partition("=")[2]
        names = (value,) if word.startswith("-") else (word, value)
        for name in names:
            parts = (name, name.partition(":")[0])
            yield from (it for it in parts if it and it[0] not in _STRUCTURE)


def _split(command: str) -> list[str]:
    """Return the words of a command; without quotes that takes a tenth of the time."""
    if command.isascii() and not any(quote in command for quote in _QUOTES):
        return command.translate(_APART).split()
    lexer = shlex(command, posix=True, punctuation_chars=_STRUCTURE)
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        return list(lexer)
    except ValueError:  # a quote is not closed, or the command was cut
        return command.split()
