"""Queries: what the demo offers to complete a prompt.

Rules kept here: a query is a part of a name, as for the real server. Every command is a scene.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

Table = Mapping[str, object]

GREET = "demo:greet"
"""A prompt with an argument, as tool servers have."""

_NAMED = {"name": "who", "description": "Who is greeted", "required": True}
_NUMBER = {"name": "tokens", "description": "How many"}

COMMANDS: Sequence[tuple[str, str, Sequence[Table]]] = (
    ("hello", "Says what the demo agent can do", ()),
    ("fix", "Fixes a bug in a file, after approval", ()),
    ("refactor", "Changes several files in one turn", ()),
    ("run", "Runs a command, after approval", ()),
    ("replace", "Runs a command that changes a file", ()),
    ("diagnostics", "Reads what your linters say", ()),
    ("ask", "Asks you a question", ()),
    ("markdown", "Shows headings, lists, tables and code", ()),
    ("parallel", "Uses two tools at once", ()),
    ("delegate", "Lets a subagent read a file", ()),
    ("plan", "Works through a list of tasks", ()),
    ("stream", "Sends many tokens", (_NUMBER,)),
    ("fail", "Fails like a model without a key", ()),
    (GREET, "Greets somebody", (_NAMED,)),
)
_RESOURCE = {
    "type": "mcpResource",
    "uri": "demo://notes",
    "name": "notes",
    "description": "Notes about this demo",
    "mimeType": "text/plain",
    "server": "demo",
}


def commands(query: str) -> Sequence[Table]:
    """Return the commands with a query in their name."""
    return [
        {
            "name": name,
            "type": "mcpPrompt" if name == GREET else "native",
            "description": description,
            "arguments": list(arguments),
        }
        for name, description, arguments in COMMANDS
        if query.lower() in name
    ]


def files(folder: Path, query: str) -> Sequence[Table]:
    """Return the files of a folder with a query in their path."""
    found = sorted(path for path in folder.rglob("*") if path.is_file())
    return [
        {"type": "file", "path": str(path)}
        for path in found
        if query.lower() in str(path.relative_to(folder)).lower()
    ]


def contexts(folder: Path, query: str) -> Sequence[Table]:
    """Return what can be added to a prompt, with a query in its name."""
    resources = [_RESOURCE] if query.lower() in "notes" else []
    return [
        {"type": "cursor"},
        {"type": "directory", "path": str(folder)},
        *files(folder, query),
        *resources,
    ]
