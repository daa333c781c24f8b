"""Known tools: what each tool of ECA does, and what its arguments mean, also half written ones.

Only ECA's own tools are known by name: a tool of another server may have the same name. Arguments
come from a model: any key may be missing or of any type.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from eca_nvim.chat.text.output import as_line
from eca_nvim.chat.vocabulary import call_details, events, turn_events

HEAD: Final = 2000
_NAMES: Final = "path|command|pattern|question|source|symbol|agent|url|file|name"
_MAIN_ARGUMENT = re.compile(rf'"({_NAMES})"\s*:\s*("(?:[^"\\]|\\.)*")')


def main_argument(arguments: Mapping[str, object]) -> str | None:
    """Return the argument that best says what a call is about, if there is one."""
    values = (arguments.get(name) for name in _NAMES.split("|"))
    return next((value for value in values if isinstance(value, str)), None)


def _unescaped(value: str) -> str:
    """Return the text of a JSON string; one with an unknown escape as it is written."""
    try:
        return str(json.loads(value, strict=False))
    except ValueError:
        return value.strip('"')


class Peeks:
    """Peeks at the arguments of all calls that are being written.

    They are JSON that may be cut anywhere, so they are never parsed. The cost of a chunk does not
    grow with them: only their first characters are searched, until the main argument is found.
    """

    def __init__(self) -> None:
        # By chat and call, the first characters, then the name and value of the main argument. An
        # id names a call until its arguments are complete, or its turn is over.
        self._peeks: dict[tuple[str, str], str | tuple[str, str]] = {}

    def peek(self, chat_id: str, event: events.ChatEvent) -> events.ChatEvent:
        """Return an event, with what is known of the call so far if a part of it was written."""
        match event:
            case events.ToolPreparing(call=call):
                found = self._search((chat_id, call.id), event.arguments_text)
                return replace(event, so_far=known_so_far(call, *found)) if found else event
            case (
                events.ToolRequested()
                | events.ToolRunning()
                | events.ToolFinished()
                | events.ToolRejected()
            ):
                self._peeks.pop((chat_id, event.call.id), None)
            case turn_events.TurnEvent():
                self._peeks = {key: peek for key, peek in self._peeks.items() if key[0] != chat_id}
        return event

    def _search(self, key: tuple[str, str], chunk: str) -> tuple[str, str] | None:
        """Return the main argument of a call, once it is in one of its chunks."""
        seen = self._peeks.get(key, "")
        if isinstance(seen, tuple):
            return seen
        if len(seen) < HEAD:
            seen += chunk[:HEAD]
            if (found := _MAIN_ARGUMENT.search(seen)) is not None:
                name, value = found.groups()
                text = _unescaped(value) if "\\" in value else value[1:-1]
                self._peeks[key] = (name, text)
                return name, text
            self._peeks[key] = seen
        return None


Arguments: TypeAlias = Mapping[str, object]
MakeTitle: TypeAlias = Callable[[Arguments], call_details.Title]

OWN_SERVER: Final = "eca"
_MOST_LINES: Final = 10**9
_PATH_CHARACTERS: Final = frozenset("/.~")
"""A key with one of these characters may be a path rather than the name of an argument."""
_TEXT_ARGUMENTS: Final = frozenset(
    {
        *("command", "content", "new_content", "original_content", "pattern", "query", "regex"),
        *("text", "task", "prompt", "question", "description"),
    }
)
"""Arguments that hold text."""


def _text(arguments: Arguments, key: str) -> str:
    value = arguments.get(key)
    return "" if value is None else as_line(value)


def _words(*keys: str) -> MakeTitle:
    return lambda arguments: tuple(filter(None, (_text(arguments, key) for key in keys)))


def _file(key: str) -> MakeTitle:
    return lambda arguments: _named_file(arguments, key)


def _named_file(arguments: Arguments, key: str) -> call_details.Title:
    name = _text(arguments, key)
    return (call_details.FileName(name),) if name else ()


def _line(arguments: Arguments, key: str) -> int | None:
    """Return a line number; None if it is missing or absurdly large."""
    value = arguments.get(key)
    return value if isinstance(value, int) and abs(value) < _MOST_LINES else None


def _read(arguments: Arguments) -> call_details.Title:
    file = _named_file(arguments, "path")
    match _line(arguments, "line_offset"), _line(arguments, "limit"):
        case int(offset), int(limit):
            return (*file, f"{offset + 1}-{offset + limit}")
        case int(offset), _:
            return (*file, f"{offset + 1}-")
        case _, int(limit):
            return (*file, f"1-{limit}")
        case _:
            return file


def _grep(arguments: Arguments) -> call_details.Title:
    where = _text(arguments, "path")
    return (_text(arguments, "pattern"), *([call_details.InFolder(where)] if where else []))


def _move(arguments: Arguments) -> call_details.Title:
    source, destination = _named_file(arguments, "source"), _named_file(arguments, "destination")
    return (*source, "→", *destination)


def _agent(arguments: Arguments) -> call_details.Title:
    return (": ".join(filter(None, (_text(arguments, "agent"), _text(arguments, "activity")))),)


class _Tool(Struct, frozen=True):
    """A tool's kind, verb and title.

    files: arguments that name the files it works on. shown: arguments that its command, its change
    or the name of its subagent show.
    """

    kind: call_details.ToolKind
    verb: str
    title: MakeTitle
    files: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()


_COMMAND: Final = "command"
_WHOLE: Final = "content"
"""The argument that holds the whole new text of a file."""
_PIECE: Final = ("original_content", "new_content")
"""The arguments that hold a part of a file's text, and its replacement."""

