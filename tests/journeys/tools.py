"""The tools of real agents, by what they do, with their arguments as the scripted model fills them.

Arguments of agents that call a tool alike are given together: an agent gets those that its tool
has.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

Arguments: TypeAlias = Callable[..., dict[str, Any]]


def _command(command: str) -> dict[str, Any]:
    return {"command": command, "description": "words of the model", "is_background": False}


def _path(path: str) -> dict[str, Any]:
    return {"file_path": path, "filePath": path, "path": path}


def _text(path: str, text: str) -> dict[str, Any]:
    return {**_path(path), "content": text, "file_text": text}


def _change(path: str, old: str, new: str) -> dict[str, Any]:
    return {
        **_path(path),
        "old_string": old,
        "oldString": old,
        "old_str": old,
        "old_text": old,
        "before": old,
        "new_string": new,
        "newString": new,
        "new_str": new,
        "new_text": new,
        "after": new,
        "instruction": "words of the model",
        "content": f"<<<<<<< SEARCH\n{old}\n=======\n{new}\n>>>>>>> REPLACE",
        "edits": [{"old_text": old, "new_text": new, "old_string": old, "new_string": new}],
    }


def _marked(mark: str, text: str) -> str:
    return "\n".join(mark + line for line in text.splitlines())


def _patch(what: str, path: str, body: str) -> dict[str, Any]:
    patch = f"*** Begin Patch\n*** {what} File: {path}\n{body}\n*** End Patch"
    return {"input": patch, "patchText": patch, "cmd": f"apply_patch <<'EOF'\n{patch}\nEOF"}


def _added(path: str, text: str) -> dict[str, Any]:
    return _patch("Add", path, _marked("+", text))


def _patched(path: str, old: str, new: str) -> dict[str, Any]:
    return _patch("Update", path, f"@@\n{_marked('-', old)}\n{_marked('+', new)}")


def _without(key: str, arguments: Arguments) -> Arguments:
    return lambda *words: {it: value for it, value in arguments(*words).items() if it != key}


def _escalated(command: str) -> dict[str, Any]:
    reason = "words of the model"
    return {"cmd": command, "sandbox_permissions": "require_escalated", "justification": reason}


_SHELLS: Mapping[str, Arguments] = {
    "run_shell_command": _command,
    "bash": _command,
    "Bash": _command,
    "execute": _command,
    "exec_command": lambda command: {"cmd": command},
    "shell_command": _command,
    "shell": _command,
}

TOOLS: Mapping[str, Mapping[str, Arguments]] = {
    "run": {**_SHELLS, "exec_command": _escalated},
    "run_boxed": _SHELLS,
    "read": {
        "read_file": lambda path: {**_path(path), "absolute_path": path},
        "read": _path,
        "Read": _path,
        "view": _path,
        "read_text_file": _path,
        "exec_command": lambda path: _escalated(shlex.join(["cat", path])),
        "shell": lambda path: {"command": shlex.join(["cat", path])},
    },
    "write": {
        "write_file": _text,
        "write": _text,
        "Write": _text,
        "create": _text,
        "write_text_file": _text,
        "apply_patch": _without("cmd", _added),
        "exec_command": _added,
    },
    "edit": {
        "edit": _change,
        "Edit": _change,
        "replace": _change,
        "edit_file": _change,
        "search_replace": _change,
        "apply_patch": _without("cmd", _patched),
        "exec_command": _patched,
    },
    "diagnose": {
        "tool_call": lambda path: {
            "name": "mcp__editor__diagnostics",
            "arguments": {"path": path},
        },
        "mcp__editor": lambda path: {"tool": "diagnostics", "path": path},
        "mcp__editor__diagnostics": _path,
        "mcp_editor_diagnostics": _path,
        "editor__diagnostics": _path,
        "editor_diagnostics": _path,
        "editor-diagnostics": _path,
    },
}
"""For each kind of step the tools that do it, the wanted ones first."""
