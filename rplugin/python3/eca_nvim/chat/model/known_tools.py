"""Known tools: what each does, how it reads in a header, which files its arguments name.

Rules kept here:
- Data, one row a tool: what it does in a word, and what it does it to. No other file compares
  tool names.
- A name tells only what the agent's own tools do: another server's may be called the same.
- Arguments come from a model: any key may be missing or of any type.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from msgspec import Struct

from eca_nvim.chat.model.display_settings import RenderSettings
from eca_nvim.chat.text.output import as_line
from eca_nvim.chat.text.safe_text import literal_line, literal_name, shorten, width
from eca_nvim.chat.vocabulary.call_details import ToolCall
from eca_nvim.chat.vocabulary.ops import BlockKind

Arguments: TypeAlias = Mapping[str, object]
Target: TypeAlias = Callable[[Arguments, RenderSettings], str]

OWN_SERVER = "eca"
MOST_LINES = 10**9
NAME_CELLS = 100
"""Screen cells of a file's name; what is cut of a longer one is its middle."""


def _text(arguments: Arguments, key: str) -> str:
    value = arguments.get(key)
    return "" if value is None else literal_line(as_line(value))


def _name(arguments: Arguments, key: str, settings: RenderSettings, cells: int = NAME_CELLS) -> str:
    value = arguments.get(key)
    return "" if value is None else shorten(_whole_name(as_line(value), settings), cells)


def _whole_name(path: str, settings: RenderSettings) -> str:
    return settings.relative(literal_name(path))


def file_name(path: str, settings: RenderSettings) -> str:
    """Give a file's name as a header has it."""
    return shorten(_whole_name(path, settings), NAME_CELLS)


def is_named(path: str, settings: RenderSettings) -> bool:
    """Say whether a header tells which file it is: in the first folder, else by its whole path."""
    elsewhere = any(path.startswith(folder + "/") for folder in settings.folders[1:])
    return not elsewhere and width(_whole_name(path, settings)) <= NAME_CELLS


def _plain(*keys: str) -> Target:
    return lambda arguments, _: " ".join(filter(None, (_text(arguments, key) for key in keys)))


def _path(key: str) -> Target:
    return lambda arguments, settings: _name(arguments, key, settings)


def _line(arguments: Arguments, key: str) -> int | None:
    """Give the number of a line; what is none in any file cannot be counted with."""
    value = arguments.get(key)
    return value if isinstance(value, int) and abs(value) < MOST_LINES else None


def _read(arguments: Arguments, settings: RenderSettings) -> str:
    path = _name(arguments, "path", settings)
    match _line(arguments, "line_offset"), _line(arguments, "limit"):
        case int(offset), int(limit):
            return f"{path} {offset + 1}-{offset + limit}"
        case int(offset), _:
            return f"{path} {offset + 1}-"
        case _, int(limit):
            return f"{path} 1-{limit}"
        case _:
            return path


def _grep(arguments: Arguments, settings: RenderSettings) -> str:
    where = _name(arguments, "path", settings)
    pattern = _text(arguments, "pattern")
    return f"{pattern} in {where}" if where not in ("", ".") else pattern


def _move(arguments: Arguments, settings: RenderSettings) -> str:
    ends = (_name(arguments, key, settings, NAME_CELLS // 2) for key in ("source", "destination"))
    return " → ".join(ends)


def _agent(arguments: Arguments, _settings: RenderSettings) -> str:
    return ": ".join(filter(None, (_text(arguments, "agent"), _text(arguments, "activity"))))


class ToolFacts(Struct, frozen=True):
    """A tool's word, its target, and whether the header tells all its arguments.

    writes: the arguments that name files it changes; None when it may change any file. moves: it
    moves the first of them to the second. reads: the arguments that name files it reads. kind:
    the kind of its block. looks: all that it does is to read or to search. runs: it runs the shell
    line `command`, of which the commands are remembered, never the tool itself. shows: the
    arguments that the diff of its change shows. whole: the argument with all of the text that its
    file is to have.
    """

    what: str
    target: Target
    tells_all: bool = True
    writes: tuple[str, ...] | None = ()
    kind: BlockKind = BlockKind.TOOL
    moves: bool = False
    reads: tuple[str, ...] = ()
    looks: bool = False
    runs: bool = False
    shows: tuple[str, ...] = ()
    whole: str | None = None


_EDIT = ("original_content", "new_content")

TOOLS: Mapping[str, ToolFacts] = {
    "read_file": ToolFacts("read", _read, reads=("path",), looks=True),
    "write_file": ToolFacts(
        "write", _path("path"), writes=("path",), shows=("content",), whole="content"
    ),
    "delete_file": ToolFacts("delete", _path("path"), writes=("path",)),
    "edit_file": ToolFacts("edit", _path("path"), writes=("path",), shows=_EDIT),
    "preview_file_change": ToolFacts("preview", _path("path"), shows=_EDIT),
    "move_file": ToolFacts("move", _move, writes=("source", "destination"), moves=True),
    "shell_command": ToolFacts("$", _plain("command"), writes=None, runs=True),
    "git": ToolFacts("$", _plain("command"), tells_all=False, writes=None, runs=True),
    "grep": ToolFacts("grep", _grep, looks=True),
    "directory_tree": ToolFacts("tree", _path("path"), looks=True),
    "ask_user": ToolFacts("ask", _plain("question")),
    "spawn_agent": ToolFacts("agent", _agent, tells_all=False),
    "skill": ToolFacts("skill", _plain("name")),
    "fetch_rule": ToolFacts("rule", _plain("id")),
    "task": ToolFacts("tasks", lambda _arguments, _settings: "", kind=BlockKind.TASKS),
    "bg_job": ToolFacts("job", _plain("action", "job_id")),
    "compact_chat": ToolFacts("compact", lambda _arguments, _settings: ""),
    "editor_diagnostics": ToolFacts("diagnostics", _path("path")),
    "editor_definition": ToolFacts("definition of", _plain("symbol"), looks=True),
    "editor_references": ToolFacts("references of", _plain("symbol"), looks=True),
}

BY_COMMAND = frozenset(name for name, facts in TOOLS.items() if facts.runs)
"""Names of tools of which commands are remembered, whichever server a tool of the name is of."""


def is_native(call: ToolCall) -> bool:
    """Say whether a tool is the agent's own; older agents leave out its origin, or its server."""
    if call.origin is not None:
        return call.origin == "native"
    return call.server in (None, OWN_SERVER)


def is_unknown(call: ToolCall) -> bool:
    """Say whether the agent has no tool of the name that the model gave."""
    return call.name is None or call.origin == "unknown"


def facts_of(call: ToolCall) -> ToolFacts | None:
    """Give how a call reads; None when its tool is not known by its name."""
    return TOOLS.get(call.name or "") if is_native(call) else None


def full_name(call: ToolCall) -> str | None:
    """Give a tool's name, clean, after that of its server where that is another."""
    if not call.name:
        return None
    own = is_native(call) or not call.server
    return literal_line(call.name if own else f"{call.server}/{call.name}")


def runs(call: ToolCall) -> bool:
    """Say whether a call runs a shell line."""
    facts = facts_of(call)
    return facts is not None and facts.runs


def shell_line(call: ToolCall) -> str | None:
    """Give the shell line that a call runs, whole; None when that is not known."""
    command = (call.arguments or {}).get("command")
    return command if runs(call) and isinstance(command, str) else None