TOOLS: Final[Mapping[str, _Tool]] = {
    "read_file": _Tool(call_details.ToolKind.READ, "read", _read, ("path",)),
    "write_file": _Tool(call_details.ToolKind.EDIT, "write", _file("path"), ("path",), (_WHOLE,)),
    "delete_file": _Tool(call_details.ToolKind.DELETE, "delete", _file("path"), ("path",)),
    "edit_file": _Tool(call_details.ToolKind.EDIT, "edit", _file("path"), ("path",), _PIECE),
    "preview_file_change": _Tool(
        call_details.ToolKind.THINK, "preview", _file("path"), shown=_PIECE
    ),
    "move_file": _Tool(call_details.ToolKind.MOVE, "move", _move, ("source", "destination")),
    "shell_command": _Tool(call_details.ToolKind.EXECUTE, "$", _words(_COMMAND), shown=(_COMMAND,)),
    "git": _Tool(call_details.ToolKind.EXECUTE, "$", _words(_COMMAND), shown=(_COMMAND,)),
    "grep": _Tool(call_details.ToolKind.SEARCH, "grep", _grep),
    "directory_tree": _Tool(call_details.ToolKind.SEARCH, "tree", _file("path")),
    "ask_user": _Tool(call_details.ToolKind.ASK, "ask", _words("question")),
    "spawn_agent": _Tool(call_details.ToolKind.AGENT, "agent", _agent, shown=("agent",)),
    "skill": _Tool(call_details.ToolKind.FETCH, "skill", _words("name")),
    "fetch_rule": _Tool(call_details.ToolKind.FETCH, "rule", _words("id")),
    "task": _Tool(call_details.ToolKind.TASKS, "tasks", _words()),
    "bg_job": _Tool(call_details.ToolKind.FETCH, "job", _words("action", "job_id")),
    "compact_chat": _Tool(call_details.ToolKind.THINK, "compact", _words()),
    "editor_diagnostics": _Tool(call_details.ToolKind.FETCH, "diagnostics", _file("path")),
    "editor_definition": _Tool(call_details.ToolKind.SEARCH, "definition of", _words("symbol")),
    "editor_references": _Tool(call_details.ToolKind.SEARCH, "references of", _words("symbol")),
}


def described(call: call_details.ToolCall) -> call_details.ToolCall:
    """Return a call with the fields that follow from what the server sent; others stay None."""
    origin = call.origin
    if origin is None and call.server is not None:  # older servers name only its server
        origin = "native" if call.server == OWN_SERVER else "mcp"
    tool = TOOLS.get(call.name or "") if is_own(call.origin, call.server) else None
    fields: dict[str, object] = {"origin": origin}
    if tool is not None:
        fields |= {"kind": tool.kind, "verb": tool.verb, "shown": tool.shown}
    elif call.name is not None or not is_own(call.origin, call.server):
        fields |= {"kind": call_details.ToolKind.OTHER, "verb": "", "shown": ()}
    if call.arguments is not None:
        fields |= _by_arguments(tool, call.arguments)
        changes = call.changes and [_with_texts(it, tool, call.arguments) for it in call.changes]
        fields |= {"changes": changes and tuple(changes)}
    return replace(call, **fields)


def known_so_far(call: call_details.ToolCall, key: str, value: str) -> call_details.KnownSoFar:
    """Return what is known of a call from one argument, before it has the others."""
    tool = TOOLS.get(call.name or "") if is_own(call.origin, call.server) else None
    if tool is None:
        return call_details.KnownSoFar((value,))
    return call_details.KnownSoFar(tool.title({key: value}), _locations(tool, {key: value}))


def _by_arguments(tool: _Tool | None, arguments: Arguments) -> Mapping[str, object]:
    """Return the fields of a call that follow from its arguments."""
    mentions = tuple(_strings(arguments))
    if tool is None:
        return {"mentions": mentions}
    command = arguments.get(_COMMAND) if tool.kind is call_details.ToolKind.EXECUTE else None
    return {
        "mentions": mentions,
        "title": tool.title(arguments),
        "command": command if isinstance(command, str) else None,
        "locations": _locations(tool, arguments),
    }


def _with_texts(
    change: call_details.FileChange, tool: _Tool | None, arguments: Arguments
) -> call_details.FileChange:
    """Return a change with the texts in the arguments of its call."""
    whole = arguments.get(_WHOLE) if tool is not None and _WHOLE in tool.shown else None
    if isinstance(whole, str):
        return replace(change, new=whole)
    old, new = map(arguments.get, _PIECE)
    if isinstance(old, str) and isinstance(new, str):
        every = bool(arguments.get("all_occurrences"))
        return replace(change, old=old, new=new, every=every)
    return change


def _locations(tool: _Tool, arguments: Arguments) -> tuple[call_details.Location, ...]:
    paths = (arguments.get(key) for key in tool.files)
    return tuple(call_details.Location(path) for path in paths if isinstance(path, str))


def is_own(origin: str | None, server: str | None) -> bool:
    """Return whether a tool is ECA's own; older servers omit its origin or its server."""
    return origin == "native" if origin is not None else server in (None, OWN_SERVER)


def asks_by_command(call: call_details.ToolCall) -> bool:
    """Return whether the server remembers a call's commands, not the name of its tool."""
    tool = TOOLS.get(call.name or "")
    return tool is not None and tool.kind is call_details.ToolKind.EXECUTE


def _strings(value: object) -> Iterator[str]:
    """Yield the texts in arguments that may be paths, at any depth."""
    left = [value]
    while left:
        match left.pop():
            case str(text):
                yield text
            case list(items):
                left += reversed(items)
            case dict() as table:
                items = [(key, item) for key, item in table.items() if key not in _TEXT_ARGUMENTS]
                left += reversed([item for _, item in items])
                left += reversed([key for key, _ in items if not _PATH_CHARACTERS.isdisjoint(key)])
