"""Known tools: what each one does, how its header reads, which arguments name files.

Rules kept here:
- Data, one row per tool: a verb, and what the verb applies to. No other file compares tool names.
- Only the agent's own tools are known by name: a tool of another server may have the same name.
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
"""Screen cells of a file's name; a longer one is cut in its middle."""


def _text(arguments: Arguments, key: str) -> str:
    value = arguments.get(key)
    return "" if value is None else literal_line(as_line(value))


def _name(arguments: Arguments, key: str, settings: RenderSettings, cells: int = NAME_CELLS) -> str:
    value = arguments.get(key)
    return "" if value is None else shorten(_whole_name(as_line(value), settings), cells)


def _whole_name(path: str, settings: RenderSettings) -> str:
    return settings.relative(literal_name(path))


def file_name(path: str, settings: RenderSettings) -> str:
    """Return a file's name as a header shows it."""
    return shorten(_whole_name(path, settings), NAME_CELLS)


def is_identified(path: str, settings: RenderSettings) -> bool:
    """Return whether a header identifies a file: relative to the first folder, or absolute."""
    elsewhere = any(path.startswith(folder + "/") for folder in settings.folders[1:])
    return not elsewhere and width(_whole_name(path, settings)) <= NAME_CELLS


def _plain(*keys: str) -> Target:
    return lambda arguments, _: " ".join(filter(None, (_text(arguments, key) for key in keys)))


def _path(key: str) -> Target:
    return lambda arguments, settings: _name(arguments, key, settings)


def _line(arguments: Arguments, key: str) -> int | None:
    """Return a line number; None if it is missing or absurdly large."""
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
    """A tool's verb and target, and whether the header shows all arguments.

    writes: arguments that name files it changes; None if it may change any file. moves: it moves
    the first of these to the second. reads: arguments that name files it reads. kind: the kind
    of its block. read_only: it only reads or searches. runs_shell: it runs the shell line
    `command`; "remember" then remembers the commands, never the tool. in_diff: arguments that the
    diff of its change shows. whole: the argument that holds the whole new text of its file.
    """

    verb: str
    target: Target
    header_is_complete: bool = True
    writes: tuple[str, ...] | None = ()
    kind: BlockKind = BlockKind.TOOL
    moves: bool = False
    reads: tuple[str, ...] = ()
    read_only: bool = False
    runs_shell: bool = False
    in_diff: tuple[str, ...] = ()
    whole: str | None = None


_EDIT = ("original_content", "new_content")

TOOLS: Mapping[str, ToolFacts] = {
    "read_file": ToolFacts("read", _read, reads=("path",), read_only=True),
    "write_file": ToolFacts(
        "write", _path("path"), writes=("path",), in_diff=("content",), whole="content"
    ),
    "delete_file": ToolFacts("delete", _path("path"), writes=("path",)),
    "edit_file": ToolFacts("edit", _path("path"), writes=("path",), in_diff=_EDIT),
    "preview_file_change": ToolFacts("preview", _path("path"), in_diff=_EDIT),
    "move_file": ToolFacts("move", _move, writes=("source", "destination"), moves=True),
    "shell_command": ToolFacts("$", _plain("command"), writes=None, runs_shell=True),
    "git": ToolFacts(
        "$", _plain("command"), header_is_complete=False, writes=None, runs_shell=True
    ),
    "grep": ToolFacts("grep", _grep, read_only=True),
    "directory_tree": ToolFacts("tree", _path("path"), read_only=True),
    "ask_user": ToolFacts("ask", _plain("question")),
    "spawn_agent": ToolFacts("agent", _agent, header_is_complete=False),
    "skill": ToolFacts("skill", _plain("name")),
    "fetch_rule": ToolFacts("rule", _plain("id")),
    "task": ToolFacts("tasks", lambda _arguments, _settings: "", kind=BlockKind.TASKS),
    "bg_job": ToolFacts("job", _plain("action", "job_id")),
    "compact_chat": ToolFacts("compact", lambda _arguments, _settings: ""),
    "editor_diagnostics": ToolFacts("diagnostics", _path("path")),
    "editor_definition": ToolFacts("definition of", _plain("symbol"), read_only=True),
    "editor_references": ToolFacts("references of", _plain("symbol"), read_only=True),
}

BY_COMMAND = frozenset(name for name, facts in TOOLS.items() if facts.runs_shell)
"""Names of tools whose commands are remembered, on any server that has a tool of that name."""


def is_native(call: ToolCall) -> bool:
    """Return whether a tool is the agent's own; older agents omit its origin or its server."""
    if call.origin is not None:
        return call.origin == "native"
    return call.server in (None, OWN_SERVER)


def is_unknown(call: ToolCall) -> bool:
    """Return whether the model named a tool that the agent does not have."""
    return call.name is None or call.origin == "unknown"


def facts_of(call: ToolCall) -> ToolFacts | None:
    """Return the facts of a call's tool; None if we do not know the tool."""
    return TOOLS.get(call.name or "") if is_native(call) else None


def full_name(call: ToolCall) -> str | None:
    """Return a tool's clean name, after its server's name unless the tool is the agent's own."""
    if not call.name:
        return None
    own = is_native(call) or not call.server
    return literal_line(call.name if own else f"{call.server}/{call.name}")


def runs_shell(call: ToolCall) -> bool:
    """Return whether a call runs a shell line."""
    facts = facts_of(call)
    return facts is not None and facts.runs_shell


def shell_line(call: ToolCall) -> str | None:
    """Return the whole shell line that a call runs; None if it is not known."""
    command = (call.arguments or {}).get("command")
    return command if runs_shell(call) and isinstance(command, str) else None
