"""Wording: how known tools read in a header.

Rules kept here:
- Data, one row a tool: what it does in a word, and what it does it to. No other file compares
  tool names.
- Arguments come from a model: any key may be missing or of any type.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from msgspec import Struct

from eca_nvim.chat.ops import BlockKind
from eca_nvim.chat.settings import RenderSettings
from eca_nvim.chat.text import literal_line, literal_name

Arguments: TypeAlias = Mapping[str, object]
Target: TypeAlias = Callable[[Arguments, RenderSettings], str]


def _text(arguments: Arguments, key: str) -> str:
    value = arguments.get(key)
    return "" if value is None else literal_line(str(value))


def _name(arguments: Arguments, key: str, settings: RenderSettings) -> str:
    value = arguments.get(key)
    return "" if value is None else settings.relative(literal_name(str(value)))


def _plain(*keys: str) -> Target:
    return lambda arguments, _: " ".join(filter(None, (_text(arguments, key) for key in keys)))


def _path(key: str) -> Target:
    return lambda arguments, settings: _name(arguments, key, settings)


def _read(arguments: Arguments, settings: RenderSettings) -> str:
    path = _name(arguments, "path", settings)
    match arguments.get("line_offset"), arguments.get("limit"):
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
    source = _name(arguments, "source", settings)
    return f"{source} → {_name(arguments, 'destination', settings)}"


def _agent(arguments: Arguments, _settings: RenderSettings) -> str:
    return ": ".join(filter(None, (_text(arguments, "agent"), _text(arguments, "activity"))))


class Wording(Struct, frozen=True):
    """A tool's word, its target, and whether the header tells all its arguments.

    writes: the arguments that name files it changes; None when it may change any file. moves: it
    moves the first of them to the second. reads: the arguments that name files it reads. kind:
    the kind of its block. looks: all that it does is to read or to search.
    """

    what: str
    target: Target
    tells_all: bool = True
    writes: tuple[str, ...] | None = ()
    kind: BlockKind = BlockKind.TOOL
    moves: bool = False
    reads: tuple[str, ...] = ()
    looks: bool = False


WORDINGS: Mapping[str, Wording] = {
    "read_file": Wording("read", _read, reads=("path",), looks=True),
    "write_file": Wording("write", _path("path"), writes=("path",)),
    "edit_file": Wording("edit", _path("path"), writes=("path",)),
    "preview_file_change": Wording("preview", _path("path")),
    "move_file": Wording("move", _move, writes=("source", "destination"), moves=True),
    "shell_command": Wording("$", _plain("command"), writes=None),
    "git": Wording("git", _plain("command"), tells_all=False, writes=None),
    "grep": Wording("grep", _grep, looks=True),
    "directory_tree": Wording("tree", _path("path"), looks=True),
    "ask_user": Wording("ask", _plain("question")),
    "spawn_agent": Wording("agent", _agent, tells_all=False),
    "skill": Wording("skill", _plain("name")),
    "fetch_rule": Wording("rule", _plain("id")),
    "task": Wording("tasks", lambda _arguments, _settings: "", kind=BlockKind.TASKS),
    "bg_job": Wording("job", _plain("action", "job_id")),
    "compact_chat": Wording("compact", lambda _arguments, _settings: ""),
    "editor_diagnostics": Wording("diagnostics", _path("path")),
    "editor_definition": Wording("definition of", _plain("symbol"), looks=True),
    "editor_references": Wording("references of", _plain("symbol"), looks=True),
}

SHELL = "shell_command"
"""The tool whose commands, never itself, are remembered."""
